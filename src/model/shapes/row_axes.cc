#include "model/shapes/row_axes.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/onnx/flat_graph.h"
#include "model/shapes/row_axis_rules.h"
#include "model/shapes/size_numbers.h"

namespace vernier {
namespace {

using RowKind = RowState::Kind;

// Sizes of open dimensions that no other size is taken for: primes, as kRowsAssumed is.
constexpr int64_t kOthers[] = {1013, 1019, 1021, 1031, 1033, 1039};

// The sizes of inputs with the batch along an axis, and what else is open of its own size.
std::vector<InputDims> SizedInputs(const OnnxModel& model, std::span<const BatchedInput> batched) {
  std::vector<InputDims> sized;
  std::unordered_map<std::string, int64_t> symbols;
  size_t next = 0;
  for (const TensorInfo& input : model.RequiredInputs()) {
    if (!input.shape) continue;
    const auto batch = std::ranges::find(batched, input.name, &BatchedInput::name);
    InputDims& dims = sized.emplace_back(InputDims{input.name, {}});
    for (const Dim& dim : *input.shape) {
      const bool rows = batch != batched.end() && dims.dims.size() == batch->axis && dim.dynamic();
      if (rows || !dim.dynamic()) {
        dims.dims.push_back(rows ? kRowsAssumed : dim.value);
        continue;
      }
      const int64_t fresh = kOthers[next % std::size(kOthers)];
      const auto [known, added] = symbols.emplace(dim.symbol, fresh);
      next += added || dim.symbol.empty() ? 1 : 0;
      dims.dims.push_back(dim.symbol.empty() ? fresh : known->second);
    }
  }
  return sized;
}

// A scale is the least that rows may share, and what an input asks for explains all else.
bool MetLess(const RowState& a, const RowState& b) {
  const auto share = [](const RowState& state) {
    return state.kind != RowKind::kMet ? 0 : state.by_scale ? 1 : state.picked ? 3 : 2;
  };
  return share(a) < share(b);
}

// Values that hold sizes alone.
bool ReturnsSizes(std::string_view op_type) { return op_type == "Shape" || op_type == "Size"; }

class RowWalk {
 public:
  RowWalk(const OnnxModel& model, std::span<const BatchedInput> inputs)
      : model_(model),
        flat_(model),
        shapes_(model, SizedInputs(model, inputs), ShapeTrust::kInputs) {
    shapes_.Declare(flat_.graph());
    for (const auto& [name, axis] : inputs) {
      states_[name] = {RowKind::kRows, static_cast<int64_t>(axis), {}};
    }
    // What goes into bodies from the start.
    for (const BatchedInput& input : inputs) Continue(input.name, 0);
    for (const OnnxNode& node : flat_.graph().nodes) Visit(node);
  }

  const RowState* Find(std::string_view name) const {
    const auto found = states_.find(name);
    return found == states_.end() ? nullptr : &found->second;
  }

 private:
  void Visit(const OnnxNode& node) {
    const OnnxGraph& graph = flat_.graph();
    const auto outputs = graph.Outputs(node);
    // Targets of a Reshape are often made of sizes.
    auto numbers = NumbersOfSizes(model_, graph, node, shapes_);
    if (numbers && !outputs.empty()) shapes_.AssumeInts(outputs.front(), *std::move(numbers));
    shapes_.Visit(graph, node);
    if (node.op_type == "If") return;  // its branches have said so
    std::vector<RowState> inputs;
    for (const std::string_view name : graph.Inputs(node)) {
      const RowState* const state = Find(name);
      inputs.push_back(state == nullptr ? RowState() : *state);
    }
    const bool counts = node.op_type == "Loop" || node.op_type == "Scan";
    if (ReturnsSizes(node.op_type)) {
      const bool of_rows = !inputs.empty() && inputs.front().kind != RowKind::kNone;
      for (const std::string_view output : outputs) {
        if (of_rows) counts_.emplace(output, true);
      }
      return;
    }
    PassCounts(node);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].empty()) continue;
      Store(outputs[i], counts ? AfterLoop(node, inputs, i) : After(node, inputs, i));
    }
  }

  // A number of rows stays one through arithmetic.
  void PassCounts(const OnnxNode& node) {
    const auto inputs = flat_.graph().Inputs(node);
    const bool any = std::any_of(inputs.begin(), inputs.end(),
                                 [&](std::string_view name) { return counts_.contains(name); });
    if (!any) return;
    for (const std::string_view output : flat_.graph().Outputs(node)) counts_.emplace(output, true);
  }

  RowState After(const OnnxNode& node, const std::vector<RowState>& inputs, size_t output) {
    const auto is = [](RowKind kind) {
      return [kind](const RowState& state) { return state.kind == kind; };
    };
    const auto met = std::max_element(inputs.begin(), inputs.end(), MetLess);
    if (met != inputs.end() && met->kind == RowKind::kMet) return *met;
    const bool unknown = std::any_of(inputs.begin(), inputs.end(), is(RowKind::kUnknown));
    if (std::none_of(inputs.begin(), inputs.end(), is(RowKind::kRows))) {
      return unknown ? RowState{RowKind::kUnknown, 0, {}} : RowState();
    }
    RowStep step(model_, flat_.graph(), node, shapes_, inputs);
    RowState after = RowsAfter(step, output);
    if (unknown && after.kind != RowKind::kMet) after = {RowKind::kUnknown, 0, {}};
    return after;
  }

  // A Scan that carries something along the rows, and a Loop of as many rounds as there are rows,
  // go along them.
  RowState AfterLoop(const OnnxNode& node, const std::vector<RowState>& inputs, size_t output) {
    const RowState* const stored = Find(flat_.graph().Outputs(node)[output]);
    if (stored != nullptr && stored->kind == RowKind::kMet) return *stored;
    const bool has_rows = (stored != nullptr && stored->kind != RowKind::kNone) ||
                          std::any_of(inputs.begin(), inputs.end(), [](const RowState& input) {
                            return input.kind != RowKind::kNone;
                          });
    if (!has_rows) return {};
    RowStep step(model_, flat_.graph(), node, shapes_, inputs);
    const auto names = flat_.graph().Inputs(node);
    if (node.op_type == "Loop") {
      const bool of_rows = !names.empty() && counts_.contains(names[0]);
      if (of_rows && names.size() > 2)
        return step.Met("has a round for each row, and carries values");
    } else if (GoesAlong(step, inputs)) {
      return step.Met("goes along the rows, and carries values");
    }
    return {RowKind::kUnknown, 0, {}};
  }

  static bool GoesAlong(RowStep& step, const std::vector<RowState>& inputs) {
    const auto scanned = static_cast<size_t>(std::clamp<int64_t>(
        step.attributes().Int("num_scan_inputs", 0), 0, static_cast<int64_t>(inputs.size())));
    const size_t carried = inputs.size() - scanned;
    const std::vector<int64_t> axes = step.attributes().Ints("scan_input_axes");
    for (size_t i = 0; i < scanned; ++i) {
      const auto row = step.AxisOf(carried + i);
      int64_t axis = i < axes.size() ? axes[i] : 0;
      if (axis < 0) axis += step.RankOf(carried + i).value_or(0);
      if (row && carried > 0 && *row == axis) return true;
    }
    return false;
  }

  void Store(std::string_view name, RowState state) {
    Merge(name, std::move(state));
    Continue(name, 0);
  }

  // Of two branches; what is known of neither is not known.
  void Merge(std::string_view name, RowState state) {
    const auto [known, added] = states_.try_emplace(name, state);
    if (added) return;
    RowState& before = known->second;
    if (before.kind == RowKind::kMet || state.kind == RowKind::kNone) return;
    const bool same = before.kind == state.kind && before.axis == state.axis;
    if (before.kind == RowKind::kNone || state.kind == RowKind::kMet) {
      before = std::move(state);
    } else if (!same) {
      before = {RowKind::kUnknown, 0, {}};
    }
  }

  // In a slice of a value, which has one dimension less. Which rows slices along the rows are is
  // for the node to say.
  static RowState OfSlice(const RowState& whole, int64_t axis, const Dims* dims) {
    if (whole.kind != RowKind::kRows) return whole;
    if (axis < 0 && dims != nullptr) axis += static_cast<int64_t>(dims->size());
    if (axis < 0 || axis == whole.axis) return {RowKind::kUnknown, 0, {}};
    return {RowKind::kRows, whole.axis - (axis < whole.axis ? 1 : 0), {}};
  }

  void AssumeSlice(std::string_view name, Dims dims, int64_t axis) {
    const auto rank = static_cast<int64_t>(dims.size());
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return;
    dims.erase(dims.begin() + axis);
    shapes_.Assume(name, std::move(dims));
  }

  // Under its other names, in bodies and behind them.
  void Continue(std::string_view name, int depth) {
    constexpr int kDeepest = 64;
    const RowState* const state = Find(name);
    if (state == nullptr || depth == kDeepest) return;
    const Dims* const dims = shapes_.Find(name);
    for (const std::string_view other : flat_.Continuing(name)) {
      RowState copy = *Find(name);
      if (const auto axis = flat_.SlicedAxis(other)) {
        copy = OfSlice(copy, *axis, dims);
        if (dims != nullptr) AssumeSlice(other, *dims, *axis);
      } else if (dims != nullptr) {
        shapes_.Assume(other, *dims);
      }
      const RowState* const known = Find(other);
      const bool news =
          known == nullptr || (known->kind != copy.kind && known->kind != RowKind::kMet);
      Merge(other, copy);
      if (news) Continue(other, depth + 1);
    }
  }

  const OnnxModel& model_;
  const FlatGraph flat_;
  ShapeTracker shapes_;
  std::unordered_map<std::string_view, RowState> states_;
  std::unordered_map<std::string_view, bool> counts_;  // numbers that follow from that of rows
};

}  // namespace

std::vector<MeetingRows> FindMeetingRows(const OnnxModel& model,
                                         std::span<const BatchedInput> inputs,
                                         std::span<const std::string> names) {
  const RowWalk walk(model, inputs);
  std::vector<MeetingRows> meeting;
  for (const std::string& name : names) {
    const RowState* const state = walk.Find(name);
    if (state != nullptr && state->kind == RowKind::kMet) {
      meeting.push_back({name, state->why, state->by_scale, state->picked});
    }
  }
  return meeting;
}

}  // namespace vernier
