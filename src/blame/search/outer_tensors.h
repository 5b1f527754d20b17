// The tensors of the graph around a body, by name: what the body reads of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "blame/graph/blame_graph.h"
#include "blame/search/body_search.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class OuterTensors {
 public:
  /// Those of the search's iteration of this number. `input` outlives the object.
  OuterTensors(const BodySearchInput& input, int64_t iteration)
      : input_(input), iteration_(iteration) {}

  /// What the reference has, is fed or makes, under its own name where the two sides' graphs have
  /// different ones; failing that, what the candidate makes: both bodies are fed the same in any
  /// case. kNotFound, with the name and the reason, when neither exposes it. kCancelled.
  Result<Tensor> Fetch(std::string_view name) const;

 private:
  Result<Tensor> OfReference(std::string_view name) const;
  Result<Tensor> OfCandidate(std::string_view name) const;
  Result<Tensor> FetchPaired(std::string_view name) const;
  Result<Tensor> HandedOut(size_t runner, std::string_view name) const;
  const TensorMap& feed() const {
    return input_.subject.unprobed.feeds[static_cast<size_t>(iteration_)];
  }

  const BodySearchInput& input_;
  const int64_t iteration_;
};

}  // namespace vernier
