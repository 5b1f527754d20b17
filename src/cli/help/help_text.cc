#include "cli/help/help_text.h"

#include <algorithm>

#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr size_t kHelpColumn = 26;

std::string FormatOperand(const OptionRow& row) {
  const std::string name(row.metavar.empty() ? std::string_view("VALUE") : row.metavar);
  switch (row.arity) {
    case Arity::kNone:
      return "";
    case Arity::kOne:
      return " " + name;
    case Arity::kOptional:
      return " [" + name + "]";
    case Arity::kStar:
      return " [" + name + " ...]";
    case Arity::kPlus:
      return " " + name + " ...";
  }
  return "";
}

std::string FormatRow(const OptionTable& table, const OptionRow& row, size_t width) {
  std::string line = "  " + FormatSynopsis(row);
  std::string help = WrapText(FormatRowHelp(row, table.NeedsOf(row)), kHelpColumn, width);
  if (line.size() + 2 > kHelpColumn) return line + "\n" + help;
  line.resize(kHelpColumn, ' ');
  return line + help.substr(kHelpColumn);
}

}  // namespace

size_t HelpWidth(const char* columns) {
  constexpr int64_t kDefault = 100, kLeast = 60, kMost = 200;
  const auto given = ParseInt(columns == nullptr ? "" : columns);
  if (!given || *given <= 0) return kDefault;
  return static_cast<size_t>(std::clamp(*given, kLeast, kMost));
}

std::string FormatSynopsis(const OptionRow& row) {
  if (row.IsPositional()) return std::string(row.metavar.empty() ? row.dest : row.metavar);
  std::string text;
  for (const std::string_view flag : row.AllFlags()) {
    if (!text.empty()) text += ", ";
    text += flag;
  }
  return text + FormatOperand(row);
}

std::string FormatRowHelp(const OptionRow& row, std::span<const std::string_view> needs) {
  std::string text(row.help);
  if (!row.fallback.empty()) text += " Default: " + std::string(row.fallback) + ".";
  std::string needed;
  for (const std::string_view need : needs) {
    // What would be saved or compared otherwise?
    if (need == kAnyRunner || need == kTwoSides) continue;
    needed += (needed.empty() ? " Needs " : " or ") + std::string(need);
  }
  if (!needed.empty()) text += needed + ".";
  return text;
}

std::string WrapText(std::string_view text, size_t indent, size_t width) {
  const std::string margin(indent, ' ');
  std::string wrapped;
  std::string line = margin;
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    const bool is_first = line.size() == indent;
    if (!is_first && line.size() + 1 + word.size() > width) {
      wrapped += line + "\n";
      line = margin;
    } else if (!is_first) {
      line += ' ';
    }
    line += word;
  }
  return wrapped + line + "\n";
}

std::string FormatHelp(const OptionTable& table, const CommandSpec& command, size_t width) {
  std::string text = "usage: " + command.FullName() + " " + std::string(command.operands) + "\n\n" +
                     WrapText(command.about, 0, width);
  for (const CommandGroup& group : table.groups()) {
    text += "\n" + std::string(group.title) + ":\n";
    text += WrapText("Options for " + std::string(group.about) + ".", 2, width) + "\n";
    for (const OptionRow* row : group.rows) text += FormatRow(table, *row, width);
  }
  return text;
}

std::string FormatUsageError(const CommandSpec& command, std::string_view error) {
  const std::string name = command.FullName();
  return "usage: " + name + " " + std::string(command.operands) + "\n" + name +
         ": error: " + std::string(error) + "\n";
}

}  // namespace vernier
