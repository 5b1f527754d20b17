// Random values that are spread like those of a real sample.
#pragma once

#include <string>
#include <vector>

#include "inputs/numpy_random.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The values of one tensor, in order of size.
class SampleValues {
 public:
  /// NaN and infinities are left out. kMalformed when nothing is left, and for strings and complex
  /// numbers.
  static Result<SampleValues> Learn(const Tensor& sample);

  /// A tensor of values with the same distribution: floats anywhere between two neighbouring values
  /// of the sample, integers and truth values only those that it has, or the integral parts if it
  /// has floats. kMalformed for strings and complex numbers, and for values that the type cannot
  /// hold.
  Result<Tensor> Draw(DType dtype, Dims dims, NumpyRandom& random) const;

  /// "4096 values from -2.1 to 3.3, mean 0.02"
  std::string Describe() const;

 private:
  void FillFloats(TensorBuffer& buffer, DType dtype, NumpyRandom& random) const;
  void FillIntegers(TensorBuffer& buffer, DType dtype, NumpyRandom& random) const;
  Status CheckFits(DType dtype) const;
  /// Between what the values lie, as text.
  std::string Bounds() const;

  std::vector<double> floats_;     // of a float sample, ascending
  std::vector<int64_t> integers_;  // of any other, ascending
  int64_t count_ = 0, left_out_ = 0;
  double mean_ = 0;
};

struct NamedSample {
  std::string name;
  SampleValues values;
};

}  // namespace vernier
