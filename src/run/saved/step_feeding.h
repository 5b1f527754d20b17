// How the steps of a runner were fed, as saved outputs keep it (SavedRun::steps), and whether two
// sides were fed alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/steps/step_states.h"
#include "vernier/run_plan.h"

namespace vernier {

/// Lines of an option and a word each. To be called when the runner was paired.
std::string DescribeFeeding(const RunPlan& plan, const StepStates& states, size_t runner);

/// What a text says of its side: of the plan what concerns all steps. Of --state cross it is
/// "own", since outputs that are saved have their own.
struct SavedFeeding {
  StepPlan plan;
  std::vector<StatePair> pairs;
  std::optional<TokenPair> tokens;
  bool given_tokens = false;
  bool all_at_once = false;  ///< its steps were cut from outputs for all (--steps-axis)
};
SavedFeeding ReadFeeding(const std::string& feeding);

/// The text of some iterations of a file, by their places in it. `in_sequence`: some of them are
/// without those before them in their sequence, so that their places show no step.
std::string FeedingOfIterations(const std::string& feeding, const std::vector<size_t>& places,
                                bool in_sequence);

/// The iterations that FeedingOfIterations() cut out of sequences, by their numbers in the file of
/// the run: "3-5 8". Empty: sequences begin with their first steps.
std::string CutIterations(const std::string& feeding);

/// These numbers, and the text with others; without any it is that of whole sequences.
std::vector<size_t> IterationsIn(const std::string& feeding);
std::string WithIterations(const std::string& feeding, const std::vector<size_t>& numbers);

/// Are two texts of one run, as far as they say it? Then its runners were fed alike.
bool AreOfOneRun(const std::string& first, const std::string& second);

/// HashOfSteps() of the plan that a text is of; 0 of an empty one.
uint64_t StepsHashIn(const std::string& feeding);

/// What is known of the feeds of two sides: their marks without HashOfSteps().
enum class FeedLikeness : uint8_t { kEqual, kSameNames, kUnknown };
FeedLikeness LikenessOf(std::optional<uint64_t> a, std::optional<uint64_t> b);

struct FeedingDifference {
  std::string flag;           ///< "--feed-back"
  std::string first, second;  ///< "with --feed-back hn:h", "without --feed-back"
  bool certain = true;        ///< else other words may mean the same of another runner
  std::string how = {};       ///< what differs where the words are the same: ", whose ..."
  bool by_reference = false;  ///< it is none where the references' states are the same
};

/// The first option by which two sides were fed otherwise, of texts that are both there. Certain
/// differences come first. Words that name other inputs than the other network has say nothing.
std::optional<FeedingDifference> FindOtherFeeding(const std::string& first,
                                                  const std::string& second, FeedLikeness feeds);

/// Do two sides show each step's own error, by their texts: did a runner feed both that is no more
/// than one of them? `otherwise`: what the run says, of sides without a text.
bool AreOwnErrors(const std::string& first, const std::string& second, bool otherwise);

/// "with --feed-back hn:h --step-slice x:axis=1"
std::string FeedingInWords(const std::string& feeding);

}  // namespace vernier
