#include "ort_session.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <string_view>

#include "layer_trace.h"
#include "nested_value.h"
#include "ort_value.h"
#include "providers.h"
#include "vernier/part_names.h"

namespace vernier::ort {
namespace {

// Polygraphy gives both pools as many threads as the process may use CPUs.
int AffinityCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? std::max(CPU_COUNT(&set), 1) : 1;
}

Result<int> ThreadCount(const sdk::Options& options, std::string_view key) {
  const std::string text(options.Get(key));
  if (text.empty()) return AffinityCount();
  int count = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0) {
    return InvalidArgument(std::string(key) + ": expected a number >= 0, got '" + text + "'");
  }
  return count;
}

struct LevelName {
  std::string_view name;
  GraphOptimizationLevel level;
};
constexpr LevelName kLevels[] = {
#define VERNIER_ORT_LEVEL(enumerator) {#enumerator, enumerator},
#include "options.def"
};

Status SetOptimizationLevel(const Api& api, OrtSessionOptions* session,
                            const sdk::Options& options) {
  const std::string_view name = options.Get("graph_optimization_level");
  if (name.empty()) return {};
  const auto level = std::ranges::find(kLevels, name, &LevelName::name);
  // The words of the command line have been checked against the declared values.
  if (level == std::end(kLevels)) {
    return InvalidArgument("graph_optimization_level: there is no level '" + std::string(name) +
                           "'");
  }
  return Take(api, api.table->SetSessionGraphOptimizationLevel(session, level->level));
}

// Idle ONNX Runtime threads keep spinning after each run and take CPU time from the other runner:
// two sessions side by side took twice as long.
Status CalmThreads(const Api& api, OrtSessionOptions* session) {
  for (const auto& [key, value] : {std::pair("session.force_spinning_stop", "1"),
                                   std::pair("session.intra_op.spin_duration_us", "1000")}) {
    VERNIER_TRY(Take(api, api.table->AddSessionConfigEntry(session, key, value)));
  }
  return {};
}

Status Configure(const Api& api, OrtSessionOptions* session, const vn_model& model,
                 const sdk::Options& options) {
  VERNIER_ASSIGN_OR_RETURN(const int intra, ThreadCount(options, "intra_op_threads"));
  VERNIER_ASSIGN_OR_RETURN(const int inter, ThreadCount(options, "inter_op_threads"));
  VERNIER_TRY(Take(api, api.table->SetIntraOpNumThreads(session, intra)));
  VERNIER_TRY(Take(api, api.table->SetInterOpNumThreads(session, inter)));
  if (options.Get("alone").empty()) VERNIER_TRY(CalmThreads(api, session));
  VERNIER_TRY(SetOptimizationLevel(api, session, options));
  if (const std::string path(options.Get("optimized_model")); !path.empty()) {
    VERNIER_TRY(Take(api, api.table->SetOptimizedModelFilePath(session, path.c_str())));
    // It warns that the file is good for this machine only.
    VERNIER_TRY(Take(api, api.table->SetSessionLogSeverityLevel(session, ORT_LOGGING_LEVEL_ERROR)));
  }
  if (const std::string path(options.Get("layer_times")); !path.empty()) {
    VERNIER_TRY(Take(api, api.table->EnableProfiling(session, path.c_str())));
  }
  if (model.bytes == nullptr) return {};
  // An edited model comes as bytes: ORT must know where its weights lie.
  std::string folder(sdk::View(model.external_data_dir));
  if (folder.empty()) {
    folder = std::filesystem::absolute(std::filesystem::path(sdk::View(model.path)))
                 .parent_path()
                 .string();
  }
  return Take(api,
              api.table->AddSessionConfigEntry(
                  session, "session.model_external_initializers_file_folder_path", folder.c_str()));
}

}  // namespace

Result<std::unique_ptr<sdk::Session>> OrtModelSession::Open(const Api& api, const sdk::Host& host,
                                                            const vn_model& model,
                                                            const sdk::Options& options) {
  OrtSessionOptions* raw = nullptr;
  VERNIER_TRY(Take(api, api.table->CreateSessionOptions(&raw)));
  const Handle<OrtSessionOptions> session_options(raw, api.table->ReleaseSessionOptions);
  VERNIER_TRY(Configure(api, raw, model, options));
  std::unique_ptr<OrtModelSession> session(new OrtModelSession(api, host));
  VERNIER_ASSIGN_OR_RETURN(session->providers_,
                           AppendProviders(api, raw, options.GetAll("providers")));
  host.Start("Creating ONNX-Runtime Inference Session with providers: " +
             Listed(session->providers_));
  VERNIER_TRY(session->Listen(raw, options));
  session->layer_times_path_ = std::string(options.Get("layer_times"));
  const std::string path(sdk::View(model.path));
  OrtSession* made = nullptr;
  VERNIER_TRY(Take(api, model.bytes != nullptr
                            ? api.table->CreateSessionFromArray(api.env, model.bytes,
                                                                model.byte_count, raw, &made)
                            : api.table->CreateSession(api.env, path.c_str(), raw, &made)));
  session->session_.reset(made);
  if (session->run_options_ != nullptr) session->placement_.LogPlacement(session->providers_);
  session->device_ = session->placement_.Device(session->providers_);
  if (const Status read = session->ReadSignature(); !read.ok()) {
    session->Close();
    return read;
  }
  session->FreeUndeclaredShapes(model);
  session->PlaceOutputs(session->outputs_, session->first_outputs_);
  return std::unique_ptr<sdk::Session>(std::move(session));
}

// ONNX Runtime reports rank 0 for inputs whose shape the file leaves out.
void OrtModelSession::FreeUndeclaredShapes(const vn_model& model) {
  for (size_t i = 0; i < model.input_count; ++i) {
    const vn_tensor& declared = *model.inputs[i];
    const auto spec = std::ranges::find(inputs_, sdk::View(declared.name), &sdk::TensorSpec::name);
    if (spec != inputs_.end() && declared.rank == VN_RANK_UNKNOWN) spec->rank_known = false;
  }
}

// CPU-only sessions need no placement log. The log callback receives every message, so the options
// of each run limit it to warnings.
Status OrtModelSession::Listen(OrtSessionOptions* options, const sdk::Options& given) {
  const bool others = std::any_of(providers_.begin(), providers_.end(),
                                  [](const std::string& name) { return name != kCpuProvider; });
  if (!others) return {};
  OrtRunOptions* raw = nullptr;
  VERNIER_TRY(Take(api_, api_.table->CreateRunOptions(&raw)));
  run_options_.reset(raw);
  VERNIER_TRY(Take(api_, api_.table->RunOptionsSetRunLogSeverityLevel(
                             raw, static_cast<int>(ORT_LOGGING_LEVEL_WARNING))));
  const bool quiet = !given.Get("optimized_model").empty();
  return placement_.Listen(api_, options,
                           quiet ? ORT_LOGGING_LEVEL_ERROR : ORT_LOGGING_LEVEL_WARNING);
}

// ONNX Runtime writes a file of its own: what is wanted is taken from it, and it is removed.
void OrtModelSession::Close() {
  if (layer_times_path_.empty()) return;
  char* name = nullptr;
  if (!Take(api_, api_.table->SessionEndProfiling(session_.get(), api_.allocator, &name)).ok())
    return;
  const std::string trace = name;
  (void)Take(api_, api_.table->AllocatorFree(api_.allocator, name));
  sdk::WriteLayerTimes(layer_times_path_, ReadTrace(trace));
  std::error_code ignored;
  std::filesystem::remove(trace, ignored);
}

Status OrtModelSession::ReadSignature() {
  size_t input_count = 0, output_count = 0;
  VERNIER_TRY(Take(api_, api_.table->SessionGetInputCount(session_.get(), &input_count)));
  VERNIER_TRY(Take(api_, api_.table->SessionGetOutputCount(session_.get(), &output_count)));
  for (size_t i = 0; i < input_count; ++i) {
    VERNIER_ASSIGN_OR_RETURN(sdk::TensorSpec spec,
                             ReadSpec(false, i, input_symbols_.emplace_back()));
    inputs_.push_back(std::move(spec));
  }
  for (size_t i = 0; i < output_count; ++i) {
    VERNIER_ASSIGN_OR_RETURN(sdk::TensorSpec spec,
                             ReadSpec(true, i, output_symbols_.emplace_back()));
    outputs_.push_back(std::move(spec));
  }
  for (const sdk::TensorSpec& spec : outputs_) output_names_.push_back(spec.name.c_str());
  for (const auto& symbols : output_symbols_) {
    for (const std::string& symbol : symbols) named_sizes_ |= !symbol.empty();
  }
  return {};
}

Result<sdk::TensorSpec> OrtModelSession::ReadSpec(bool is_output, size_t index,
                                                  std::vector<std::string>& symbols) {
  const OrtApi& table = *api_.table;
  char* name = nullptr;
  OrtTypeInfo* type = nullptr;
  VERNIER_TRY(Take(api_, (is_output ? table.SessionGetOutputName : table.SessionGetInputName)(
                             session_.get(), index, api_.allocator, &name)));
  sdk::TensorSpec spec;
  spec.name = name;
  (void)Take(api_, table.AllocatorFree(api_.allocator, name));
  VERNIER_TRY(
      Take(api_, (is_output ? table.SessionGetOutputTypeInfo : table.SessionGetInputTypeInfo)(
                     session_.get(), index, &type)));
  const Handle<OrtTypeInfo> owned(type, table.ReleaseTypeInfo);
  ONNXType kind{};
  VERNIER_TRY(Take(api_, table.GetOnnxTypeFromTypeInfo(type, &kind)));
  if (is_output) output_kinds_.push_back(kind);
  spec.skipped = WordFor(kind);
  if (!spec.skipped.empty() && !is_output) {
    VERNIER_ASSIGN_OR_RETURN(NestedInput nested, ReadNestedInput(api_, spec.name, type));
    nested_inputs_.push_back(std::move(nested));
  }
  if (!spec.skipped.empty()) return spec;
  const OrtTensorTypeAndShapeInfo* info = nullptr;
  VERNIER_TRY(Take(api_, table.CastTypeInfoToTensorInfo(type, &info)));
  if (info == nullptr)
    return BackendError("'" + spec.name + "' is declared as a tensor without a type");
  ONNXTensorElementDataType element{};
  size_t rank = 0;
  VERNIER_TRY(Take(api_, table.GetTensorElementType(info, &element)));
  VERNIER_TRY(Take(api_, table.GetDimensionsCount(info, &rank)));
  spec.dtype = FromOrt(element);
  spec.shape.resize(rank);
  VERNIER_TRY(Take(api_, table.GetDimensions(info, spec.shape.data(), rank)));
  std::vector<const char*> named(rank);
  VERNIER_TRY(Take(api_, table.GetSymbolicDimensions(info, named.data(), rank)));
  for (const char* symbol : named) symbols.emplace_back(symbol == nullptr ? "" : symbol);
  return spec;
}

// The outputs' declarations, with the sizes that dimensions of the same name have in these inputs.
std::vector<sdk::TensorSpec> OrtModelSession::OutputsFor(
    std::span<const vn_tensor* const> inputs) const {
  std::map<std::string_view, int64_t> sizes;
  for (const vn_tensor* input : inputs) {
    const auto spec = std::ranges::find(inputs_, sdk::View(input->name), &sdk::TensorSpec::name);
    if (spec == inputs_.end() || spec->shape.size() != input->rank) continue;
    const auto& symbols = input_symbols_[static_cast<size_t>(spec - inputs_.begin())];
    for (size_t i = 0; i < symbols.size(); ++i) {
      const auto [size, added] = sizes.emplace(symbols[i], input->shape[i]);
      if (!added && size->second != input->shape[i]) size->second = -1;
    }
  }
  sizes.erase("");
  std::vector<sdk::TensorSpec> outputs = outputs_;
  for (size_t output = 0; output < outputs.size(); ++output) {
    const auto& symbols = output_symbols_[output];
    for (size_t i = 0; i < symbols.size(); ++i) {
      const auto size = sizes.find(symbols[i]);
      if (outputs[output].shape[i] < 0 && size != sizes.end()) {
        outputs[output].shape[i] = size->second;
      }
    }
  }
  return outputs;
}

// The host's memory for outputs whose shape is known before; the others are made by ONNX Runtime.
void OrtModelSession::PlaceOutputs(std::span<const sdk::TensorSpec> specs,
                                   std::vector<Value>& values) const {
  for (size_t i = 0; i < specs.size(); ++i) {
    const sdk::TensorSpec& spec = specs[i];
    if (i == values.size()) values.emplace_back(api_);
    if (values[i].get() != nullptr) continue;
    const bool fixed =
        std::all_of(spec.shape.begin(), spec.shape.end(), [](int64_t dim) { return dim > 0; });
    const bool placed = places_outputs_ && fixed && spec.rank_known && spec.skipped.empty();
    if (!placed || spec.dtype == DType::kString || spec.dtype == DType::kUndefined) continue;
    uint64_t count = 1;
    bool overflow = false;
    for (const int64_t dim : spec.shape) {
      overflow |= __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count);
    }
    const std::optional<uint64_t> size = overflow ? std::nullopt : ByteSize(spec.dtype, count);
    void* const memory = size ? host_.OutputMemory(static_cast<size_t>(*size)) : nullptr;
    if (memory == nullptr) continue;
    Result<Value> over = ValueOver(api_, spec, memory, static_cast<size_t>(*size));
    if (over.ok()) std::swap(*values[i].slot(), *over->slot());
  }
}

Status OrtModelSession::Infer(const Names& names, const Pointers& inputs,
                              std::vector<Value>& outputs, double& seconds) {
  std::vector<OrtValue*> results;
  for (const Value& output : outputs) results.push_back(output.get());
  const auto start = std::chrono::steady_clock::now();
  const Status status =
      Take(api_, api_.table->Run(session_.get(), run_options_.get(), names.data(), inputs.data(),
                                 inputs.size(), output_names_.data(), output_names_.size(),
                                 results.data()));
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (size_t i = 0; i < outputs.size(); ++i) *outputs[i].slot() = results[i];
  return status;
}

bool OrtModelSession::IsInParts(std::string_view input) const {
  return std::ranges::any_of(
      nested_inputs_, [&](const NestedInput& nested) { return BelongsTo(input, nested.name); });
}

Result<sdk::RunOutcome> OrtModelSession::Run(std::span<const vn_tensor* const> inputs) {
  std::vector<Value> values;
  Pointers pointers;
  std::vector<std::string> names;
  Names name_pointers;
  values.reserve(inputs.size() + nested_inputs_.size());
  names.reserve(inputs.size() + nested_inputs_.size());
  const auto add = [&](Value value, std::string_view name) {
    values.push_back(std::move(value));
    pointers.push_back(values.back().get());
    names.emplace_back(name);
    name_pointers.push_back(names.back().c_str());
  };
  for (const vn_tensor* input : inputs) {
    if (IsInParts(sdk::View(input->name))) continue;
    VERNIER_ASSIGN_OR_RETURN(Value value, FromAbi(api_, *input));
    add(std::move(value), sdk::View(input->name));
  }
  for (const NestedInput& input : nested_inputs_) {
    VERNIER_ASSIGN_OR_RETURN(Value value, Assemble(api_, input, inputs));
    add(std::move(value), input.name);
  }
  sdk::RunOutcome outcome;
  std::vector<Value> outputs = std::exchange(first_outputs_, {});
  if (named_sizes_) {
    PlaceOutputs(OutputsFor(inputs), outputs);
  } else {
    PlaceOutputs(outputs_, outputs);
  }
  const bool placed = std::any_of(outputs.begin(), outputs.end(),
                                  [](const Value& value) { return value.get() != nullptr; });
  Status status = Infer(name_pointers, pointers, outputs, outcome.inference_seconds);
  if (!status.ok() && placed) {
    // A model may be wrong about the shapes of its outputs, which ONNX Runtime forgives only where
    // it makes them.
    places_outputs_ = false;
    outputs.clear();
    for (size_t i = 0; i < outputs_.size(); ++i) outputs.emplace_back(api_);
    status = Infer(name_pointers, pointers, outputs, outcome.inference_seconds);
  }
  VERNIER_TRY(std::move(status));
  for (size_t i = 0; i < outputs.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(sdk::OutputTensor output,
                             ToOutput(api_, outputs_[i].name, std::move(outputs[i]),
                                      output_kinds_[i] == ONNX_TYPE_OPTIONAL));
    outcome.outputs.push_back(std::move(output));
  }
  return outcome;
}

}  // namespace vernier::ort
