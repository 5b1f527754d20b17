// What a rule of row_axis_rules.h may ask about its node.
#include "model/onnx/flat_graph.h"
#include "model/shapes/row_axis_rules.h"

namespace vernier {

std::optional<int64_t> RowStep::AxisOf(size_t input) const {
  const bool rows = input < inputs_.size() && inputs_[input].kind == RowState::Kind::kRows;
  return rows ? std::optional(inputs_[input].axis) : std::nullopt;
}

const Dims* RowStep::DimsOf(size_t input) const {
  const auto names = graph_.Inputs(node_);
  return input < names.size() && !names[input].empty() ? shapes_.Find(names[input]) : nullptr;
}

const Dims* RowStep::DimsOfOutput() const {
  const auto names = graph_.Outputs(node_);
  return names.empty() ? nullptr : shapes_.Find(names.front());
}

std::optional<int64_t> RowStep::RankOf(size_t input) const {
  const Dims* const dims = DimsOf(input);
  return dims == nullptr ? std::nullopt : std::optional(static_cast<int64_t>(dims->size()));
}

std::optional<std::vector<int64_t>> RowStep::Ints(size_t input) const {
  const auto names = graph_.Inputs(node_);
  return input < names.size() ? shapes_.Ints(names[input]) : std::nullopt;
}

RowState RowStep::Met(std::string_view how, bool by_scale) const {
  const auto outputs = graph_.Outputs(node_);
  std::string who = "the node";
  if (!node_.name.empty()) {
    who = "node '" + std::string(node_.name) + "'";
  } else if (!outputs.empty()) {
    who += " that makes '" + std::string(ShownName(outputs.front())) + "'";
  }
  return {RowState::Kind::kMet, 0,
          who + " (" + std::string(node_.op_type) + ") " + std::string(how), by_scale};
}

}  // namespace vernier
