// Which tensor of the reference is paired with which of the candidate's graph.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/sides/foreign_pairs.h"
#include "vernier/blame_record.h"

namespace vernier {

struct TensorPairs {
  /// The reference's names by the candidate's, which are views into its graph. Tensors of a
  /// reference in another format are renamed when they are fetched: there, both are the
  /// candidate's.
  std::unordered_map<std::string_view, std::string> reference;
  /// What to fetch of a reference in another format, by the candidate's names; else empty.
  std::unordered_map<std::string_view, ForeignPair> foreign;
  std::vector<UnexposedTensor> one_sided;  ///< tensors that only one side has
  bool by_structure = false;               ///< names mislead (PairByStructure)

  const std::string* Find(std::string_view candidate) const {
    const auto found = reference.find(candidate);
    return found == reference.end() ? nullptr : &found->second;
  }
};

/// Has the candidate quantisers, and the reference none? For a saved reference (null) the names
/// decide: it has none of the tensors that the candidate's quantisers make.
bool QuantisesAlone(const OnnxModel* reference, std::span<const std::string> saved,
                    const BlameGraph& candidate);

/// Equal names pair, but a float never pairs with what a quantiser made. A tensor whose name the
/// other side lacks pairs with another that holds the same values: after or before Identity, Cast,
/// Dropout, QuantizeLinear and DequantizeLinear; a float pairs with a quantised tensor's
/// dequantised twin, and so does one that only a quantiser reads where the candidate quantises
/// alone. Each is paired once. `reference` is null when the reference is saved; `saved` are then
/// the names that it has. `outputs` are the reference's names of outputs by the candidate's: if
/// neither name is on the other side, they pair. Where PairByStructure finds that names mislead,
/// the pairs are those of the graphs' structure. What a node makes beside its first output, and
/// nothing reads, has no partner.
TensorPairs PairTensors(const OnnxModel* reference, std::span<const std::string> saved,
                        const BlameGraph& candidate,
                        const std::map<std::string, std::string>& outputs = {});

/// The sentence for a PairTensors that found no pair.
std::string WhyNothingPairs(const OnnxModel* reference, std::span<const std::string> saved,
                            const BlameGraph& candidate);

}  // namespace vernier
