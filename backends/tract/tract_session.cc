#include "tract_session.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "layer_profile.h"
#include "tract_tensor.h"

namespace vernier::tract {
namespace {

Result<Precision> PrecisionOf(std::string_view option) {
  if (option == "f32") return Precision::kFloat32;
  if (option == "f16") return Precision::kFloat16;
  return InvalidArgument("--tract.precision: expected f32 or f16, got '" + std::string(option) +
                         "'");
}

bool HasAllSizes(const sdk::TensorSpec& spec) {
  return spec.rank_known && ToTract(spec.dtype) != 0 &&
         std::ranges::none_of(spec.shape, [](int64_t size) { return size < 0; });
}

bool Fits(const std::vector<int64_t>& shape, const sdk::TensorSpec& spec) {
  return !spec.rank_known ||
         std::ranges::equal(shape, spec.shape, [](int64_t size, int64_t declared) {
           return declared < 0 || size == declared;
         });
}

std::string Shown(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) {
    text += (text.empty() ? "" : ", ") + (size < 0 ? std::string("?") : std::to_string(size));
  }
  return "(" + text + ")";
}

// As C takes arrays of tensors. Rust takes no null pointer, not even of nothing.
std::vector<Tensor*> Pointers(const std::vector<Owned<Tensor>>& tensors) {
  std::vector<Tensor*> pointers;
  for (const Owned<Tensor>& tensor : tensors) pointers.push_back(tensor.get());
  pointers.push_back(nullptr);
  return pointers;
}

// In the order of the model's inputs.
Result<std::vector<const vn_tensor*>> InOrder(std::span<const sdk::TensorSpec> wanted,
                                              std::span<const vn_tensor* const> given) {
  std::vector<const vn_tensor*> ordered;
  for (const sdk::TensorSpec& spec : wanted) {
    const auto at = std::ranges::find_if(
        given, [&](const vn_tensor* tensor) { return sdk::View(tensor->name) == spec.name; });
    if (at == given.end()) return InvalidArgument("input '" + spec.name + "' was not supplied");
    ordered.push_back(*at);
  }
  return ordered;
}

}  // namespace

Result<std::unique_ptr<sdk::Session>> TractSession::Open(const Api& api, const Onnx* onnx,
                                                         const vn_model& model,
                                                         const sdk::Options& options) {
  VERNIER_ASSIGN_OR_RETURN(const Precision precision, PrecisionOf(options.Get("precision", "f32")));
  VERNIER_ASSIGN_OR_RETURN(ModelSource source, ModelSource::Open(api, onnx, model));
  std::unique_ptr<TractSession> session(new TractSession(api, std::move(source), precision));
  session->layer_times_path_ = std::string(options.Get("layer_times"));
  if (std::ranges::all_of(session->inputs(), HasAllSizes)) {
    std::vector<InputFact> facts;
    for (const sdk::TensorSpec& spec : session->inputs()) facts.push_back({spec.dtype, spec.shape});
    VERNIER_TRY(session->CompileFor(facts));
  }
  return std::unique_ptr<sdk::Session>(std::move(session));
}

void TractSession::Close() {
  if (layer_times_path_.empty() || last_inputs_.empty()) return;
  std::vector<Tensor*> inputs = Pointers(last_inputs_);
  char* json = nullptr;
  if (api_.runnable_profile_json(compiled_->runnable.get(), inputs.data(), &json) != 0) return;
  sdk::WriteLayerTimes(layer_times_path_, LayersOfProfile(json));
  api_.free_cstring(json);
}

sdk::SessionInfo TractSession::info() const {
  return {precision_ == Precision::kFloat16 ? "float16" : "float32", "CPU"};
}

Result<std::vector<InputFact>> TractSession::FactsOf(
    const std::vector<const vn_tensor*>& inputs) const {
  std::vector<InputFact> facts;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const sdk::TensorSpec& declared = source_.inputs()[i];
    const sdk::TensorSpec given = sdk::SpecOf(*inputs[i]);
    if (ToTract(given.dtype) == 0) {
      return InvalidArgument("input '" + given.name + "' is " +
                             std::string(DTypeName(given.dtype)) +
                             ", a type that tract's C interface does not have");
    }
    const bool typed = declared.dtype == DType::kUndefined || declared.dtype == given.dtype;
    if (!typed) {
      return InvalidArgument("input '" + given.name + "' is " +
                             std::string(DTypeName(given.dtype)) + ", and the model takes " +
                             std::string(DTypeName(declared.dtype)));
    }
    if (!Fits(given.shape, declared)) {
      return InvalidArgument("input '" + given.name + "' has the shape " + Shown(given.shape) +
                             ", and the model takes " + Shown(declared.shape));
    }
    facts.push_back({given.dtype, given.shape});
  }
  return facts;
}

Status TractSession::CompileFor(const std::vector<InputFact>& facts) {
  if (compiled_ && compiled_->facts == facts) return {};
  compiled_.reset();
  last_inputs_.clear();
  VERNIER_ASSIGN_OR_RETURN(compiled_, source_.Compile(facts, precision_));
  return {};
}

Result<std::vector<Owned<Tensor>>> TractSession::MakeInputs(
    const std::vector<const vn_tensor*>& inputs) const {
  std::vector<Owned<Tensor>> made;
  for (size_t i = 0; i < inputs.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(Owned<Tensor> tensor, MakeTensor(api_, *inputs[i]));
    if (compiled_->input_types[i] != ToTract(compiled_->facts[i].dtype)) {
      VERNIER_ASSIGN_OR_RETURN(tensor,
                               Converted(api_, std::move(tensor), compiled_->input_types[i]));
    }
    made.push_back(std::move(tensor));
  }
  return made;
}

Result<sdk::RunOutcome> TractSession::Run(std::span<const vn_tensor* const> given) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<const vn_tensor*> ordered,
                           InOrder(source_.inputs(), given));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<InputFact> facts, FactsOf(ordered));
  VERNIER_TRY(CompileFor(facts));
  VERNIER_ASSIGN_OR_RETURN(std::vector<Owned<Tensor>> inputs, MakeInputs(ordered));
  std::vector<Tensor*> raw_inputs = Pointers(inputs);
  std::vector<Tensor*> raw_outputs(compiled_->outputs.size() + 1);
  const auto start = std::chrono::steady_clock::now();
  const int result =
      api_.runnable_run(compiled_->runnable.get(), raw_inputs.data(), raw_outputs.data());
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::vector<Owned<Tensor>> outputs;
  for (size_t i = 0; i < compiled_->outputs.size(); ++i) {
    outputs.emplace_back(api_.tensor_destroy, raw_outputs[i]);
  }
  VERNIER_TRY(Check(api_, result, "inference"));
  sdk::RunOutcome outcome;
  outcome.inference_seconds = elapsed.count();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const sdk::TensorSpec& declared = compiled_->outputs[i];
    VERNIER_ASSIGN_OR_RETURN(sdk::OutputTensor output,
                             HandOut(api_, std::move(outputs[i]), declared.name, declared.dtype));
    outcome.outputs.push_back(std::move(output));
  }
  if (!layer_times_path_.empty()) last_inputs_ = std::move(inputs);
  return outcome;
}

}  // namespace vernier::tract
