// Which tensor of a reference in another format than ONNX is which of the candidate's graph.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/sides/tensor_layout.h"
#include "vernier/tensor.h"

namespace vernier {

/// What made two tensors a pair.
enum class ForeignMatch : uint8_t {
  kOutput,      ///< outputs of the models, paired as `run` pairs them
  kName,        ///< they have a plain name in common (PlainTensorNames)
  kValue,       ///< their values, as ValueDistance has it, or those of what a node only moves
  kMostValues,  ///< most of their elements are equal, and all tensors before them have partners
  kOnlyOnes,    ///< the only ones left of their type and number of elements
};

/// "output", "name", "value", "most values", "shape".
std::string_view ForeignMatchName(ForeignMatch match);

struct ForeignPair {
  std::string_view candidate;  ///< into the candidate's graph
  std::string reference;
  ForeignMatch how = ForeignMatch::kValue;
  double error = 0;  ///< ValueDistance::error in the feed that decided; infinite: not comparable
  TensorLayout layout;
};

struct ForeignPairs {
  std::vector<ForeignPair> pairs;                 ///< in the order of the candidate's nodes
  std::vector<std::string_view> candidate_alone;  ///< those without a partner; no constants
  std::vector<std::string> reference_alone;       ///< floats that vary, without a partner
};

/// What is known of both sides in one feed. All of it outlives the call.
struct ForeignSides {
  const BlameGraph& candidate;
  const TensorMap& candidate_tensors;                 ///< in any order
  const TensorMap& reference_tensors;                 ///< in the order of its graph
  const std::map<std::string, std::string>& outputs;  ///< the reference's, by the candidate's
};

/// Values come first: A and B pair where B is A's nearest, at most kMostPairError away, and all
/// others that are not B's copies are kPairMargin times as far. So a name never pairs what a sound
/// model computes differently. A tensor of the candidate that its fault has changed has no such
/// partner, and neither has anything after it: if all that its node reads has partners, and nothing
/// after it agrees with the reference again, it pairs with the partner of what its node only moves,
/// with what has most of its values, a plain name of it, or alone its type and number of elements.
/// Of several tensors of one name, on either side, the two pair that are by far the nearest. What
/// remains in doubt has no partner.
ForeignPairs PairForeignTensors(const ForeignSides& sides);

}  // namespace vernier
