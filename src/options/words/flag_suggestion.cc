#include "options/words/flag_suggestion.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "util/text/close_matches.h"
#include "util/text/number_text.h"
#include "util/text/shell_words.h"

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

// Frameworks and options under names that people know them by.
constexpr RemovedFlag kAlsoKnownAs[] = {
    {"--ort", "--onnxrt"},           {"--onnxruntime", "--onnxrt"},
    {"--onnx-runtime", "--onnxrt"},  {"--ov", "--openvino"},
    {"--pytorch", "--torch"},        {"--torchscript", "--torch"},
    {"--tensorflow", "--tf"},        {"--keras", "--tf"},
    {"--tensorrt", "--trt"},         {"--reference-evaluator", "--onnxref"},
    {"--metric", "--compare"},       {"--metrics", "--compare"},
    {"--outputs", "--onnx-outputs"}, {"--outputs-by-type", "--onnx-outputs-by-type"},
};

// People hit the first letter: of what resembles a word as much, that is what they mean.
std::string LikeliestOf(const std::vector<std::string>& near, std::string_view word) {
  const size_t letter = std::min(word.find_first_not_of('-'), word.size() - 1);
  const auto begins = [&](const std::string& flag) { return flag[2] == word[letter]; };
  const auto at = std::find_if(near.begin(), near.end(), begins);
  return at == near.end() ? near.front() : *at;
}

}  // namespace

std::string_view UsualFlag(std::string_view word) {
  const auto* const at = std::find_if(std::begin(kAlsoKnownAs), std::end(kAlsoKnownAs),
                                      [&](const RemovedFlag& name) { return name.flag == word; });
  return at == std::end(kAlsoKnownAs) ? word : at->replacement;
}

std::optional<std::string> SuggestFlag(const OptionTable& table, std::string_view word) {
  word = word.substr(0, word.find('='));
  constexpr size_t kLongestFlag = 64;  // resemblance takes cubic time
  if (word.size() < 4 || word.size() > kLongestFlag || word.front() != '-') return std::nullopt;
  for (const RemovedFlag& removed : kRemoved) {
    if (word == removed.flag) return std::string(removed.replacement);
  }
  if (const std::string_view usual = UsualFlag(word); usual != word) {
    return table.Find(usual) != nullptr ? std::optional(std::string(usual)) : std::nullopt;
  }
  std::vector<std::string_view> known;
  for (const FlagEntry& entry : table.flags()) {
    if (entry.flag.starts_with("--")) known.push_back(entry.flag);
  }
  // Flags share their dashes and many syllables: less than this resembles anything.
  constexpr double kAlike = 0.75;
  const std::vector<std::string> near = CloseMatches(word, known, 3, kAlike);
  if (near.empty()) return std::nullopt;
  return LikeliestOf(near, word);
}

std::string DidYouMeanFlag(const OptionTable& table, std::string_view word) {
  const std::optional<std::string> near = SuggestFlag(table, word);
  return near ? "; did you mean " + *near + "?" : "";
}

namespace {

// A second value of an option that takes one is the model, where none was named before.
std::string ExplainFirstModel(const OptionTable& table, std::span<const std::string> words,
                              const std::string& model) {
  for (size_t i = 0; i + 2 < words.size() && words[i + 2] != model; ++i) {
    const std::string& second = words[i + 2];
    const FlagEntry* entry = words[i].starts_with("--") ? table.Find(words[i]) : nullptr;
    const bool takes_one = entry != nullptr && entry->row->arity == Arity::kOne;
    const bool plain = !words[i + 1].starts_with('-') && !second.starts_with('-');
    if (!takes_one || !plain || second.ends_with(".onnx")) continue;
    return std::string(entry->flag) + " takes one value: " + QuotePython(second) +
           " after it was taken for the model.";
  }
  return "";
}

}  // namespace

std::string ExplainSurplus(const OptionTable& table, std::span<const std::string> words,
                           const std::string& word) {
  if (word.starts_with('-')) return "";
  if (word.ends_with(".onnx") && table.FindDest("runners") != nullptr) {
    std::string first = ExplainFirstModel(table, words, word);
    if (!first.empty()) return first;
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
           "` resumes a search.";
  }
  if (row.arity == Arity::kNone) return name + " takes no value.";
  if (row.arity != Arity::kOne) return "";
  return name + " takes one value" +
         (row.action == OptionAction::kAppend ? "; give it once for each." : ".");
}

}  // namespace vernier
