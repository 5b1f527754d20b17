// The course of one property: cases are held, until one breaks it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "check/properties.h"

namespace vernier {

PropertyRecord NotApplicable(std::string why);

/// Collects cases, from the smallest on, and ends with the first that breaks the property.
class Trial {
 public:
  explicit Trial(const Subject& subject) : subject_(subject) {}

  /// False when the property is broken and there is nothing more to try.
  bool Hold(const std::string& what, const TensorMap& expected, const Result<TensorMap>& found);

  /// The same of outputs that another process made, against the subject's. Where a process alone
  /// makes a difference, nothing can be said of what was tried there: Finish() then says so.
  /// `plainly` does in another process what was done without what was tried: InferAnew() where
  /// there is none.
  bool HoldAnew(const std::string& what, const Result<TensorMap>& found,
                const std::function<Result<TensorMap>()>& plainly = {});

  /// Whether outputs were held that are apart, which is not so where there were none to hold.
  bool apart() const { return apart_; }

  /// Breaks the property; `how` completes the sentence. Always false.
  bool Break(const std::string& what, const std::string& how);

  /// `cases` says what was done, in the plural: "runs".
  PropertyRecord Finish(std::string_view cases);

 private:
  /// Completes "times what ...".
  std::string_view Bar() const;

  const Subject& subject_;
  PropertyRecord record_;
  bool apart_ = false;
  bool differs_anyway_ = false;
  int64_t cases_ = 0;
  double worst_ = -1;
  std::string where_;
};

/// The outputs of the subject's feed in a process of its own.
Result<TensorMap> InferAnew(const Subject& subject, const Circumstances& circumstances);

}  // namespace vernier
