#include "cli/completion.h"

#include <vector>

#include "cli/help_text.h"

namespace vernier {
namespace {

std::string Join(const std::vector<std::string_view>& words, std::string_view between) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

std::string JoinChoices(const OptionRow& row) {
  return Join({row.choices.begin(), row.choices.end()}, " ");
}

std::string JoinFlags(const CommandEntry& command) {
  std::vector<std::string_view> names;
  if (command.table != nullptr) {
    for (const FlagEntry& entry : command.table->flags()) names.push_back(entry.flag);
  }
  return Join(names, " ");
}

/// Inside single quotes for a POSIX shell; fish only needs the backslash and the quote escaped.
std::string Quote(std::string_view text, Shell shell) {
  std::string quoted = "'";
  for (const char c : text) {
    if (shell == Shell::kFish) {
      if (c == '\'' || c == '\\') quoted += '\\';
      quoted += c;
    } else {
      quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
  }
  return quoted + "'";
}

std::string FunctionName(std::string_view program) {
  std::string name = "_";
  for (const char c : program) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += is_word ? c : '_';
  }
  return name;
}

std::string JoinCommandNames(std::span<const CommandEntry> commands) {
  std::vector<std::string_view> names;
  for (const CommandEntry& command : commands) names.push_back(command.name);
  return Join(names, " ");
}

/// The branches of a bash `case` on the word before the cursor.
std::string BashChoices(const OptionTable& table, std::string_view indent) {
  std::string text;
  for (const OptionRow* row : table.rows()) {
    if (row->choices.empty()) continue;
    text += std::string(indent) + Join(row->AllFlags(), "|") + ") COMPREPLY=($(compgen -W \"" +
            JoinChoices(*row) + "\" -- \"$word\")); return ;;\n";
  }
  return text;
}

std::string FormatBash(std::string_view program, std::span<const CommandEntry> commands) {
  const std::string function = FunctionName(program);
  std::string text = "# bash completion for " + std::string(program) + "\n" + function +
                     "() {\n"
                     "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "  local flags=\n"
                     "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                     "    COMPREPLY=($(compgen -W \"" +
                     JoinCommandNames(commands) +
                     "\" -- \"$word\"))\n"
                     "    return\n"
                     "  fi\n"
                     "  case ${COMP_WORDS[1]} in\n";
  for (const CommandEntry& command : commands) {
    if (command.table == nullptr) continue;
    text += "    " + std::string(command.name) + ")\n";
    const std::string choices = BashChoices(*command.table, "        ");
    if (!choices.empty()) text += "      case $before in\n" + choices + "      esac\n";
    text += "      flags=\"" + JoinFlags(command) + "\" ;;\n";
  }
  text +=
      "  esac\n"
      "  case $word in\n"
      "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
      "  esac\n"
      "}\n";
  return text + "complete -o filenames -F " + function + " " + std::string(program) + "\n";
}

/// _arguments takes "flag[help]:name:action"; brackets and colons in the texts need a backslash.
std::string ZshText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshRow(const OptionRow& row) {
  std::string value;
  const std::string action =
      row.choices.empty() ? std::string("_files") : "(" + JoinChoices(row) + ")";
  const std::string name = ZshText(row.metavar.empty() ? row.dest : row.metavar);
  switch (row.arity) {
    case Arity::kNone:
      break;
    case Arity::kOptional:
      value = "::" + name + ":" + action;
      break;
    // Later words of a list complete as file names, like the model.
    case Arity::kOne:
    case Arity::kStar:
    case Arity::kPlus:
      value = ":" + name + ":" + action;
      break;
  }
  std::string text;
  for (const std::string_view flag : row.AllFlags()) {
    const std::string spec = "*" + std::string(flag) + "[" + ZshText(row.help) + "]" + value;
    text += "        " + Quote(spec, Shell::kZsh) + " \\\n";
  }
  return text;
}

std::string FormatZsh(std::string_view program, std::span<const CommandEntry> commands) {
  const std::string function = FunctionName(program);
  std::string text = "#compdef " + std::string(program) + "\n" + function +
                     "() {\n"
                     "  if (( CURRENT == 2 )); then\n"
                     "    local -a commands=(\n";
  for (const CommandEntry& command : commands) {
    const std::string entry = std::string(command.name) + ":" + std::string(command.about);
    text += "      " + Quote(entry, Shell::kZsh) + "\n";
  }
  text +=
      "    )\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=${words[2]}\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const CommandEntry& command : commands) {
    if (command.table == nullptr) continue;
    text += "    " + std::string(command.name) + ")\n      _arguments \\\n";
    for (const OptionRow* row : command.table->rows()) {
      if (!row->IsPositional()) text += ZshRow(*row);
    }
    text += "        '*:file:_files' ;;\n";
  }
  return text + "    *) _files ;;\n  esac\n}\ncompdef " + function + " " + std::string(program) +
         "\n";
}

std::string FishRow(const OptionRow& row, const std::string& prefix) {
  std::string text;
  for (const std::string_view flag : row.AllFlags()) {
    const bool is_long = flag.starts_with("--");
    text += prefix + (is_long ? " -l " : " -s ") + std::string(flag.substr(is_long ? 2 : 1));
    if (row.arity == Arity::kOne || row.arity == Arity::kPlus) text += " -r";
    if (!row.choices.empty()) text += " -f -a " + Quote(JoinChoices(row), Shell::kFish);
    text += " -d " + Quote(row.help, Shell::kFish) + "\n";
  }
  return text;
}

std::string FormatFish(std::string_view program, std::span<const CommandEntry> commands) {
  const std::string complete = "complete -c " + std::string(program);
  std::string text = "# fish completion for " + std::string(program) + "\n";
  for (const CommandEntry& command : commands) {
    text += complete + " -n __fish_use_subcommand -f -a " + std::string(command.name) + " -d " +
            Quote(command.about, Shell::kFish) + "\n";
  }
  for (const CommandEntry& command : commands) {
    if (command.table == nullptr) continue;
    const std::string prefix =
        complete + " -n '__fish_seen_subcommand_from " + std::string(command.name) + "'";
    for (const OptionRow* row : command.table->rows()) {
      if (!row->IsPositional()) text += FishRow(*row, prefix);
    }
  }
  return text;
}

}  // namespace

std::optional<Shell> ShellFromName(std::string_view name) {
  if (name == "bash") return Shell::kBash;
  if (name == "zsh") return Shell::kZsh;
  if (name == "fish") return Shell::kFish;
  return std::nullopt;
}

std::string FormatCompletion(Shell shell, std::string_view program,
                             std::span<const CommandEntry> commands) {
  switch (shell) {
    case Shell::kBash:
      return FormatBash(program, commands);
    case Shell::kZsh:
      return FormatZsh(program, commands);
    case Shell::kFish:
      return FormatFish(program, commands);
  }
  return "";
}

}  // namespace vernier
