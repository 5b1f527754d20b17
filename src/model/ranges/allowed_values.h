// What an operator allows the integers and truth values to be that it reads: indices, positions,
// lengths, masks, sizes, divisors. Internal to model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/onnx/flat_graph.h"
#include "model/onnx/onnx_model.h"
#include "model/ranges/range_inversion.h"
#include "model/shapes/onnx_shapes.h"
#include "vernier/tensor.h"

namespace vernier {

/// A node's input.
struct Use {
  const OnnxGraph& graph;
  const OnnxNode& node;
  size_t input;
};

/// The name of a node's input; empty where it has none.
std::string_view InputOf(const Use& use, size_t input);

/// What a use allows: [low, high], or nothing that could be drawn.
struct Allowed {
  int64_t low = 0, high = kAnything;
  std::string what;      ///< completes "<what> of Gather 'emb'"
  bool possible = true;  ///< false: `what` says why not
  bool free = false;     ///< any other number is legal, too, but shows no more
};

/// What has become of an input's value on its way to a use.
struct ValueKind {
  bool integer = false;  ///< the input is an integer, or became one
  bool mask = false;     ///< it went through a cast to bool
  bool truth = false;    ///< it is a truth value: the input is one, or it was compared with 0 or 1
  bool turned = false;   ///< drawn as 1, the truth value may have become false
  bool counts = false;   ///< it counts a Loop's rounds, of which the input is the number

  bool operator==(const ValueKind&) const = default;
};

class UseRules {
 public:
  UseRules(const OnnxModel& model, const FlatGraph& flat, const ShapeTracker& shapes)
      : model_(model), flat_(flat), shapes_(shapes) {}

  /// Absent where the use gives the value no meaning.
  std::optional<Allowed> Judge(const Use& use, const ValueKind& kind);

  /// The same for places that are integers by the operator's definition: indices, lengths,
  /// positions and sizes.
  std::optional<Allowed> JudgePlace(const Use& use);

  /// A constant of one element that is a whole number, of any type.
  std::optional<int64_t> WholeNumber(std::string_view name);

  /// The least and the largest of a constant's whole numbers, or of what counts a constant number
  /// of rounds.
  std::optional<Interval> NumbersIn(std::string_view name);

 private:
  static std::optional<Allowed> Truth(const Use& use, const ValueKind& kind);
  std::optional<int64_t> SizeOf(std::string_view name, int64_t axis) const;
  Allowed IndexInto(std::string_view name, std::optional<int64_t> size, std::string what) const;
  std::optional<Allowed> Index(const Use& use, std::string_view op);
  std::optional<Allowed> TupleIndex(const Use& use) const;
  std::optional<Allowed> Length(const Use& use, std::string_view op);
  std::optional<Allowed> Position(const Use& use, std::string_view op);
  Allowed Axes(const Use& use, const std::string& what) const;
  Allowed AxesOfOne(const Use& use) const;
  std::optional<Allowed> Bounds(const Use& use) const;
  std::optional<Allowed> Shape(const Use& use, std::string_view op);
  Allowed Paddings(const Use& use);
  bool CopiesEverySize(const Use& use);
  std::optional<Allowed> Mask(const Use& use, std::string_view op);
  std::optional<Allowed> Arithmetic(const Use& use, std::string_view op);
  std::optional<Tensor> Constant(std::string_view name);
  std::optional<double> Number(std::string_view name);
  void CollectConstants();

  const OnnxModel& model_;
  const FlatGraph& flat_;
  const ShapeTracker& shapes_;
  bool collected_ = false;  // the constants
  std::unordered_map<std::string_view, OnnxTensor> constants_;
  std::unordered_map<std::string_view, double> numbers_;  // constants that no tensor says
};

}  // namespace vernier
