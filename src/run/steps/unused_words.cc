// Words of --feed-back that are about no runner.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/steps/step_states.h"
#include "util/text/close_matches.h"
#include "util/text/quoted.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

// Of two colons the first may be meant to stand behind the label of a runner.
std::string UnknownLabel(const FeedBackWord& word) {
  const size_t colon = word.rest.find(':');
  const bool two =
      colon != std::string::npos && word.rest.find(':', colon + 1) != std::string::npos;
  if (!word.label.empty() || !two) return "";
  return ", and none is called '" + word.rest.substr(0, colon) + "'";
}

// Of a word with one colon and without patterns: the one of its names that there is not; "" where
// there are neither or both.
std::string MissingOne(const FeedBackWord& word, std::span<const std::string_view> outputs,
                       std::span<const std::string_view> inputs) {
  const auto splits = word.Splits();
  if (splits.size() != 1 || word.rest.find('*') != std::string::npos) return "";
  const auto& [output, input] = splits.front();
  const bool has_output = std::ranges::find(outputs, output) != outputs.end();
  const bool has_input = std::ranges::find(inputs, input) != inputs.end();
  if (has_output == has_input) return "";
  return has_input ? "no runner has an output '" + output + "'" + DidYouMean(output, outputs)
                   : "no runner has an input '" + input + "'" + DidYouMean(input, inputs);
}

}  // namespace

Status StepStates::CheckUsed() const {
  for (size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    std::string names;
    std::vector<std::string_view> outputs, inputs;
    for (size_t runner = 0; runner < runners_.size(); ++runner) {
      const Runner& here = runners_[runner];
      if (here.inputs.empty() || here.given.empty()) continue;
      names += "; " + shown_[runner] + " has " + FirstQuoted(here.given) + " and " +
               FirstQuoted(here.inputs);
      outputs.insert(outputs.end(), here.given.begin(), here.given.end());
      inputs.insert(inputs.end(), here.inputs.begin(), here.inputs.end());
    }
    const FeedBackWord& word = words_.feed_back[i];
    std::string why = MissingOne(word, outputs, inputs);
    if (why.empty()) why = "no runner has such an output and input" + UnknownLabel(word);
    return BadStepWord(kFeedBackFlag, word.word, why + names);
  }
  return {};
}

}  // namespace vernier
