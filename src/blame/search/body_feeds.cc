#include "blame/search/body_feeds.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

// A Loop's body: counter and condition come before what it carries along.
constexpr size_t kCounterAndCondition = 2;

bool IsFalse(const Tensor& condition) {
  return condition.dtype() == DType::kBool && condition.element_count() == 1 &&
         condition.bytes()[0] == std::byte{0};
}

Result<Tensor> Truth() {
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(DType::kBool, {}));
  buffer.bytes()[0] = std::byte{1};
  return std::move(buffer).Freeze();
}

// One step along the first axis.
Result<Tensor> SliceOf(const Tensor& whole, int64_t index) {
  const Dims dims(whole.dims().begin() + 1, whole.dims().end());
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(whole.dtype(), dims));
  const size_t size = buffer.bytes().size();
  const size_t start = static_cast<size_t>(index) * size;
  if (whole.bytes().size() < start + size) return NotFound("a slice beyond the end");
  if (size > 0) std::memcpy(buffer.bytes().data(), whole.bytes().data() + start, size);
  return std::move(buffer).Freeze();
}

bool IsAnyNot(const std::vector<int64_t>& values, int64_t value) {
  return std::any_of(values.begin(), values.end(), [&](int64_t v) { return v != value; });
}

}  // namespace

Result<Tensor> BodyFeeds::Counter() const {
  // Some exporters declare it as a list of one.
  const TensorInfo declared = ToTensorInfo(body_.inputs[0]);
  const bool is_list = declared.shape && declared.shape->size() == 1;
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(DType::kInt64, is_list ? Dims{1} : Dims{}));
  buffer.As<int64_t>()[0] = round_;
  return std::move(buffer).Freeze();
}

Status BodyFeeds::StartLoop(const Fetch& fetch) {
  const auto inputs = model_.graph().Inputs(node_);
  const auto& own = body_.inputs;
  if (own.size() < kCounterAndCondition || inputs.size() != own.size()) {
    return NotFound("a body with other inputs than its Loop");
  }
  if (!inputs[0].empty()) {
    VERNIER_ASSIGN_OR_RETURN(const Tensor most, fetch(inputs[0]));
    if (most.dtype() == DType::kInt64 && most.element_count() == 1) {
      std::memcpy(&rounds_, most.bytes().data(), sizeof(rounds_));
    }
    if (rounds_ == 0) return NotFound("a Loop of no rounds");
  }
  VERNIER_ASSIGN_OR_RETURN(Tensor counter, Counter());
  first_.push_back({std::string(own[0].name), std::move(counter)});
  VERNIER_ASSIGN_OR_RETURN(Tensor condition, inputs[1].empty() ? Truth() : fetch(inputs[1]));
  if (IsFalse(condition)) return NotFound("a Loop of no rounds");
  first_.push_back({std::string(own[1].name), std::move(condition)});
  for (size_t i = kCounterAndCondition; i < own.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(Tensor carried, fetch(inputs[i]));
    first_.push_back({std::string(own[i].name), std::move(carried)});
  }
  return {};
}

Status BodyFeeds::AddSlices(TensorMap& feed) const {
  for (const NamedTensor& whole : sliced_) {
    VERNIER_ASSIGN_OR_RETURN(Tensor slice, SliceOf(whole.tensor, round_));
    feed.push_back({whole.name, std::move(slice)});
  }
  return {};
}

Status BodyFeeds::StartScan(const Fetch& fetch) {
  const auto inputs = model_.graph().Inputs(node_);
  const auto& own = body_.inputs;
  NodeAttributes attributes(model_, node_);
  const auto sliced =
      static_cast<size_t>(std::max<int64_t>(attributes.Int("num_scan_inputs", 0), 0));
  const bool plain = !IsAnyNot(attributes.Ints("scan_input_axes"), 0) &&
                     !IsAnyNot(attributes.Ints("scan_input_directions"), 0);
  if (!plain || inputs.size() != own.size() || sliced == 0 || sliced > own.size()) {
    return NotFound("a Scan that does not slice along the first axis");
  }
  for (size_t i = 0; i < own.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, fetch(inputs[i]));
    const bool carried = i < own.size() - sliced;
    if (!carried && tensor.dims().empty()) return NotFound("a scalar cannot be sliced");
    if (!carried) rounds_ = tensor.dims()[0];
    (carried ? first_ : sliced_).push_back({std::string(own[i].name), std::move(tensor)});
  }
  if (rounds_ == 0) return NotFound("a Scan of no rounds");
  return AddSlices(first_);
}

Result<BodyFeeds> BodyFeeds::Start(const OnnxModel& model, const OnnxNode& node,
                                   const OnnxGraph& body, const Fetch& fetch) {
  BodyFeeds feeds(model, node, body);
  VERNIER_TRY(node.op_type == "Loop" ? feeds.StartLoop(fetch) : feeds.StartScan(fetch));
  return feeds;
}

Result<TensorMap> BodyFeeds::Next(const TensorMap& last, const TensorMap& made) {
  ++round_;
  if (rounds_ >= 0 && round_ >= rounds_) return NotFound("no round is left");
  const bool is_loop = node_.op_type == "Loop";
  const size_t carried = body_.inputs.size() - sliced_.size();
  TensorMap feed;
  if (is_loop) {
    VERNIER_ASSIGN_OR_RETURN(Tensor counter, Counter());
    feed.push_back({std::string(body_.inputs[0].name), std::move(counter)});
  }
  // A body's outputs stand in the order of its inputs; a Loop's has none for the counter.
  for (size_t i = is_loop ? 1 : 0; i < carried; ++i) {
    const size_t place = is_loop ? i - 1 : i;
    if (place >= body_.outputs.size()) return NotFound("a body with too few outputs");
    const std::string_view name = body_.outputs[place].name;
    const Tensor* tensor = Find(made, name) != nullptr ? Find(made, name) : Find(last, name);
    if (tensor == nullptr) return NotFound("the body does not return what it carries along");
    if (is_loop && place == 0 && IsFalse(*tensor)) return NotFound("no round is left");
    feed.push_back({std::string(body_.inputs[i].name), *tensor});
  }
  VERNIER_TRY(AddSlices(feed));
  return feed;
}

}  // namespace vernier
