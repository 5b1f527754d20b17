// `--tolerance auto`: differences are compared with the error that correct runners can have,
// instead of with fixed tolerances.
//
// What is measured is relative to the output's scale, the root mean square of both sides' values:
// the root mean square of the differences; the gain, by which one side as a whole is larger than
// the other; and the worst single element. Rounding errors are small, unbiased and spread evenly,
// so a bound can be tight for each of the three. Zeros and small elements cause no trouble: an
// element may differ by a fraction of the scale or of itself, whichever is larger. After quantisers
// correct sides agree on almost every row and differ a lot on few: there is a bound for the
// fraction of elements that differ by more than rounding alone.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "kernels/measures/difference.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

// The root mean square of few elements varies: by so many standard deviations of its own.
inline constexpr double kSampleDeviations = 3;
// Of a million errors that are spread normally the largest is five deviations out, and those of a
// channel or row of large values are twice as large as the root mean square of all.
inline constexpr double kElementTimes = 12;

/// What one output may differ by.
struct ErrorBound {
  double rms = 0;      ///< relative to the scale; 0: the two must be equal
  double clean = 0;    ///< of elements that no flipped step has reached, relative; 0: not looked at
  double within = 0;   ///< as `rms`, of the elements that are within `clean`; 0: not looked at
  double allowed = 0;  ///< share of the elements that flipped steps may have reached
  double element = 0;  ///< what any element may differ by beyond a multiple of `rms`, relative
  double largest = 0;  ///< what any element may differ by at least, relative: tails before it
  double absolute = 0;     ///< beside `rms`, in the output's own unit
  bool rectified = false;  ///< zeros have no error: it is in the other elements
  bool thinned = false;    ///< and it is that of values which a rectifier has taken away
  double condition = 1;    ///< roundoffs by which rounding on the inputs moves it; 1: not measured
  double spread = 1;       ///< the largest of such movements over the smallest
  double moved_element = 0;    ///< the largest movement of a single element, relative
  bool weights_moved = false;  ///< along with the inputs, as one of the sides rounds them
  bool crossed = false;        ///< errors go into whole rows: all of it may be a gain
  double roundoff = 0;         ///< of the coarsest float type on the way; 0: not known
  std::string since = {};      ///< the compared output whose measured error it allows for; or none
  bool steps = false;          ///< integers that come of quantising may be one step apart
  std::string why;             ///< "float32, longest sum 4608, 23 layers"
};

/// The factor by which the condition widens the bound `rms`: 1 if the condition is small.
double WidenedBy(const ErrorBound& bound, double rms);

/// The bounds of one pair of runners, by the first one's names of outputs.
class ErrorBounds {
 public:
  void Set(std::string name, ErrorBound bound) { bounds_[std::move(name)] = std::move(bound); }
  /// nullptr for a name without a bound.
  const ErrorBound* Find(std::string_view name) const {
    const auto found = bounds_.find(name);
    return found == bounds_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, ErrorBound, std::less<>> bounds_;
};

/// Which number of an output is compared with its bound.
enum class BoundMeasure : uint8_t { kError, kGain, kBeyond, kWithin, kElement };

/// A bound in the output's own units, and how the output compares with it.
struct BoundVerdict {
  double bound = 0;         ///< of the root mean square of the differences, relative to the scale
  double condition = 1;     ///< by which the bound was widened
  double bound_before = 0;  ///< that
  double scale = 0;         ///< root mean square of the values of both sides; NaN if none is finite
  double rms = 0;           ///< of the differences, relative to the scale
  double gain = 0;          ///< by which A is larger than B; relative, signed. Where `within` is
                            ///< looked at: of those elements
  double gain_bound = 0;
  double clean_bound = 0;   ///< 0: not looked at
  double beyond = 0;        ///< share of the elements that differ by more than `clean_bound`
  double allowed = 0;       ///< and by how large it may be
  double within = 0;        ///< root mean square of the other elements' differences, relative
  double within_bound = 0;  ///< 0: not looked at
  double atol = 0;          ///< what a single element may differ by: this or ...
  double rtol = 0;          ///< ... this share of itself
  double times_over = 0;    ///< the worst of these, in multiples of its bound; at most 1 passes
  BoundMeasure worst = BoundMeasure::kError;  ///< which of them that is
  std::string why;
  bool passed = false;

  /// Did it pass under a bound that unrelated outputs would pass, too? Equal outputs need no bound,
  /// and if most elements must agree to rounding, a pass shows something.
  bool shows_nothing() const {
    constexpr double kMost = 0.5;
    const bool most_agree = clean_bound > 0 && (allowed <= kMost || beyond == 0);
    return passed && rms > 0 && bound >= 1 && !most_agree;
  }
};

/// Measures both sides and sets the tolerances of single elements; `times_over` and `passed` speak
/// of all but single elements until CloseVerdict. Elements that are not finite on either side are
/// left to the element test. kInvalidArgument as ComputeProductSums.
Result<BoundVerdict> MeasureAgainstBound(const Tensor& a, const Tensor& b, const ErrorBound& bound);

/// Adds the test of single elements, which `difference` was computed with and which passed or not.
void CloseVerdict(const DifferenceSummary& difference, bool elements_passed, BoundVerdict& verdict);

/// A share of the scale, or of the element itself where that is larger: floats are rounded so.
struct ErrorLimit {
  double share = 0, scale = 1;
  double Of(double element) const { return share * std::max(scale, element); }
};

/// The differences on both sides of a limit, of the elements that are finite on both sides.
struct ErrorSplit {
  int64_t beyond = 0;       ///< number of differences that are larger
  double rows = 0;          ///< share of the rows that have some (without rows: of the elements)
  double rms_beyond = 0;    ///< root mean square of those, over all elements
  double rms_within = 0;    ///< of the others, over the others
  int64_t within = 0;       ///< number of the others
  double scale_within = 0;  ///< root mean square of the others' values on both sides
  double gain_within = 0;   ///< by which A is larger there, relative to that; signed
  double largest = 0;       ///< of all
};
/// Rows are along the last axis; with four or more axes the second one counts as last.
int64_t RowLength(const Dims& dims);
/// The shapes must be equal, and the types real numbers.
ErrorSplit SplitErrors(const Tensor& a, const Tensor& b, const ErrorLimit& limit);

}  // namespace vernier
