// The user's Python functions, called in a Python worker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/worker/worker.h"
#include "vernier/decision_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// What a script's function is for.
enum class ScriptRole : uint8_t {
  kFeeds,
  kComparison,
  kPostprocessing,
  kPerceptual,
  kDraws,
  kDecision,
  kTokens
};

/// The result of a comparison function for one output.
struct ScriptVerdict {
  std::string output;  ///< the name that the script gave, as a rule the first side's output
  std::string other;   ///< the second side's output; the same name where the script does not say
  bool passed = false;
  std::string text;  ///< of a result that is more than true or false
  std::string json;  ///< the result as Polygraphy would save it
  std::string type;  ///< "a str": what it is, of a result that is no truth value; else empty
};

/// What a function decided from the outputs of both sides.
struct ScriptDecisions {
  std::vector<DecisionSample> samples;  ///< without margins, and flips that are clear or invalid
  std::string why;                      ///< there are none: the sides have other numbers of them
};

/// An input to be drawn at random, whose bounds are those of its type.
struct DrawnInput {
  std::string name;
  DType dtype = DType::kUndefined;
  Dims dims;
  bool whole = false;  ///< the integers count, both ends included; else the floats
  int64_t least = 0, most = 0;
  double low = 0, high = 0;
};

/// One function of a script. Requests fail with kMalformed (the script or what it returned),
/// kUnavailable (a Python module is missing), kBackend (it raised, crashed or hung), kCancelled;
/// every message names the script.
class ScriptClient {
 public:
  struct Source {
    std::string path;
    std::string function;
  };

  /// Imports the script and looks the function up. `session` is a number that no other session of
  /// the worker has.
  static Result<std::unique_ptr<ScriptClient>> Open(std::shared_ptr<Worker> worker,
                                                    uint64_t session, ScriptRole role,
                                                    Source source);

  /// The next feed of a data loader; nullopt at the end. The first call calls the function and
  /// shows it `inputs`, those of the first runner. Of kTokens a feed of one tensor, once.
  Result<std::optional<TensorMap>> NextFeed(std::span<const TensorInfo> inputs);

  /// What the data loader's len() is where NextFeed() has come to the end of fewer feeds.
  std::optional<int64_t> promised() const { return promised_; }

  /// How many feeds the data loader has, if FeedAt() makes each of them: it is an object with
  /// __len__ and __getitem__. nullopt for any other. Calls the function, before any other request.
  Result<std::optional<int64_t>> CountFeeds(std::span<const TensorInfo> inputs);
  /// The feed of an index below CountFeeds().
  Result<TensorMap> FeedAt(int64_t index);

  /// The verdicts of a comparison function, in its order.
  Result<std::vector<ScriptVerdict>> Compare(const IterationResult& a, const IterationResult& b,
                                             int64_t iteration);

  /// What the function decides, sample by sample.
  Result<ScriptDecisions> Decide(const IterationResult& a, const IterationResult& b,
                                 int64_t iteration);

  /// An iteration's outputs as the function returns them.
  Result<TensorMap> Postprocess(const IterationResult& result, int64_t iteration);

  /// Random tensors, where the role is one that draws; in the order of the inputs.
  Result<TensorMap> Draw(int64_t seed, std::span<const DrawnInput> inputs);

  /// The distance of two tensors, where the role is one that measures.
  Result<double> Measure(const Tensor& a, const Tensor& b);

  /// "file.py:function".
  const std::string& name() const { return name_; }

 private:
  ScriptClient(std::shared_ptr<Worker> worker, uint64_t session, std::string name)
      : worker_(std::move(worker)), session_(session), name_(std::move(name)) {}

  Result<std::optional<TensorMap>> AskForFeed(std::span<const TensorInfo> inputs, int64_t index);

  std::shared_ptr<Worker> worker_;
  uint64_t session_;
  std::string name_;
  int64_t next_feed_ = 0;
  std::optional<int64_t> promised_;
};

}  // namespace vernier
