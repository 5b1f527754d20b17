// --format: text for people, or one JSON document on stdout for programs.
#pragma once

#include <string_view>

#include "options/table/option_table.h"
#include "options/table/option_values.h"
#include "options/table/parsed_args.h"

namespace vernier {

struct DocumentFormat {
  bool json = false;
};

inline constexpr std::string_view kDocumentFormats[] = {"text", "json"};

inline Status SetDocumentFormat(const OptionInput& input, DocumentFormat& format) {
  format.json = TextOf(input) == "json";
  return {};
}

/// The row of --format. `help` says what the document holds.
constexpr OptionRow DocumentFormatRow(std::string_view help) {
  return {.flags = {"--format"},
          .dest = "format",
          .sets = SetBy<&SetDocumentFormat>(),
          .arity = Arity::kOne,
          .choices = kDocumentFormats,
          .fallback = "text",
          .metavar = "FORMAT",
          .help = help,
          .origin = Origin::kOurs};
}

/// Is a document asked for, so that no log line may stand before it? False where the command has
/// no such option.
inline bool WantsDocument(const ParsedArgs& args) {
  DocumentFormat format;
  return BindOptions(args, {}, {format}).ok() && format.json;
}

}  // namespace vernier
