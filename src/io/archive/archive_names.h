// Names of tensors in npz and safetensors files: "<runner>/<iteration>/<output>" and
// "<iteration>/<input>", the iteration in ten digits, the other parts percent-encoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vernier {

/// ASCII letters, digits and most punctuation stay; '%', '/', other characters that file names or
/// shells treat specially, and all bytes outside ASCII become %XX. Never ".", ".." or empty.
std::string PercentEncode(std::string_view text);

/// The inverse; a '%' without two hexadecimal digits stays as it is.
std::string PercentDecode(std::string_view text);

/// "0000000012".
std::string IterationText(uint64_t iteration);

/// The parts of a name as they stand in it.
struct ArchiveNameParts {
  std::string_view run;  ///< empty for inputs
  uint64_t iteration = 0;
  std::string_view tensor;
};

/// nullopt for a name of any other form. Two names with the same parts are equal.
std::optional<ArchiveNameParts> SplitArchiveName(std::string_view name);

struct ArchiveName {
  std::string run;  ///< still encoded; empty for inputs
  uint64_t iteration = 0;
  std::string tensor;
};

/// Parts of a name of the forms above; nullopt for any other name.
std::optional<ArchiveName> ParseArchiveName(std::string_view name);

/// The encoded name; `run` is taken as it is.
std::string FormatArchiveName(const ArchiveName& name);

}  // namespace vernier
