#include "options/words/repeated_words.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "util/text/cast_grammar.h"
#include "vernier/decision_plan.h"

namespace vernier {
namespace {

bool TakesOneValue(const OptionRow& row) {
  return row.action == OptionAction::kStore &&
         (row.arity == Arity::kOne || row.arity == Arity::kOptional);
}

bool IsList(const OptionRow& row) {
  return row.action == OptionAction::kStore &&
         (row.arity == Arity::kPlus || row.arity == Arity::kStar);
}

Status CheckOccurrences(const ParsedArgs& args, const GivenOption& earlier) {
  const std::span<const std::string> last = args.List(earlier.row->dest);
  for (const std::string& word : earlier.values) {
    if (std::find(last.begin(), last.end(), word) != last.end()) continue;
    return InvalidArgument(std::string(earlier.flag) + ": it was given twice, and '" + word +
                           "' of the first would not be used; give " +
                           (IsList(*earlier.row) ? "all its values at once" : "it once"));
  }
  return {};
}

Status CheckKeys(const GivenOption& option) {
  std::set<std::string> keys;
  for (const std::string& word : option.values) {
    const bool keyed = word.find(':') != std::string::npos;
    const std::string key = keyed ? SplitAtLast(word).key : "";
    if (keys.insert(key).second) continue;
    return InvalidArgument(std::string(option.flag) + ": '" + word + "' is a second value " +
                           (key.empty() ? "without a name; give one, or NAME:VALUE for each"
                                        : "for '" + key + "'; give one"));
  }
  return {};
}

}  // namespace

Status CheckRepeatedWords(const ParsedArgs& args) {
  for (const GivenOption& option : args.given()) {
    if (option.flag.empty()) continue;
    // What would not be saved, or not hold as a gate, is missed.
    const bool counts =
        IsWritten(option.row->Files()) || option.row->sets.part == &kPartTag<DecisionOptions>;
    if (!(counts && TakesOneValue(*option.row)) && !IsList(*option.row)) continue;
    VERNIER_TRY(CheckOccurrences(args, option));
    if (option.row->sets.one_each) VERNIER_TRY(CheckKeys(option));
  }
  return {};
}

std::vector<std::string> RepeatedValueWarnings(const ParsedArgs& args) {
  std::vector<std::string> warnings;
  std::set<std::string_view> seen;
  for (const GivenOption& option : args.given()) {
    const OptionRow& row = *option.row;
    if (option.flag.empty() || !TakesOneValue(row) || IsWritten(row.Files())) continue;
    const std::span<const std::string> last = args.List(row.dest);
    if (std::ranges::equal(option.values, last) || !seen.insert(row.dest).second) continue;
    const int count = args.Count(row.dest);
    warnings.push_back(std::string(option.flag) + ": given " +
                       (count == 2 ? "twice" : std::to_string(count) + " times") + "; " +
                       (last.empty() ? "the last" : last.front()) + " counts");
  }
  return warnings;
}

}  // namespace vernier
