#include "tf_session.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "event_file.h"
#include "mapped_graph.h"
#include "session_config.h"
#include "step_trace.h"

namespace vernier::tf {
namespace {

namespace fs = std::filesystem;

bool SameTensor(TF_Output a, TF_Output b) { return a.oper == b.oper && a.index == b.index; }

// "x" of a host that knows the ONNX twin of the graph is the tensor "x:0".
bool SameName(std::string_view a, std::string_view b) {
  if (a.ends_with(":0")) a.remove_suffix(2);
  if (b.ends_with(":0")) b.remove_suffix(2);
  return a == b;
}

std::string ShapeText(std::span<const int64_t> shape) {
  std::string text = "(";
  for (const int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += size < 0 ? "?" : std::to_string(size);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

bool ShapeFits(std::span<const int64_t> actual, const sdk::TensorSpec& spec) {
  return !spec.rank_known || std::equal(actual.begin(), actual.end(), spec.shape.begin(),
                                        spec.shape.end(), [](int64_t size, int64_t declared) {
                                          return declared < 0 || size == declared;
                                        });
}

Result<LoadedGraph> LoadFrozen(const Api& api, const vn_model& model, const SessionConfig& config) {
  const std::string path(sdk::View(model.path));
  LoadedGraph loaded(api);
  if (model.bytes != nullptr) {
    const std::string_view bytes(static_cast<const char*>(model.bytes), model.byte_count);
    VERNIER_TRY(ImportGraph(api, bytes, path, loaded.graph.get()));
  } else {
    VERNIER_ASSIGN_OR_RETURN(const MappedGraph file, MappedGraph::Open(path));
    VERNIER_TRY(ImportGraph(api, file.bytes(), path, loaded.graph.get()));
  }
  VERNIER_ASSIGN_OR_RETURN(loaded.session, NewSession(api, loaded.graph.get(), config));
  return loaded;
}

Result<LoadedGraph> Load(const Api& api, const vn_model& model, const sdk::Options& options,
                         const SessionConfig& config) {
  const fs::path path(sdk::View(model.path));
  std::error_code error;
  const bool in_memory = model.bytes != nullptr;
  const std::string ckpt(options.Get("ckpt"));
  const std::string_view signature = options.Get("signature");
  if (!in_memory && ckpt.empty() && IsSavedModel(path.string())) {
    return LoadSavedModel(api, path.string(), signature, config);
  }
  // The file that makes a folder a SavedModel, named itself.
  if (!in_memory && path.filename() == "saved_model.pb" &&
      IsSavedModel(path.parent_path().string())) {
    return LoadSavedModel(api, path.parent_path().string(), signature, config);
  }
  const bool folder = !in_memory && fs::is_directory(path, error);
  if (!ckpt.empty() || folder || options.Get("model_type") == "ckpt") {
    return LoadCheckpoint(api, path.string(), ckpt, config);
  }
  if (!in_memory && IsCheckpointFile(path.string())) {
    const fs::path name = path.extension() == ".meta" ? path.stem() : path.filename();
    return LoadCheckpoint(api, path.parent_path().string(), name.string(), config);
  }
  return LoadFrozen(api, model, config);
}

}  // namespace

Result<std::unique_ptr<sdk::Session>> TfModelSession::Open(const Api& api, const vn_model& model,
                                                           const sdk::Options& options,
                                                           const sdk::Host& host) {
  VERNIER_ASSIGN_OR_RETURN(const SessionConfig config, ConfigFrom(options));
  VERNIER_ASSIGN_OR_RETURN(LoadedGraph loaded, Load(api, model, options, config));
  if (!options.Get("signature").empty() && loaded.outputs.empty()) {
    host.Warning("--tf-signature has no effect on '" + std::string(sdk::View(model.path)) +
                 "', which is not a SavedModel");
  }
  std::unique_ptr<TfModelSession> session(new TfModelSession(api, std::move(loaded)));
  VERNIER_TRY(session->ChooseTensors(model, options));
  if (!options.Get("freeze_graph").empty()) VERNIER_TRY(session->Freeze(config));
  VERNIER_TRY(session->Prepare());
  VERNIER_TRY(session->SaveGraph(options, host));
  VERNIER_TRY(session->ReadDevice());
  session->timeline_folder_ = options.Get("save_timeline");
  if (!session->timeline_folder_.empty()) {
    host.Warning("Profiling is enabled. This will impact performance");
  }
  return std::unique_ptr<sdk::Session>(std::move(session));
}

Status TfModelSession::ChooseTensors(const vn_model& model, const sdk::Options& options) {
  inputs_ = loaded_.inputs.empty() ? FindInputs(api_, loaded_.graph.get(), loaded_.rules)
                                   : loaded_.inputs;
  for (GraphTensor& input : inputs_) {
    for (size_t i = 0; i < model.input_count; ++i) {
      const std::string_view name = sdk::View(model.inputs[i]->name);
      if (SameName(name, input.spec.name)) input.spec.name = name;
    }
  }
  return ChooseOutputs(model, options.GetAll("outputs"));
}

Status TfModelSession::ChooseOutputs(const vn_model& model, const std::vector<std::string>& names) {
  TF_Graph* graph = loaded_.graph.get();
  const bool all = names == std::vector<std::string>{"*"};
  if (all) {
    outputs_ = AllTensors(api_, graph, loaded_.rules, not_exposed_);
  } else if (names.empty() && model.output_count == 0) {
    outputs_ = loaded_.outputs.empty() ? FindOutputs(api_, graph, loaded_.rules) : loaded_.outputs;
  }
  std::vector<std::string> wanted = all ? std::vector<std::string>() : names;
  for (size_t i = 0; names.empty() && i < model.output_count; ++i) {
    wanted.emplace_back(sdk::View(model.outputs[i]));
  }
  for (const std::string& name : wanted) {
    const auto known = std::find_if(loaded_.outputs.begin(), loaded_.outputs.end(),
                                    [&](const GraphTensor& t) { return t.spec.name == name; });
    if (known != loaded_.outputs.end()) {
      outputs_.push_back(*known);
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(const TF_Output output, FindTensor(api_, graph, name));
    outputs_.push_back(Describe(api_, graph, output, name));
  }
  if (!outputs_.empty()) return {};
  return Malformed(
      "the graph has no outputs: nothing in it has inputs and no consumers; name some "
      "with --tf-outputs");
}

// Everything that is used is looked up anew, by its name, in the graph of constants.
Status TfModelSession::Freeze(const SessionConfig& config) {
  VERNIER_ASSIGN_OR_RETURN(LoadedGraph frozen, FreezeGraph(api_, loaded_, outputs_, config));
  const auto move_over = [&](std::vector<GraphTensor>& tensors) {
    std::vector<GraphTensor> moved;
    for (const GraphTensor& tensor : tensors) {
      const Result<TF_Output> output =
          FindTensor(api_, frozen.graph.get(), TensorName(api_, tensor.output));
      // An input that no output needs is gone.
      if (!output.ok()) continue;
      moved.push_back(Describe(api_, frozen.graph.get(), *output, tensor.spec.name));
    }
    tensors = std::move(moved);
  };
  move_over(inputs_);
  move_over(outputs_);
  loaded_ = std::move(frozen);
  return {};
}

Status TfModelSession::Prepare() {
  for (const GraphTensor& input : inputs_) {
    if (!input.spec.skipped.empty()) {
      return Unimplemented("input '" + input.spec.name + "' of the graph is a " +
                           input.spec.skipped + ", which cannot be fed");
    }
    input_specs_.push_back(input.spec);
    feeds_.push_back(input.output);
  }
  for (const GraphTensor& output : outputs_) {
    output_specs_.push_back(output.spec);
    if (FedInput(output.output) == inputs_.size()) fetches_.push_back(output.output);
  }
  return {};
}

// TensorFlow refuses to hand out what it was fed.
size_t TfModelSession::FedInput(TF_Output output) const {
  const auto found = std::find_if(inputs_.begin(), inputs_.end(), [&](const GraphTensor& input) {
    return SameTensor(input.output, output);
  });
  return static_cast<size_t>(found - inputs_.begin());
}

Status TfModelSession::SaveGraph(const sdk::Options& options, const sdk::Host& host) const {
  const std::string path(options.Get("save_pb"));
  const std::string folder(options.Get("save_tensorboard"));
  if (path.empty() && folder.empty()) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::string graph_def, GraphDefOf(api_, loaded_.graph.get()));
  if (!path.empty()) {
    host.Info("Saving to " + path);
    VERNIER_TRY(WriteWhole(path, graph_def));
  }
  if (folder.empty()) return {};
  host.Info("Writing tensorboard events to " + folder);
  return WriteGraphEvents(folder, graph_def).status();
}

Status TfModelSession::ReadDevice() {
  info_.precision = PrecisionOf(api_, loaded_.graph.get());
  info_.device = "CPU";
  const Outcome outcome(api_);
  const Handle<TF_DeviceList> devices(
      api_.TF_SessionListDevices(loaded_.session.get(), outcome.get()), api_.TF_DeleteDeviceList);
  VERNIER_TRY(outcome.Check(StatusCode::kBackend, "listing the devices"));
  for (int i = 0; i < api_.TF_DeviceListCount(devices.get()); ++i) {
    const char* type = api_.TF_DeviceListType(devices.get(), i, outcome.get());
    if (outcome.ok() && type != nullptr && std::string_view(type) == "GPU") info_.device = "GPU";
  }
  return {};
}

Result<const vn_tensor*> TfModelSession::InputFor(const GraphTensor& input,
                                                  std::span<const vn_tensor* const> feed) const {
  const sdk::TensorSpec& spec = input.spec;
  const auto found = std::find_if(feed.begin(), feed.end(), [&](const vn_tensor* tensor) {
    return SameName(sdk::View(tensor->name), spec.name);
  });
  if (found == feed.end()) return InvalidArgument("input '" + spec.name + "' was not supplied");
  const vn_tensor& tensor = **found;
  const DType dtype = FromAbi(tensor.dtype_code, tensor.dtype_bits).value_or(DType::kUndefined);
  const std::span<const int64_t> shape(tensor.shape, tensor.rank);
  if (dtype == spec.dtype && ShapeFits(shape, spec)) return &tensor;
  return InvalidArgument("input '" + spec.name + "' is " + std::string(DTypeName(spec.dtype)) +
                         (spec.rank_known ? " of shape " + ShapeText(spec.shape) : "") +
                         ", and was given " + std::string(DTypeName(dtype)) + " of shape " +
                         ShapeText(shape));
}

Status TfModelSession::Infer(const std::vector<TensorHandle>& values,
                             std::vector<TensorHandle>& results) {
  std::vector<TF_Tensor*> in, out(fetches_.size());
  for (const TensorHandle& value : values) in.push_back(value.get());
  const bool traced = !timeline_folder_.empty();
  const std::string options = traced ? TraceOptions() : "";
  const TF_Buffer run_options{options.data(), options.size(), nullptr};
  const Handle<TF_Buffer> metadata(traced ? api_.TF_NewBuffer() : nullptr, api_.TF_DeleteBuffer);
  const Outcome outcome(api_);
  api_.TF_SessionRun(loaded_.session.get(), traced ? &run_options : nullptr, feeds_.data(),
                     in.data(), static_cast<int>(in.size()), fetches_.data(), out.data(),
                     static_cast<int>(out.size()), nullptr, 0, metadata.get(), outcome.get());
  for (TF_Tensor* tensor : out) results.emplace_back(tensor, api_.TF_DeleteTensor);
  VERNIER_TRY(outcome.Check(StatusCode::kBackend, "inference"));
  return traced ? SaveTrace(*metadata) : Status();
}

Status TfModelSession::SaveTrace(const TF_Buffer& metadata) {
  const std::string path = timeline_folder_ + "/run-" + std::to_string(runs_);
  return WriteWhole(path, ChromeTrace({static_cast<const char*>(metadata.data), metadata.length}));
}

Result<sdk::RunOutcome> TfModelSession::Run(std::span<const vn_tensor* const> inputs) {
  std::vector<const vn_tensor*> fed;
  FedTensors tensors;
  std::vector<TensorHandle> values;
  for (const GraphTensor& input : inputs_) {
    VERNIER_ASSIGN_OR_RETURN(const vn_tensor* tensor, InputFor(input, inputs));
    VERNIER_ASSIGN_OR_RETURN(TensorHandle value, tensors.Make(api_, *tensor, memory_));
    fed.push_back(tensor);
    values.push_back(std::move(value));
  }
  std::vector<TensorHandle> results;
  const auto start = std::chrono::steady_clock::now();
  VERNIER_TRY(Infer(values, results));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  values.clear();
  ++runs_;
  sdk::RunOutcome outcome;
  outcome.inference_seconds = elapsed.count();
  auto result = results.begin();
  for (const GraphTensor& output : outputs_) {
    if (const size_t input = FedInput(output.output); input < fed.size()) {
      outcome.outputs.push_back(CopyOf(*fed[input], output.spec.name));
      continue;
    }
    outcome.outputs.push_back(FromTensor(api_, output.spec.name, std::move(*result++)));
    for (const vn_tensor* tensor : fed) DetachFrom(*tensor, outcome.outputs.back());
  }
  VERNIER_TRY(CheckReturned(tensors));
  return outcome;
}

// The host's memory is ours for the length of a run.
Status TfModelSession::CheckReturned(const FedTensors& fed) {
  using std::chrono_literals::operator""ms;
  if (memory_ == FedTensors::Memory::kLend) {
    if (fed.AllReturned(1000ms)) return {};
    return BackendError("the graph keeps an input in this run, and did not in the first one");
  }
  if (runs_ == 1 && fed.AllReturned(20ms)) memory_ = FedTensors::Memory::kLend;
  return {};
}

}  // namespace vernier::tf
