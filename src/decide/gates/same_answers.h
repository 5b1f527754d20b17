// Whether a network gives the same answer for all inputs. Internal to decide.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "decide/figures/sample_totals.h"
#include "vernier/decision_record.h"

namespace vernier {

/// What the reference decides about the samples of a run, if it is always the same.
class SameAnswers {
 public:
  void Add(const DecisionSample& sample) {
    const std::string_view answer = AnswerOf(sample.first);
    if (samples_++ == 0) answer_ = answer;
    differs_ |= answer.empty() || answer != answer_;
  }

  /// Why such agreement shows nothing; empty: it may, as for a single sample.
  std::string WhyNothing(std::string_view kind) const {
    constexpr std::string_view kKinds[] = {"top", "rank", "argmax", "sign"};
    bool is_one = false;
    for (const std::string_view one : kKinds) is_one |= kind.starts_with(one);
    if (!is_one || differs_ || samples_ < 2) return "";
    return "the reference decides the same in all " + std::to_string(samples_) + " samples";
  }

 private:
  // Empty where the text does not show all of the answer, or shows none. Of a map the class that
  // every position has.
  static std::string_view AnswerOf(std::string_view text) {
    if (text == "invalid" || IsCutOffText(text)) return "";
    if (!IsMapText(text)) return text;
    return text.find(' ') == text.npos ? text.substr(0, text.find(':')) : std::string_view();
  }

  std::string answer_;
  int64_t samples_ = 0;
  bool differs_ = false;
};

}  // namespace vernier
