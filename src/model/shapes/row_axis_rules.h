// What operators do with the dimension that holds the rows of a batch. Internal to model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_attributes.h"
#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_shapes.h"

namespace vernier {

/// The number of rows that the batch is assumed to have: a prime, as no other size is.
inline constexpr int64_t kRowsAssumed = 1009;

/// Where the rows are in a value.
struct RowState {
  enum class Kind : uint8_t {
    kNone,     ///< it has nothing to do with rows
    kRows,     ///< row by row, along `axis`
    kMet,      ///< a row of it was made of several
    kUnknown,  ///< no rule says
  };
  Kind kind = Kind::kNone;
  int64_t axis = 0;
  std::string why;        ///< of kMet: "node 'a' (LSTM) goes along the rows"
  bool by_scale = false;  ///< of kMet: of MeetingRows
  bool picked = false;    ///< the same
};

/// A node and what is known of its inputs. All referred to must outlive it.
class RowStep {
 public:
  RowStep(const OnnxModel& model, const OnnxGraph& graph, const OnnxNode& node,
          const ShapeTracker& shapes, std::vector<RowState> inputs)
      : model_(model),
        graph_(graph),
        node_(node),
        shapes_(shapes),
        inputs_(std::move(inputs)),
        attributes_(model, node) {}

  const OnnxNode& node() const { return node_; }
  int64_t opset() const { return model_.opset(); }
  NodeAttributes& attributes() { return attributes_; }

  const std::vector<RowState>& inputs() const { return inputs_; }
  /// Its axis where an input is row by row.
  std::optional<int64_t> AxisOf(size_t input) const;
  /// nullptr, or nullopt, where it is not known.
  const Dims* DimsOf(size_t input) const;
  const Dims* DimsOfOutput() const;
  std::optional<int64_t> RankOf(size_t input) const;
  std::optional<std::vector<int64_t>> Ints(size_t input) const;
  std::optional<std::vector<int64_t>> Axes() const { return shapes_.Axes(graph_, node_); }

  /// Rows meet here: `how` completes "node 'a' (Softmax) ...".
  RowState Met(std::string_view how, bool by_scale = false) const;

 private:
  const OnnxModel& model_;
  const OnnxGraph& graph_;
  const OnnxNode& node_;
  const ShapeTracker& shapes_;
  std::vector<RowState> inputs_;
  NodeAttributes attributes_;
};

/// The rows of one output of a node at least one of whose inputs is row by row. Never kNone.
RowState RowsAfter(RowStep& step, size_t output);

}  // namespace vernier
