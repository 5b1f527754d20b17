// How an option gets into a plan: its row names the field that it sets (by Sets() and its like in
// option_values.h), and BindOptions() sets the fields of all options that were given. What concerns
// several options at once is in bind_*.cc and in ValidatePlan().
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/number_rule.h"
#include "vernier/status.h"

namespace vernier {

class Logger;
class ParsedArgs;
struct GivenOption;
struct OptionRow;

/// What options are read beside.
struct BindContext {
  bool lenient = false;         ///< Polygraphy's leniency
  std::string output_dir = {};  ///< --output-dir; empty: not given
  Logger* log = nullptr;        ///< for warnings; nullptr: there are none
};

/// One option that was given.
struct OptionInput {
  const GivenOption& given;
  const BindContext& context;
};

/// Distinguishes the structs that options fill.
using PartTag = const void*;
template <typename Part>
inline constexpr char kPartTag = 0;

/// What a command does with the files that an option's words name.
enum class FileUse : uint8_t {
  kNone,           ///< they name no files
  kReads,          ///< FILE or FILE:FUNCTION
  kReadsModels,    ///< the same, and patterns of models
  kReadsSides,     ///< [LABEL=]PATH
  kReadsByOutput,  ///< [OUTPUT:]FILE
  kReadsWords,     ///< @FILE; other words name no file
  kWrites,         ///< in the folder of --output-dir, unless the word names one
  kWritesThere,    ///< where the word says, whatever --output-dir is
  kWritesInto,     ///< a folder, in which other files may stand
  kReplaces,       ///< a folder, as a whole
  kCache,          ///< read and written; several commands may share it
  kUnchecked,      ///< may be read and written by one command, or is a folder that is read
};

/// Is something written where the option says?
constexpr bool IsWritten(FileUse use) { return use >= FileUse::kWrites && use <= FileUse::kCache; }

/// The values of an option, for each time that it is given; a switch has none.
using OptionWords = std::vector<std::vector<std::string>>;

/// The meaning of an option: which struct it fills, and how.
struct Binding {
  PartTag part = nullptr;
  Status (*set)(const OptionInput& input, void* part) = nullptr;
  /// The inverse of `set`: the words that fill a new struct like this one. None where it has what a
  /// new one has. Null: it has no inverse by itself (bind/plan_words.h).
  OptionWords (*words)(const OptionRow& row, const void* part) = nullptr;
  NumberRule rule = {};
  std::string_view key = {};       ///< for `set`: the name of an option of a backend, of a function
  std::string_view backend = {};   ///< sets nothing in runners of another one; empty: of any
  bool of_runner = false;          ///< may stand inside of --runner
  bool one_each = false;           ///< a list of [NAME:]VALUE that has one value for a name
  FileUse files = FileUse::kNone;  ///< see OptionRow::Files()
  bool together = false;           ///< read by whoever binds it together with other options

  /// The option is bound, by itself or together with others.
  constexpr bool Means() const { return set != nullptr || together; }

  constexpr Binding OfRunner() const {
    Binding binding = *this;
    binding.of_runner = true;
    return binding;
  }
  constexpr Binding OneEach() const {
    Binding binding = *this;
    binding.one_each = true;
    return binding;
  }
  constexpr Binding For(std::string_view of_backend) const {
    Binding binding = OfRunner();
    binding.backend = of_backend;
    return binding;
  }
  constexpr Binding Named(std::string_view name) const {
    Binding binding = *this;
    binding.key = name;
    return binding;
  }
};

inline constexpr Binding kBoundTogether = {.together = true};

/// A tool of the Python worker reads its words by its dest: see cli/commands/python_tools.h.
inline constexpr Binding kForPythonTool = kBoundTogether;

/// A struct to fill.
struct BindTarget {
  template <typename Part>
  BindTarget(Part& to_fill) : tag(&kPartTag<Part>), part(&to_fill) {}  // NOLINT: see BindOptions

  PartTag tag;
  void* part;
};

/// Sets what the options of `args` say about these structs, in the order of the command line. Of an
/// option that was repeated the last occurrence counts, unless its occurrences add up. The rest of
/// the structs keeps its values. kInvalidArgument, naming the flag, for a value that cannot be
/// used.
Status BindOptions(const ParsedArgs& args, const BindContext& context,
                   std::initializer_list<BindTarget> targets);

}  // namespace vernier
