#include "cli/option_docs.h"

#include <array>

namespace vernier {
namespace {

/// Table cells: a pipe would end the cell, and <, * and _ would be markup.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_' || c == '[' || c == ']') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string Code(std::string_view text) {
  std::string code = "`";
  for (const char c : text) code += c == '|' ? std::string("\\|") : std::string(1, c);
  return code + "`";
}

std::string CodeFlags(const OptionRow& row) {
  if (row.IsPositional()) return Code(row.dest);
  std::string text;
  for (const std::string_view flag : row.AllFlags()) {
    if (!text.empty()) text += ", ";
    text += Code(flag);
  }
  return text;
}

std::string CountLine(const OptionTable& table) {
  std::array<int, 4> counts = {};
  for (const OptionRow* row : table.rows()) {
    if (row->origin == Origin::kPeer) ++counts[static_cast<size_t>(row->standing)];
  }
  std::string line;
  for (const Standing standing :
       {Standing::kSame, Standing::kBetter, Standing::kRefused, Standing::kLater}) {
    if (!line.empty()) line += ", ";
    line += std::to_string(counts[static_cast<size_t>(standing)]) + " " +
            std::string(StandingName(standing));
  }
  return line;
}

}  // namespace

std::string_view StandingName(Standing standing) {
  switch (standing) {
    case Standing::kSame:
      return "same";
    case Standing::kBetter:
      return "better";
    case Standing::kRefused:
      return "refused";
    case Standing::kLater:
      return "later";
  }
  return "";
}

std::string FormatOptionReference(const OptionTable& table, const HelpSubject& subject) {
  std::string text = "<!-- Made from the option table; do not edit. -->\n# `" +
                     std::string(subject.command) + "`\n\n```text\n" +
                     std::string(subject.command) + " " + std::string(subject.operands) +
                     "\n```\n\n" + std::string(subject.about) + "\n";
  for (const OptionGroup& group : table.groups()) {
    text += "\n## " + std::string(group.title) + "\n\nOptions for " + Cell(group.about) +
            ".\n\n| option | meaning |\n|---|---|\n";
    for (const OptionRow& row : group.rows) {
      text += "| " + Code(FormatSynopsis(row)) + " | " + Cell(FormatRowHelp(row)) + " |\n";
    }
  }
  return text;
}

std::string FormatPeerComparison(const OptionTable& table) {
  std::string text =
      "<!-- Made from the option table; do not edit. -->\n"
      "# Coming from Polygraphy\n\n"
      "Every flag of `polygraphy run` 0.53.6 is accepted. *same*: it does the same. *better*: the"
      " same and more. *refused*: a warning names what to use instead. *later*: accepted, but this"
      " version cannot do it yet and says so.\n\n" +
      CountLine(table) + ".\n\n| Polygraphy's flag | here | remark |\n|---|---|---|\n";
  std::string ours = "\n## Flags that Polygraphy does not have\n\n| flag | meaning |\n|---|---|\n";
  for (const OptionRow* row : table.rows()) {
    if (row->origin == Origin::kPeer) {
      text += "| " + CodeFlags(*row) + " | " + std::string(StandingName(row->standing)) + " | " +
              Cell(row->note) + " |\n";
    } else {
      ours += "| " + CodeFlags(*row) + " | " + Cell(FormatRowHelp(*row)) + " |\n";
    }
  }
  return text + ours;
}

}  // namespace vernier
