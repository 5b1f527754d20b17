// The check of one property: cases are compared until one breaks it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "check/properties/properties.h"

namespace vernier {

PropertyRecord NotApplicable(std::string why);

/// Collects cases, from the smallest on, and ends with the first that breaks the property.
class Trial {
 public:
  explicit Trial(const Subject& subject) : subject_(subject), bounds_(&subject.bounds) {}

  /// Other bounds than the subject's, for the next Hold(); they must outlive it.
  void JudgeBy(const ErrorBounds& bounds) { bounds_ = &bounds; }

  /// From here on what is apart is held once more, within what rounding alone makes of this feed,
  /// or, without one, of the sample that is held. The feed must stay where it is.
  void AllowRounding(const TensorMap* feed = nullptr) {
    allows_rounding_ = true;
    rounded_feed_ = feed;
  }

  /// False when the property is broken and there is nothing more to try.
  bool Hold(const std::string& what, const TensorMap& expected, const Result<TensorMap>& found);

  /// The same of an inference that belongs to the case before.
  bool HoldMore(const std::string& what, const TensorMap& expected, const Result<TensorMap>& found);

  /// The same of what another process made of the subject's samples, one after the other, against
  /// their outputs; it counts as one case.
  bool HoldSamples(const std::string& what, const Result<std::vector<TensorMap>>& found);

  /// The same where a process alone may make a difference: nothing can be said then of what was
  /// tried there, and Finish() says so. `plainly` does in another process what was done without
  /// what was tried: InferAnew() where there is none.
  bool HoldAnew(const std::string& what, const Result<std::vector<TensorMap>>& found,
                const std::function<Result<std::vector<TensorMap>>()>& plainly = {});

  /// A case whose outputs are not compared.
  void Count() { ++cases_; }

  /// Whether outputs were held that are apart, which is not so where there were none to hold.
  bool apart() const { return apart_; }

  /// Breaks the property; `how` completes the sentence. Always false.
  bool Break(const std::string& what, const std::string& how);

  /// `cases` says what was done, in the plural: "runs"; `sizes` with inputs of which sizes.
  PropertyRecord Finish(std::string_view cases, const std::string& sizes = {});

 private:
  bool Compare(const std::string& what, const TensorMap& expected, const TensorMap& found);
  Agreement Judge(const TensorMap& expected, const TensorMap& found);

  /// Completes "times what ...".
  std::string_view Bound() const;
  std::string Condition() const;

  const Subject& subject_;
  const ErrorBounds* bounds_;
  PropertyRecord record_;
  bool apart_ = false;
  bool differs_anyway_ = false;
  size_t sample_ = 0;  // the last one that was held
  int64_t cases_ = 0;
  bool allows_rounding_ = false;
  const TensorMap* rounded_feed_ = nullptr;
  double condition_ = 1;  // by which the widest bound was wider
  double worst_ = -1;
  std::string where_;
};

/// How many inferences follow the first where the state inside a model is looked at; 0 of a model
/// that keeps none.
int64_t CountLater(const Subject& subject);

/// What is `said` of sizes, and for how many inferences the state of the model was looked at.
std::string WithLater(const Subject& subject, std::string said);

/// The outputs of the subject's samples, one after the other.
Result<std::vector<TensorMap>> InferSamples(const Subject& subject, Probe& probe);

/// The same in a process of its own.
Result<std::vector<TensorMap>> InferAnew(const Subject& subject,
                                         const Circumstances& circumstances);

}  // namespace vernier
