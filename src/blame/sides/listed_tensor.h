// One tensor of either side as the pairing of two formats sees it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/pairing/value_pairing.h"
#include "vernier/tensor.h"

namespace vernier {

/// So much farther than the nearest on the other side may a copy of it be, by its rounding.
inline constexpr double kRoundingSlack = 1e-6;

struct ListedTensor {
  std::string_view name;
  const Tensor* tensor = nullptr;
  Tensor squeezed;                       ///< without axes of length 1
  ValueSummary values;                   ///< of floats; all zero for other types
  std::vector<std::string> plain_names;  ///< PlainTensorNames of its name
};

/// Both outlive the result.
ListedTensor ListTensor(std::string_view name, const Tensor& tensor);

/// Have they one type and number of elements?
bool AreOfOneSize(const ListedTensor& a, const ListedTensor& b);

/// Have they a plain name in common?
bool ShareAName(const ListedTensor& a, const ListedTensor& b);

/// DistanceOfValues without axes of length 1; the error is infinite where they cannot be compared.
ValueDistance DistanceOf(const ListedTensor& a, const ListedTensor& b);

/// Do two tensors of one side hold the same bits, in whatever layout?
bool AreCopies(const ListedTensor& a, const ListedTensor& b);

/// A tensor of the reference, and how far it is from one of the candidate's.
struct NearTensor {
  size_t reference = 0;
  ValueDistance distance;
};

/// The nearest first; equals stay in their order.
void SortByError(std::vector<NearTensor>& near);

/// The tensors of the reference that could be `theirs` and share a name with it, the nearest first.
/// None where nothing says in which order their axes are.
std::vector<NearTensor> NamesakesOf(const ListedTensor& theirs,
                                    std::span<const ListedTensor> reference);

}  // namespace vernier
