#include "cli/flag_suggestion.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "util/close_matches.h"
#include "util/shell_words.h"

namespace vernier {
namespace {

struct RemovedFlag {
  std::string_view flag;
  std::string_view replacement;
};

// Flags of older Polygraphy releases that people's scripts still use.
constexpr RemovedFlag kRemoved[] = {
    {"--int-min", "--val-range"},
    {"--int-max", "--val-range"},
    {"--float-min", "--val-range"},
    {"--float-max", "--val-range"},
    {"--trt-config-func-name", "--trt-config-script"},
    {"--trt-network-func-name", "--trt-network-postprocess-script"},
};

}  // namespace

std::optional<std::string> SuggestFlag(const OptionTable& table, std::string_view word) {
  word = word.substr(0, word.find('='));
  constexpr size_t kLongestFlag = 64;  // resemblance takes cubic time
  if (word.size() < 4 || word.size() > kLongestFlag || word.front() != '-') return std::nullopt;
  for (const RemovedFlag& removed : kRemoved) {
    if (word == removed.flag) return std::string(removed.replacement);
  }
  std::vector<std::string_view> known;
  for (const FlagEntry& entry : table.flags()) {
    if (entry.flag.starts_with("--")) known.push_back(entry.flag);
  }
  // Flags share their dashes and many syllables: less than this resembles anything.
  constexpr double kAlike = 0.75;
  const std::vector<std::string> near = CloseMatches(word, known, 1, kAlike);
  if (near.empty()) return std::nullopt;
  return near.front();
}

std::string ExplainSurplus(const OptionTable& table, std::span<const std::string> words,
                           const std::string& word) {
  if (word.starts_with('-')) return "";
  if (word.ends_with(".onnx") && table.FindDest("runners") != nullptr) {
    return "There is one model for all runners. For one each: --runner a='onnxrt FILE' --runner "
           "b=" +
           QuoteForShell("onnxrt " + word) + ".";
  }
  const auto at = std::find(words.begin(), words.end(), word);
  const auto flag = std::find_if(std::make_reverse_iterator(at), words.rend(),
                                 [](const std::string& w) { return w.starts_with("--"); });
  if (at == words.end() || flag == words.rend()) return "";
  const FlagEntry* entry = table.Find(std::string_view(*flag).substr(0, flag->find('=')));
  if (entry == nullptr) return "";
  const std::string name(entry->flag);
  const OptionRow& row = *entry->row;
  if (row.dest == "resume_run") {
    return name + " takes no file here. `vernier blame " + name + " " + QuoteForShell(word) +
           "` goes on with a search.";
  }
  if (row.arity == Arity::kNone) return name + " takes no value.";
  if (row.arity != Arity::kOne) return "";
  return name + " takes one value" +
         (row.action == OptionAction::kAppend ? "; give it once for each." : ".");
}

}  // namespace vernier
