#include "cli/help/completion.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/help/help_text.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

std::string JoinChoices(const OptionRow& row) { return Joined(row.choices, " "); }

std::string JoinFlags(const OptionTable& table) {
  std::vector<std::string_view> names;
  for (const FlagEntry& entry : table.flags()) names.push_back(entry.flag);
  return Joined(names, " ");
}

/// The first words of all commands, each once.
std::vector<std::string_view> FirstWords(std::span<const CommandSpec> commands) {
  std::vector<std::string_view> words;
  for (const CommandSpec& command : commands) {
    const std::string_view word = command.Group();
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

bool HasSecondWord(const CommandSpec& command) { return command.Group() != command.name; }

std::string_view LastWord(const CommandSpec& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

/// The commands that begin with this word and have a second one.
std::vector<CommandSpec> GroupOf(std::span<const CommandSpec> commands, std::string_view word) {
  std::vector<CommandSpec> group;
  for (const CommandSpec& command : commands) {
    if (HasSecondWord(command) && command.Group() == word) group.push_back(command);
  }
  return group;
}

/// What is said about a first word: the command's summary, or the names behind it.
std::string AboutWord(std::span<const CommandSpec> commands, std::string_view word) {
  std::string names;
  for (const CommandSpec& command : commands) {
    if (command.name == word) return std::string(command.summary);
    if (command.Group() != word) continue;
    names += (names.empty() ? "" : ", ") + std::string(LastWord(command));
  }
  return names;
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

/// The branches of a bash `case` on the word before the cursor.
std::string BashChoices(const OptionTable& table, std::string_view indent) {
  std::string text;
  for (const OptionRow* row : table.rows()) {
    if (row->choices.empty()) continue;
    text += std::string(indent) + Joined(row->AllFlags(), "|") + ") COMPREPLY=($(compgen -W \"" +
            JoinChoices(*row) + "\" -- \"$word\")); return ;;\n";
  }
  return text;
}

/// Joins the two words of a command into one, and completes the second.
std::string BashGroups(std::span<const CommandSpec> commands) {
  std::string text;
  for (const std::string_view word : FirstWords(commands)) {
    std::vector<std::string_view> names;
    for (const CommandSpec& command : GroupOf(commands, word)) names.push_back(LastWord(command));
    if (names.empty()) continue;
    text += "    " + std::string(word) +
            ")\n      if [ \"$COMP_CWORD\" -eq 2 ]; then COMPREPLY=($(compgen -W \"" +
            Joined(names, " ") +
            "\" -- \"$word\")); return; fi\n      command=\"$command ${COMP_WORDS[2]}\" ;;\n";
  }
  return text.empty() ? "" : "  case $command in\n" + text + "  esac\n";
}

std::string FormatBash(std::string_view program, std::span<const CommandSpec> commands) {
  const std::string function = FunctionName(program);
  std::string text = "# bash completion for " + std::string(program) + "\n" + function +
                     "() {\n"
                     "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "  local command=${COMP_WORDS[1]} flags=\n"
                     "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                     "    COMPREPLY=($(compgen -W \"" +
                     Joined(FirstWords(commands), " ") +
                     "\" -- \"$word\"))\n"
                     "    return\n"
                     "  fi\n" +
                     BashGroups(commands) + "  case $command in\n";
  for (const CommandSpec& command : commands) {
    if (command.options == nullptr) continue;
    const OptionTable table = command.options();
    text += "    \"" + std::string(command.name) + "\")\n";
    const std::string choices = BashChoices(table, "        ");
    if (!choices.empty()) text += "      case $before in\n" + choices + "      esac\n";
    text += "      flags=\"" + JoinFlags(table) + "\" ;;\n";
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

/// A list of names with what they do, for _describe.
std::string ZshList(const std::vector<std::pair<std::string, std::string>>& names,
                    const std::string& indent) {
  std::string text = indent + "local -a commands=(\n";
  for (const auto& [name, about] : names) {
    text += indent + "  " + Quote(name + ":" + about, Shell::kZsh) + "\n";
  }
  return text + indent + ")\n" + indent + "_describe command commands\n" + indent + "return\n";
}

/// Joins the two words of a command into one, and completes the second.
std::string ZshGroups(std::span<const CommandSpec> commands) {
  std::string text;
  for (const std::string_view word : FirstWords(commands)) {
    std::vector<std::pair<std::string, std::string>> names;
    for (const CommandSpec& command : GroupOf(commands, word)) {
      names.emplace_back(LastWord(command), command.summary);
    }
    if (names.empty()) continue;
    text += "    " + std::string(word) + ")\n      if (( CURRENT == 2 )); then\n" +
            ZshList(names, "        ") +
            "      fi\n      command=\"$command ${words[2]}\"\n      shift words\n"
            "      (( CURRENT-- )) ;;\n";
  }
  return text.empty() ? "" : "  case $command in\n" + text + "  esac\n";
}

std::string FormatZsh(std::string_view program, std::span<const CommandSpec> commands) {
  const std::string function = FunctionName(program);
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string_view word : FirstWords(commands)) {
    names.emplace_back(word, AboutWord(commands, word));
  }
  std::string text = "#compdef " + std::string(program) + "\n" + function +
                     "() {\n"
                     "  if (( CURRENT == 2 )); then\n" +
                     ZshList(names, "    ") +
                     "  fi\n"
                     "  local command=${words[2]}\n"
                     "  shift words\n"
                     "  (( CURRENT-- ))\n" +
                     ZshGroups(commands) + "  case $command in\n";
  for (const CommandSpec& command : commands) {
    if (command.options == nullptr) continue;
    text += "    \"" + std::string(command.name) + "\")\n      _arguments \\\n";
    const OptionTable table = command.options();
    for (const OptionRow* row : table.rows()) {
      if (!row->IsPositional()) text += ZshRow(*row);
    }
    text += "        '*:file:_files' ;;\n";
  }
  // In a folder of fpath the file is run as the function itself when something is first completed.
  return text + "    *) _files ;;\n  esac\n}\nif [[ ${funcstack[1]-} == " + function +
         " ]]; then\n  " + function + " \"$@\"\nelse\n  compdef " + function + " " +
         std::string(program) + "\nfi\n";
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

/// The condition under which a command's words are completed.
std::string FishSeen(const CommandSpec& command) {
  const std::string seen = "__fish_seen_subcommand_from ";
  std::string condition = seen + std::string(command.Group());
  if (HasSecondWord(command)) condition += "; and " + seen + std::string(LastWord(command));
  return " -n '" + condition + "'";
}

std::string FormatFish(std::string_view program, std::span<const CommandSpec> commands) {
  const std::string complete = "complete -c " + std::string(program);
  std::string text = "# fish completion for " + std::string(program) + "\n";
  for (const std::string_view word : FirstWords(commands)) {
    text += complete + " -n __fish_use_subcommand -f -a " + std::string(word) + " -d " +
            Quote(AboutWord(commands, word), Shell::kFish) + "\n";
  }
  for (const CommandSpec& command : commands) {
    if (HasSecondWord(command)) {
      text += complete + " -n '__fish_seen_subcommand_from " + std::string(command.Group()) +
              "' -f -a " + std::string(LastWord(command)) + " -d " +
              Quote(command.summary, Shell::kFish) + "\n";
    }
    if (command.options == nullptr) continue;
    const OptionTable table = command.options();
    for (const OptionRow* row : table.rows()) {
      if (!row->IsPositional()) text += FishRow(*row, complete + FishSeen(command));
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
                             std::span<const CommandSpec> commands) {
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
