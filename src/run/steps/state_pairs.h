// Which outputs of a runner become which of its inputs in the next step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/steps/step_words.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct StatePair {
  std::string output;
  std::string input;

  bool operator==(const StatePair&) const = default;
};

/// What a runner says of itself. Empty lists: it does not say.
struct RunnerSides {
  std::string name;
  std::span<const TensorInfo> inputs;
  std::span<const TensorInfo> outputs;
  bool keeps_state = false;  ///< inside of it: without names, words without a label are not for it
  bool opens_again = false;  ///< as it was at first, though nothing says that it keeps state
  std::string label = {};    ///< what people call it; empty: its name
  /// Inputs that may be fed with a tensor of another name, which may change from step to step.
  std::vector<std::string> mapped = {};
  /// Where outputs were marked or chosen: those that its model has without that. Empty: it does not
  /// say, and any may be a tensor within the model.
  std::optional<std::vector<std::string>> own_outputs = {};
  /// What it was fed with in a step, and what it gave: their sizes count where it declares none.
  /// Null: it has not run yet.
  const TensorMap* fed = nullptr;
  const TensorMap* given = nullptr;

  const std::string& shown() const { return label.empty() ? name : label; }
};

/// The pairs that `words` name of this runner, in their order; `auto` last, for what the others
/// leave. `driven` are inputs that steps set otherwise. `used` (as many as words) is set for words
/// that are about this runner. kInvalidArgument, naming flag and tensor: for a word with the
/// runner's label that fits nothing, a pattern that fits in part, two outputs for one input, two
/// inputs for one output, types or shapes that cannot meet, and what `auto` has doubts about, with
/// a table of it.
Result<std::vector<StatePair>> PairState(std::span<const FeedBackWord> words,
                                         const RunnerSides& runner,
                                         std::span<const std::string> driven,
                                         std::vector<bool>& used);

/// Adds to `pairs` what `auto` finds among the inputs and outputs that are in none of them: equal
/// types, shapes that can meet, and names such as state and stateN, past_key_values.0.key and
/// present.0.key, h and hn, x and new_x. kInvalidArgument, with a table, where names belong
/// together and the rest does not fit or is not clear, and for an input with a state's name
/// ("past") that no output feeds.
Status PairStateByLikeness(const RunnerSides& runner, std::span<const std::string> driven,
                           std::vector<StatePair>& pairs);

/// kInvalidArgument, with the words to type, where some states are fed back, and an input is
/// neither among them nor `driven`, so that it would stay as it was at first, and an output is
/// called like it, or called like a new value and of its type and shape (two axes or more, of which
/// one behind the first is longer than 1, and the input is not `mapped`). Inputs without a state's
/// name ("past") only where types can meet.
Status CheckAllStatesFed(const RunnerSides& runner, std::span<const std::string> driven,
                         std::span<const StatePair> pairs);

/// Why an output of one step cannot be an input of the next: their types or shapes cannot be equal.
/// Empty: they can, as far as is known.
std::string WhyNeverEqual(const TensorInfo& output, const TensorInfo& input);

/// "float32 (2, 'batch', 128)".
std::string TypeAndShape(const TensorInfo& info);

/// Null: there is none of this name.
const TensorInfo* FindInfo(std::span<const TensorInfo> infos, const std::string& name);

/// What a name is of, without what says whether it is the old or the new: "state" of state and
/// stateN, "0.key" of present.0.key and past_key_values.0.key. Several where that is not clear:
/// "token" and "last.token" of last_token. Empty: the name says nothing else.
std::vector<std::string> StateStems(std::string_view name, bool is_output);

enum class NameLikeness : uint8_t {
  kNone,
  kStem,   ///< new_x and prev_x: both without what says which is the old and which the new
  kExact,  ///< new_last_x and last_x, x_out and x: the whole name of the input
};

/// Whether an output is called as the next value of an input.
NameLikeness LikenessOfNames(std::string_view output, std::string_view input);

/// Whether an input of this name can only be a state: "past_key_values.0.key", "prev_x".
bool IsStateName(std::string_view input);

}  // namespace vernier
