// What the body of a Loop or a Scan is fed with, round by round.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "model/onnx/onnx_model.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class BodyFeeds {
 public:
  /// A tensor of the graph around the node.
  using Fetch = std::function<Result<Tensor>(std::string_view name)>;

  /// `node` is a Loop or a Scan of the model's main graph, `body` what its attribute of that name
  /// holds. All outlive the object. kNotFound when there is no first round, or the node slices its
  /// inputs other than along the first axis from the start; errors of `fetch`.
  static Result<BodyFeeds> Start(const OnnxModel& model, const OnnxNode& node,
                                 const OnnxGraph& body, const Fetch& fetch);

  /// The body's own inputs in the first round, by their names there.
  const TensorMap& first() const { return first_; }

  /// Those of the next round, from what the last one was fed with and what the body made of it.
  /// kNotFound when it was the last.
  Result<TensorMap> Next(const TensorMap& last, const TensorMap& made);

 private:
  BodyFeeds(const OnnxModel& model, const OnnxNode& node, const OnnxGraph& body)
      : model_(model), node_(node), body_(body) {}

  Status StartLoop(const Fetch& fetch);
  Status StartScan(const Fetch& fetch);
  Status AddSlices(TensorMap& feed) const;
  Result<Tensor> Counter() const;

  const OnnxModel& model_;
  const OnnxNode& node_;
  const OnnxGraph& body_;
  TensorMap first_;
  TensorMap sliced_;     // a Scan's inputs, whole, by the names of their slices
  int64_t rounds_ = -1;  // how many at most; below 0: not limited
  int64_t round_ = 0;
};

}  // namespace vernier
