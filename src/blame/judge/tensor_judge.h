// One tensor of the candidate against the reference's, in multiples of its bound.
#pragma once

#include <span>
#include <vector>

#include "compare/functions/error_bound.h"
#include "util/threads/thread_pool.h"
#include "vernier/blame_record.h"
#include "vernier/tensor.h"

namespace vernier {

struct TensorJudgement {
  double times = 0;  ///< over the bound; infinite where shapes differ or one side is not finite
  double rms = 0;    ///< of the differences, relative to the scale
};

/// NaN in the same place on both sides is no difference here, nor are equal infinities. Integers
/// that are of another type on the other side are compared by value.
TensorJudgement JudgeTensor(const Tensor& reference, const Tensor& candidate,
                            const ErrorBound& bound);

struct JudgedPair {
  const Tensor* reference = nullptr;
  const Tensor* candidate = nullptr;
  ErrorBound bound;
};

/// In the order of `pairs`.
std::vector<TensorJudgement> JudgeTensors(std::span<const JudgedPair> pairs, ThreadPool& threads);

MagnitudeRecord RecordMagnitudes(const Tensor& tensor);

/// The coordinates of the first element that is NaN or infinite; empty when there is none.
std::vector<int64_t> FirstNotFinite(const Tensor& tensor);

}  // namespace vernier
