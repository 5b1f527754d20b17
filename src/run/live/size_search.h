// Sizes for dimensions that a model leaves free, where it does not run with those of size 1, or
// makes empty outputs of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inputs/dim_sizes.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Does the plan draw inputs with sizes that were not given? `inputs` are those that they are drawn
/// for. Never in lenient mode, nor after sizes were found.
bool SizesAreGuessed(const RunPlan& plan, std::span<const TensorInfo> inputs);

/// Sizes that are worth a trial, small ones first: all dimensions but the leading ones, which are
/// batches as a rule, at one size; then one of them alone, the others 1; then all of them. `own`
/// are sizes that the model itself has, which are among them.
std::vector<std::vector<DimSize>> SizeCandidates(const OpenDimensions& open,
                                                 std::span<const int64_t> own = {});

/// Sizes of dimensions of the weights of the plan's ONNX models, which a free dimension may have to
/// meet: the smallest few of them. Empty where no file can be read.
std::vector<int64_t> SizesOfWeights(const RunPlan& plan);

/// A runner that takes part in a search.
struct SizeRunner {
  std::string name;
  /// One inference: AllHaveElements() of its outputs. Whatever fails but kCancelled and
  /// kUnavailable lets the search go on; kUnavailable: the runner is gone, and nothing more can be
  /// tried.
  std::function<Result<bool>(const TensorMap& feed)> infer;
  Result<bool> at_one;  ///< what it made of the plan's first feed, with sizes of 1
};

struct SizeTrial {
  /// The first feed of a plan; its log is discarded.
  std::function<Result<TensorMap>(const RunPlan& sized)> draw;
  std::vector<SizeRunner> runners;
  Logger& logger;  ///< says what is looked for
};

/// Whether there is something to compare in each of these. True where there are none.
bool AllHaveElements(const TensorMap& outputs);
/// The same of what an inference has made, or its error.
Result<bool> AllHaveElements(const Result<TensorMap>& outputs);

/// Why sizes of 1 are not taken: the model does not run with them, or has an output without
/// elements.
enum class SizeOne : uint8_t { kRefused, kMakesEmpty };

/// What an inference with sizes of 1, as SizeTrial::infer returns it, means for them. nullopt: they
/// are taken, or it failed for a reason that other sizes would not remove.
std::optional<SizeOne> WhyNotSizeOne(const Result<bool>& full);

struct FoundSizes {
  std::vector<DimSize> dims;  ///< for InputPlan::found_dims; empty: none were found
  TensorMap feed;             ///< the first one with them
  std::string note;           ///< one sentence for log and record; empty where none were found
  int64_t tried = 0;
  /// Other sizes failed with the message of size 1, which is not about shapes: sizes are not the
  /// cause.
  bool failed_alike = false;
  /// `tried` for NoteOfFreeSizes().
  int64_t tried_for_note() const { return failed_alike || !unsteady.ok() ? -1 : tried; }
  /// Some runners ran with sizes of 1, and those that the note names did not.
  bool some_refused = false;
  /// kBackend where a runner failed, and then ran with the same feed: sizes are not the cause, and
  /// none are looked for. The message is the note, too.
  Status unsteady;
};

/// Where a runner does not run with sizes of 1, also not with the same feed once more, or has an
/// empty output: the first candidate that all run with and make no empty output. Where outputs are
/// empty, a few larger sizes of the same dimensions are tried; if they do not help, outputs are
/// empty by nature, and the first that ran is taken: none at all where 1 runs. Ends after twenty
/// seconds (five where 1 runs), and where three sizes fail in the same words, which are not about
/// shapes; feeds beyond 256 MiB are left out. Nothing is tried if a runner failed for a reason that
/// sizes would not remove. kCancelled.
Result<FoundSizes> FindSizes(const RunPlan& plan, std::span<const TensorInfo> inputs,
                             const SizeTrial& trial);

/// "x (1, 48), y (2,)"
std::string DescribeSizes(const TensorMap& feed);

}  // namespace vernier
