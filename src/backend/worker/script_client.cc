#include "backend/worker/script_client.h"

#include <limits>

namespace vernier {
namespace {

// As the worker calls them (vernier_worker/server.py).
std::string_view RoleName(ScriptRole role) {
  switch (role) {
    case ScriptRole::kFeeds:
      return "feeds";
    case ScriptRole::kComparison:
      return "comparison";
    case ScriptRole::kPostprocessing:
      return "postprocessing";
    case ScriptRole::kPerceptual:
      return "perceptual";
    case ScriptRole::kDraws:
      return "draws";
    case ScriptRole::kDecision:
      return "decision";
    case ScriptRole::kTokens:
      return "tokens";
  }
  return "";
}

void EncodeHeader(const IterationResult& result, MessageWriter& out) {
  out.Text(result.runner_name);
  out.Number(static_cast<uint8_t>(result.runtime_s.has_value()));
  if (result.runtime_s) out.Number(*result.runtime_s);
  out.Number<uint64_t>(result.outputs.size());
}

void AddTensors(const TensorMap& tensors, TensorBlockBuilder& builder) {
  for (const auto& [name, tensor] : tensors) {
    builder.Add(name, tensor.dtype(), tensor.dims(), tensor.bytes());
  }
}

// Both sides of an iteration, behind the number of the session.
Result<TensorBlock> EncodeSides(const IterationResult& a, const IterationResult& b,
                                MessageWriter& out) {
  EncodeHeader(a, out);
  EncodeHeader(b, out);
  TensorBlockBuilder builder;
  AddTensors(a.outputs, builder);
  AddTensors(b.outputs, builder);
  VERNIER_ASSIGN_OR_RETURN(TensorBlock block, builder.Finish());
  out.Append(block.description);
  return block;
}

Status BadScriptAnswer(const std::string& name) {
  return BackendError("a worker sent a malformed answer for '" + name + "'");
}

}  // namespace

Result<std::unique_ptr<ScriptClient>> ScriptClient::Open(std::shared_ptr<Worker> worker,
                                                         uint64_t session, ScriptRole role,
                                                         Source source) {
  MessageWriter body;
  body.Number(session);
  body.Text(RoleName(role));
  body.Text(source.path);
  body.Text(source.function);
  VERNIER_TRY(
      worker->Ask(MessageType::kOpenScript, body, -1, "loading the script '" + source.path + "'")
          .status());
  return std::unique_ptr<ScriptClient>(
      new ScriptClient(std::move(worker), session, source.path + ":" + source.function));
}

// `index` -1: the next one.
Result<std::optional<TensorMap>> ScriptClient::AskForFeed(std::span<const TensorInfo> inputs,
                                                          int64_t index) {
  const int64_t shown = index < 0 ? next_feed_ : index;
  MessageWriter body;
  body.Number(session_);
  EncodeInfos(inputs, body);
  body.Number(index);
  VERNIER_ASSIGN_OR_RETURN(
      Worker::Answer answer,
      worker_->Ask(MessageType::kNextFeed, body, -1,
                   "making feed " + std::to_string(shown) + " in '" + name_ + "'"));
  MessageReader in(answer.body);
  const bool is_there = in.Number<uint8_t>() != 0;
  const auto promised = is_there ? -1 : in.Number<int64_t>();
  if (in.failed()) return BadScriptAnswer(name_);
  if (promised >= 0) promised_ = promised;
  if (!is_there) return std::optional<TensorMap>();
  VERNIER_ASSIGN_OR_RETURN(
      DecodedBlock block,
      DecodeTensors(std::span(answer.body).subspan(sizeof(uint8_t)), std::move(answer.memory)));
  return std::optional<TensorMap>(std::move(block.tensors));
}

Result<std::optional<TensorMap>> ScriptClient::NextFeed(std::span<const TensorInfo> inputs) {
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, AskForFeed(inputs, -1));
  if (feed) ++next_feed_;
  return feed;
}

Result<std::optional<int64_t>> ScriptClient::CountFeeds(std::span<const TensorInfo> inputs) {
  MessageWriter body;
  body.Number(session_);
  EncodeInfos(inputs, body);
  VERNIER_ASSIGN_OR_RETURN(
      const Worker::Answer answer,
      worker_->Ask(MessageType::kCountFeeds, body, -1, "counting feeds of '" + name_ + "'"));
  MessageReader in(answer.body);
  const auto count = in.Number<int64_t>();
  if (in.failed()) return BadScriptAnswer(name_);
  return count < 0 ? std::nullopt : std::optional(count);
}

Result<TensorMap> ScriptClient::FeedAt(int64_t index) {
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, AskForFeed({}, index));
  if (!feed) return BadScriptAnswer(name_);
  return *std::move(feed);
}

Result<std::vector<ScriptVerdict>> ScriptClient::Compare(const IterationResult& a,
                                                         const IterationResult& b,
                                                         int64_t iteration) {
  MessageWriter body;
  body.Number(session_);
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeSides(a, b, body));
  VERNIER_ASSIGN_OR_RETURN(
      const Worker::Answer answer,
      worker_->Ask(MessageType::kCompare, body, block.memory.get(),
                   "comparing iteration " + std::to_string(iteration) + " in '" + name_ + "'"));
  MessageReader in(answer.body);
  constexpr size_t kLeastVerdict = 5 * sizeof(uint64_t) + 1;
  std::vector<ScriptVerdict> verdicts(in.Count(kLeastVerdict));
  for (ScriptVerdict& verdict : verdicts) {
    verdict.output = in.Text();
    verdict.passed = in.Number<uint8_t>() != 0;
    verdict.other = in.Text();
    verdict.text = in.Text();
    verdict.json = in.Text();
    verdict.type = in.Text();
  }
  if (!in.finished()) return BadScriptAnswer(name_);
  return verdicts;
}

Result<ScriptDecisions> ScriptClient::Decide(const IterationResult& a, const IterationResult& b,
                                             int64_t iteration) {
  MessageWriter body;
  body.Number(session_);
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeSides(a, b, body));
  VERNIER_ASSIGN_OR_RETURN(const Worker::Answer answer,
                           worker_->Ask(MessageType::kDecide, body, block.memory.get(),
                                        "deciding about iteration " + std::to_string(iteration) +
                                            " in '" + name_ + "'"));
  MessageReader in(answer.body);
  ScriptDecisions decisions;
  decisions.why = in.Text();
  constexpr size_t kLeastSample = 2 * sizeof(uint64_t) + 1 + sizeof(double);
  decisions.samples.resize(in.Count(kLeastSample));
  for (DecisionSample& sample : decisions.samples) {
    sample.first = in.Text();
    sample.second = in.Text();
    const auto flip = in.Number<uint8_t>();
    if (flip > static_cast<uint8_t>(Flip::kInvalid)) return BadScriptAnswer(name_);
    sample.flip = static_cast<Flip>(flip);
    sample.similarity = in.Number<double>();
    sample.first_margin = sample.second_margin = std::numeric_limits<double>::quiet_NaN();
  }
  if (!in.finished()) return BadScriptAnswer(name_);
  return decisions;
}

Result<TensorMap> ScriptClient::Postprocess(const IterationResult& result, int64_t iteration) {
  MessageWriter body;
  body.Number(session_);
  EncodeHeader(result, body);
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(result.outputs));
  body.Append(block.description);
  VERNIER_ASSIGN_OR_RETURN(Worker::Answer answer,
                           worker_->Ask(MessageType::kPostprocess, body, block.memory.get(),
                                        "post-processing iteration " + std::to_string(iteration) +
                                            " in '" + name_ + "'"));
  VERNIER_ASSIGN_OR_RETURN(DecodedBlock decoded,
                           DecodeTensors(answer.body, std::move(answer.memory)));
  return std::move(decoded.tensors);
}

Result<TensorMap> ScriptClient::Draw(int64_t seed, std::span<const DrawnInput> inputs) {
  MessageWriter body;
  body.Number(session_);
  body.Number(seed);
  body.Number<uint64_t>(inputs.size());
  for (const DrawnInput& input : inputs) {
    body.Text(input.name);
    body.Number(static_cast<uint8_t>(input.dtype));
    body.Number<uint64_t>(input.dims.size());
    for (const int64_t dim : input.dims) body.Number(dim);
    body.Number(static_cast<uint8_t>(input.whole));
    if (input.whole) {
      body.Number(input.least);
      body.Number(input.most);
    } else {
      body.Number(input.low);
      body.Number(input.high);
    }
  }
  VERNIER_ASSIGN_OR_RETURN(
      Worker::Answer answer,
      worker_->Ask(MessageType::kDraw, body, -1, "drawing inputs with '" + name_ + "'"));
  VERNIER_ASSIGN_OR_RETURN(DecodedBlock decoded,
                           DecodeTensors(answer.body, std::move(answer.memory)));
  if (decoded.tensors.size() != inputs.size()) return BadScriptAnswer(name_);
  return std::move(decoded.tensors);
}

Result<double> ScriptClient::Measure(const Tensor& a, const Tensor& b) {
  MessageWriter body;
  body.Number(session_);
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors({{"a", a}, {"b", b}}));
  body.Append(block.description);
  VERNIER_ASSIGN_OR_RETURN(
      const Worker::Answer answer,
      worker_->Ask(MessageType::kMeasure, body, block.memory.get(), "measuring " + name_));
  MessageReader in(answer.body);
  const auto distance = in.Number<double>();
  if (!in.finished()) return BadScriptAnswer(name_);
  return distance;
}

}  // namespace vernier
