#include "cli/table/command_table.h"

#include <algorithm>
#include <vector>

#include "cli/table/commands.h"
#include "options/words/flag_suggestion.h"
#include "util/text/close_matches.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

constexpr const CommandSpec* kCommands[] = {
#define VERNIER_COMMAND_ADDRESS(name) &name,
    VERNIER_COMMANDS(VERNIER_COMMAND_ADDRESS)
#undef VERNIER_COMMAND_ADDRESS
};

struct SectionTitle {
  CommandSection section;
  std::string_view title;
};

constexpr SectionTitle kSections[] = {
    {CommandSection::kCompare, "Compare"}, {CommandSection::kCause, "Find the cause"},
    {CommandSection::kModels, "Models"},   {CommandSection::kTensorRt, "TensorRT"},
    {CommandSection::kData, "Saved data"}, {CommandSection::kInstallation, "This installation"},
};

constexpr size_t kLongestName = 64;  // of a word to find others like it: that takes cubic time

constexpr std::string_view kExamples =
    "Examples:\n"
    "  vernier run model.onnx --onnxrt --openvino    compare two runtimes on generated inputs\n"
    "  vernier blame model.onnx --onnxrt --openvino  find the first layer that differs\n"
    "  vernier compare before.json after.json        compare outputs that were saved earlier\n";

// One line a command, summaries aligned.
template <typename Shown>
std::string FormatLines(const Shown& is_shown, size_t width) {
  std::string text;
  for (const CommandSpec& command : CommandTable()) {
    if (!is_shown(command)) continue;
    text += "  " + std::string(command.name) +
            std::string(width - std::min(width, command.name.size()) + 2, ' ') +
            std::string(command.summary) + "\n";
  }
  return text;
}

size_t LongestName(std::string_view group) {
  size_t width = 0;
  for (const CommandSpec& command : CommandTable()) {
    if (group.empty() || command.Group() == group) width = std::max(width, command.name.size());
  }
  return width;
}

std::string_view SecondWord(const CommandSpec& command) {
  const size_t blank = command.name.find(' ');
  return blank == command.name.npos ? std::string_view() : command.name.substr(blank + 1);
}

std::vector<std::string_view> SecondWordsOf(std::string_view group) {
  std::vector<std::string_view> words;
  for (const CommandSpec& command : CommandTable()) {
    if (command.Group() == group) words.push_back(SecondWord(command));
  }
  return words;
}

// What may have been meant by the first word of a command line.
std::vector<std::string> NamesLike(const std::string& asked) {
  if (asked.empty() || asked.size() > kLongestName) return {};
  if (asked.front() == '-' || asked.ends_with(".onnx")) return {"run " + asked};
  std::vector<std::string> names;
  std::vector<std::string_view> first_words, all;
  for (const CommandSpec& command : CommandTable()) {
    if (SecondWord(command) == asked) names.emplace_back(command.name);
    all.push_back(command.name);
    const std::string_view word = command.Group();
    const bool is_new =
        std::find(first_words.begin(), first_words.end(), word) == first_words.end();
    if (is_new) first_words.push_back(word);
  }
  if (names.empty()) names = CloseMatches(asked, first_words, 3);
  return names.empty() ? CloseMatches(asked, all, 3) : names;
}

}  // namespace

std::span<const CommandSpec> CommandTable() {
  static const std::vector<CommandSpec> shown = [] {
    std::vector<CommandSpec> commands;
    for (const CommandSpec* command : kCommands) {
      if (command->section != CommandSection::kInternal) commands.push_back(*command);
    }
    return commands;
  }();
  return shown;
}

const CommandSpec* FindCommand(std::string_view name) {
  const auto* at =
      std::find_if(std::begin(kCommands), std::end(kCommands), [&](const CommandSpec* command) {
        return command->name == name || (!name.empty() && command->older_name == name);
      });
  return at == std::end(kCommands) ? nullptr : *at;
}

bool IsCommandGroup(std::string_view word) {
  const std::span<const CommandSpec> all = CommandTable();
  return std::any_of(all.begin(), all.end(), [&](const CommandSpec& command) {
    return command.Group() == word && command.name != word;
  });
}

std::string FormatProgramHelp() {
  std::string text =
      "usage: vernier COMMAND ...\n\n"
      "Checks whether a neural network computes the same under another framework, precision,\n"
      "device or release.\n";
  const size_t width = LongestName("");
  for (const auto& [section, title] : kSections) {
    const auto is_shown = [section = section](const CommandSpec& command) {
      return command.section == section;
    };
    text += "\n" + std::string(title) + ":\n" + FormatLines(is_shown, width);
  }
  return text + "\n" + std::string(kExamples) +
         "\nvernier COMMAND --help explains a command. Every Polygraphy `run` command line works"
         " here.\nCalled through a link named `polygraphy`, vernier is as lenient as Polygraphy.\n";
}

std::string FormatGroupHelp(std::string_view group) {
  const auto is_shown = [&](const CommandSpec& command) { return command.Group() == group; };
  return "usage: vernier " + std::string(group) + " COMMAND ...\n\ncommands:\n" +
         FormatLines(is_shown, LongestName(group)) +
         "\nvernier COMMAND --help explains a command.\n";
}

std::string ExplainElsewhere(const CommandSpec& command, std::string_view word) {
  word = UsualFlag(word.substr(0, word.find('=')));
  if (!word.starts_with("--") || command.options().Find(word) != nullptr) return "";
  const auto has = [&](const CommandSpec& other) {
    return other.options != nullptr && other.name != command.name &&
           other.options().Find(word) != nullptr;
  };
  const CommandSpec& run = *FindCommand("run");
  const bool hands_on = command.operands.find("-- RUN OPTIONS") != std::string_view::npos;
  if (hands_on && has(run)) {
    return std::string(word) + " is an option of run: put it after --, as in vernier " +
           std::string(command.name) + " ... -- " + std::string(word);
  }
  if (has(run)) return "vernier run has " + std::string(word) + ".";
  const std::span<const CommandSpec> all = CommandTable();
  const auto at = std::find_if(all.begin(), all.end(), has);
  if (at == all.end()) return "";
  return "vernier " + std::string(at->name) + " has " + std::string(word) + ".";
}

std::string DescribeUnknownCommand(std::span<const std::string> words) {
  const std::string none = "vernier: there is no command '";
  if (words.size() == 1 || !IsCommandGroup(words[0])) {
    return none + words[0] + "'" + DidYouMean(NamesLike(words[0])) +
           "\n`vernier --help` lists the commands.\n";
  }
  const std::string& group = words[0];
  const std::vector<std::string_view> known = SecondWordsOf(group);
  std::vector<std::string> near;
  if (words[1].size() <= kLongestName) near = CloseMatches(words[1], known, 3);
  for (std::string& name : near) name.insert(0, group + " ");
  return none + group + " " + words[1] + "'" + DidYouMean(near) + "\n`vernier " + group + "` has " +
         Joined(known, ", ") + "; `vernier " + group + " --help` explains them.\n";
}

}  // namespace vernier
