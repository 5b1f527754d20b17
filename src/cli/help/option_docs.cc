#include "cli/help/option_docs.h"

#include <array>
#include <map>

#include "cli/help/help_text.h"

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
  std::array<int, 3> counts = {};
  for (const OptionRow* row : table.rows()) {
    if (row->origin == Origin::kPolygraphy) ++counts[static_cast<size_t>(row->standing)];
  }
  std::string line;
  for (const Standing standing : {Standing::kSame, Standing::kBetter, Standing::kRefused}) {
    if (!line.empty()) line += ", ";
    line += std::to_string(counts[static_cast<size_t>(standing)]) + " " +
            std::string(StandingName(standing));
  }
  return line;
}

std::string CommandHeader(const CommandSpec& command) {
  return "\n## " + Code(command.FullName()) + "\n\n```text\n" + command.FullName() + " " +
         std::string(command.operands) + "\n```\n\n" + std::string(command.about) + "\n";
}

// The rows of a group that no earlier command explained; the others go to `elsewhere`, by command.
std::string GroupTable(const OptionTable& table, const CommandGroup& group,
                       const std::map<const OptionRow*, std::string_view>& explained,
                       std::map<std::string_view, std::string>& elsewhere) {
  std::string rows;
  for (const OptionRow* row : group.rows) {
    const auto earlier = explained.find(row);
    if (earlier == explained.end()) {
      rows += "| " + Code(FormatSynopsis(*row)) + " | " +
              Cell(FormatRowHelp(*row, table.NeedsOf(*row))) + " |\n";
      continue;
    }
    if (row->IsPositional()) continue;
    std::string& flags = elsewhere[earlier->second];
    flags += (flags.empty() ? "" : ", ") + Code(row->flags[0]);
  }
  if (rows.empty()) return "";
  return "\n### " + std::string(group.title) + "\n\nOptions for " + Cell(group.about) +
         ".\n\n| option | meaning |\n|---|---|\n" + rows;
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
  }
  return "";
}

std::string FormatReference(std::span<const CommandSpec> commands) {
  std::string text =
      "<!-- Made from the option table; do not edit. -->\n# All options\n\n"
      "| command | what it does |\n|---|---|\n";
  for (const CommandSpec& command : commands) {
    text += "| " + Code(command.FullName()) + " | " + Cell(command.summary) + " |\n";
  }
  std::map<const OptionRow*, std::string_view> explained;
  for (const CommandSpec& command : commands) {
    text += CommandHeader(command);
    if (command.options == nullptr) continue;
    std::map<std::string_view, std::string> elsewhere;
    const OptionTable table = command.options();
    for (const CommandGroup& group : table.groups()) {
      text += GroupTable(table, group, explained, elsewhere);
      for (const OptionRow* row : group.rows) explained.emplace(row, command.name);
    }
    for (const auto& [where, flags] : elsewhere) {
      text += "\nAs for " + Code("vernier " + std::string(where)) + ": " + flags + ".\n";
    }
  }
  return text;
}

std::string FormatPolygraphyComparison(const OptionTable& table) {
  std::string text =
      "<!-- Made from the option table; do not edit. -->\n"
      "# Coming from Polygraphy\n\n"
      "Every flag of `polygraphy run` 0.53.6 is accepted. *same*: it does the same. *better*: the"
      " same and more. *refused*: a warning names what to use instead.\n\n" +
      CountLine(table) + ".\n\n| Polygraphy's flag | here | remark |\n|---|---|---|\n";
  std::string ours = "\n## Flags that Polygraphy does not have\n\n| flag | meaning |\n|---|---|\n";
  for (const OptionRow* row : table.rows()) {
    if (row->origin == Origin::kPolygraphy) {
      text += "| " + CodeFlags(*row) + " | " + std::string(StandingName(row->standing)) + " | " +
              Cell(row->note) + " |\n";
    } else {
      ours +=
          "| " + CodeFlags(*row) + " | " + Cell(FormatRowHelp(*row, table.NeedsOf(*row))) + " |\n";
    }
  }
  return text + ours;
}

}  // namespace vernier
