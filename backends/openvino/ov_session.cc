#include "ov_session.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node_order.h"
#include "ov_strings.h"
#include "runtime_model.h"
#include "vernier/layer_times.hpp"

namespace vernier::ov {
namespace {

namespace fs = std::filesystem;

// OpenVINO resolves the weights of a model that comes as bytes against the current folder. The
// process serves this backend alone, so changing it is safe.
class InFolder {
 public:
  explicit InFolder(const fs::path& folder) : before_(fs::current_path(error_)) {
    fs::current_path(folder, error_);
  }
  ~InFolder() { fs::current_path(before_, error_); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

 private:
  std::error_code error_;
  fs::path before_;
};

fs::path WeightsFolder(const vn_model& model) {
  const std::string_view named = sdk::View(model.external_data_dir);
  if (!named.empty()) return fs::path(named);
  return fs::absolute(fs::path(sdk::View(model.path))).parent_path();
}

Result<Handle<ov_model_t>> ReadModel(const Api& api, const ov_core_t* core, const vn_model& model) {
  ov_model_t* raw = nullptr;
  if (model.bytes != nullptr) {
    const InFolder folder(WeightsFolder(model));
    std::string_view bytes(static_cast<const char*>(model.bytes), model.byte_count);
    const std::optional<std::string> sorted = WithNodesInOrder(bytes);
    if (sorted) bytes = *sorted;
    VERNIER_TRY(Check(
        api,
        api.ov_core_read_model_from_memory_buffer(core, bytes.data(), bytes.size(), nullptr, &raw),
        "reading the model"));
  } else {
    const std::string path(sdk::View(model.path));
    if (::access(path.c_str(), R_OK) != 0) {
      return Malformed("'" + path + "' cannot be read: " + std::strerror(errno));
    }
    VERNIER_TRY(
        Check(api, api.ov_core_read_model(core, path.c_str(), nullptr, &raw), "reading the model"));
  }
  return Handle<ov_model_t>(raw, api.ov_model_free);
}

struct PrecisionName {
  const char* word;
  std::string_view name;
};
constexpr PrecisionName kPrecisions[] = {
#define VERNIER_OV_PRECISION(word, name) {#word, name},
#include "options.def"
};

// INFERENCE_PRECISION_HINT for a word of --openvino-precision; null for none.
Result<const char*> PrecisionProperty(std::string_view option) {
  std::string accepted;
  for (const PrecisionName& row : kPrecisions) {
    if (row.word == option) return &row == std::end(kPrecisions) - 1 ? nullptr : row.word;
    accepted += (accepted.empty() ? "" : ", ") + std::string(row.word);
  }
  return InvalidArgument("--openvino-precision: expected one of " + accepted + ", got '" +
                         std::string(option) + "'");
}

size_t CountElements(const vn_tensor& t) {
  size_t count = 1;
  for (uint32_t i = 0; i < t.rank; ++i) count *= static_cast<size_t>(t.shape[i]);
  return count;
}

// What whoever holds an output holds of its request, too.
std::shared_ptr<const void> Held(std::shared_ptr<ov_tensor_t> tensor,
                                 std::shared_ptr<const void> outputs) {
  using Both = std::pair<std::shared_ptr<ov_tensor_t>, std::shared_ptr<const void>>;
  return std::make_shared<Both>(std::move(tensor), std::move(outputs));
}

// Compiles with properties, which are names and values by turns. The C interface takes each as an
// argument of its own.
ov_status_e CompileWith(const Api& api, ov_core_t* core, const ov_model_t* model,
                        const std::string& device, const std::vector<const char*>& properties,
                        ov_compiled_model_t** compiled) {
  const auto compile = [&]<size_t... I>(std::index_sequence<I...>) {
    return api.ov_core_compile_model(core, model, device.c_str(), sizeof...(I), compiled,
                                     properties[I]...);
  };
  switch (properties.size()) {
    case 0:
      return compile(std::make_index_sequence<0>());
    case 2:
      return compile(std::make_index_sequence<2>());
    case 4:
      return compile(std::make_index_sequence<4>());
    case 6:
      return compile(std::make_index_sequence<6>());
    default:
      return compile(std::make_index_sequence<8>());
  }
}

}  // namespace

std::string ShownPrecision(std::string_view property) {
  for (const PrecisionName& row : kPrecisions) {
    if (row.word == property) return std::string(row.name);
  }
  return std::string(property);
}

Result<std::unique_ptr<sdk::Session>> OvModelSession::Open(const Api& api, ov_core_t* core,
                                                           const vn_model& model,
                                                           const sdk::Options& options) {
  VERNIER_ASSIGN_OR_RETURN(const Handle<ov_model_t> source, ReadModel(api, core, model));
  std::unique_ptr<OvModelSession> session(new OvModelSession(api));
  session->keeps_state_ = KeepsVariables(model);
  VERNIER_TRY(session->ReadSignature(source.get(), model));
  VERNIER_TRY(session->Compile(core, source.get(), options));
  if (const std::string path(options.Get("layer_names")); !path.empty()) {
    sdk::WriteLayerTimes(path, ReadKernels(api, session->compiled_.get(), path));
  }
  return std::unique_ptr<sdk::Session>(std::move(session));
}

Status OvModelSession::ReadSignature(const ov_model_t* source, const vn_model& model) {
  size_t input_count = 0, output_count = 0;
  VERNIER_TRY(Check(api_, api_.ov_model_inputs_size(source, &input_count), "reading the inputs"));
  VERNIER_TRY(
      Check(api_, api_.ov_model_outputs_size(source, &output_count), "reading the outputs"));
  for (size_t i = 0; i < input_count; ++i) {
    VERNIER_ASSIGN_OR_RETURN(sdk::TensorSpec spec, ReadPort(source, false, i));
    inputs_.push_back(std::move(spec));
  }
  for (size_t i = 0; i < output_count; ++i) {
    VERNIER_ASSIGN_OR_RETURN(sdk::TensorSpec spec, ReadPort(source, true, i));
    outputs_.push_back(std::move(spec));
  }
  // A port that several tensors were folded into has several names and gives any one of them; the
  // order of outputs is the graph's, so the graph's names are the right ones.
  if (model.output_count == output_count) {
    for (size_t i = 0; i < output_count; ++i) outputs_[i].name = sdk::View(model.outputs[i]);
  }
  if (model.input_count == input_count) {
    for (size_t i = 0; i < input_count; ++i) inputs_[i].name = sdk::View(model.inputs[i]->name);
  }
  return {};
}

Result<sdk::TensorSpec> OvModelSession::ReadPort(const ov_model_t* source, bool is_output,
                                                 size_t index) const {
  ov_output_const_port_t* raw = nullptr;
  VERNIER_TRY(Check(api_,
                    (is_output ? api_.ov_model_const_output_by_index
                               : api_.ov_model_const_input_by_index)(source, index, &raw),
                    "reading the signature"));
  const Handle<ov_output_const_port_t> port(raw, api_.ov_output_const_port_free);
  sdk::TensorSpec spec;
  char* name = nullptr;
  // A port without a name is possible; its position names it.
  if (api_.ov_port_get_any_name(raw, &name) == OK) {
    spec.name = name;
    api_.ov_free(name);
  } else {
    spec.name = (is_output ? "output_" : "input_") + std::to_string(index);
  }
  ov_element_type_e type{};
  ov_partial_shape_t shape{};
  VERNIER_TRY(Check(api_, api_.ov_port_get_element_type(raw, &type), "reading the signature"));
  VERNIER_TRY(Check(api_, api_.ov_port_get_partial_shape(raw, &shape), "reading the signature"));
  spec.dtype = FromOv(type);
  spec.rank_known = shape.rank.min == shape.rank.max && shape.rank.min >= 0;
  for (int64_t i = 0; spec.rank_known && i < shape.rank.min; ++i) {
    const ov_dimension_t dim = shape.dims[i];
    spec.shape.push_back(dim.min == dim.max && dim.min >= 0 ? dim.min : -1);
  }
  api_.ov_partial_shape_free(&shape);
  return spec;
}

Status OvModelSession::Compile(ov_core_t* core, const ov_model_t* source,
                               const sdk::Options& options) {
  device_ = std::string(options.Get("device", "CPU"));
  // Without the hint, CPUs with AMX compute in bfloat16 and every comparison fails.
  VERNIER_ASSIGN_OR_RETURN(const char* precision,
                           PrecisionProperty(options.Get("precision", kDefaultPrecision)));
  layer_times_path_ = std::string(options.Get("layer_times"));
  ov_compiled_model_t* compiled = nullptr;
  const std::string threads(options.Get("threads"));
  // Names and values by turns: the C interface takes them as separate arguments.
  std::vector<const char*> set;
  if (precision != nullptr) set.insert(set.end(), {"INFERENCE_PRECISION_HINT", precision});
  if (!threads.empty()) set.insert(set.end(), {"INFERENCE_NUM_THREADS", threads.c_str()});
  if (!layer_times_path_.empty()) set.insert(set.end(), {"PERF_COUNT", "YES"});
  // Unless that is turned off, OpenVINO's CPU device quantises to 8 bits what it multiplies with
  // weights of 8 bits, which moves results by 1 to 3 %: no float32. Releases before 2024.1 have no
  // such property.
  const bool float32 = precision != nullptr && std::string_view(precision) == "f32";
  std::vector<const char*> exact = set;
  if (float32) exact.insert(exact.end(), {"DYNAMIC_QUANTIZATION_GROUP_SIZE", "0"});
  ov_status_e status = CompileWith(api_, core, source, device_, exact, &compiled);
  if (status != OK && exact.size() != set.size()) {
    status = CompileWith(api_, core, source, device_, set, &compiled);
  }
  if (Status compiled_status = Check(api_, status, "compiling for " + device_);
      !compiled_status.ok()) {
    const bool no_device = compiled_status.message().find("is not registered") != std::string::npos;
    return no_device
               ? InvalidArgument("--openvino-device: OpenVINO has no device '" + device_ + "'")
               : compiled_status;
  }
  compiled_.reset(compiled);
  char* really_used = nullptr;
  if (api_.ov_compiled_model_get_property(compiled, "INFERENCE_PRECISION_HINT", &really_used) ==
      OK) {
    precision_ = ShownPrecision(really_used);
    api_.ov_free(really_used);
  }
  return TakeFreeRequest();
}

Result<Handle<ov_infer_request_t>> OvModelSession::MakeRequest() const {
  ov_infer_request_t* request = nullptr;
  VERNIER_TRY(Check(api_, api_.ov_compiled_model_create_infer_request(compiled_.get(), &request),
                    "making an inference request"));
  return Handle<ov_infer_request_t>(request, api_.ov_infer_request_free);
}

// A request whose outputs are no longer in use comes first.
Status OvModelSession::TakeFreeRequest() {
  const auto found = std::ranges::find_if(requests_, &Request::free);
  if (found != requests_.end()) {
    std::rotate(requests_.begin(), found, found + 1);
    return {};
  }
  VERNIER_ASSIGN_OR_RETURN(Handle<ov_infer_request_t> made, MakeRequest());
  requests_.insert(requests_.begin(), Request{std::move(made), nullptr});
  return {};
}

// The C interface lacks reset_state; the state is a request's own.
Status OvModelSession::Reset() {
  if (!keeps_state_) return NotFound("the model keeps no state");
  VERNIER_ASSIGN_OR_RETURN(Handle<ov_infer_request_t> made, MakeRequest());
  requests_.clear();
  requests_.push_back({std::move(made), nullptr});
  return {};
}

void OvModelSession::Close() {
  if (layer_times_path_.empty()) return;
  const double runs = static_cast<double>(std::max<int64_t>(1, runs_ - 1));
  std::vector<sdk::LayerTime> layers;
  for (const auto& [layer, seconds] : layer_seconds_) {
    layers.push_back({layer.first, layer.second, seconds / runs});
  }
  sdk::WriteLayerTimes(layer_times_path_, layers);
}

// OpenVINO reports the last inference only.
void OvModelSession::CollectLayerTimes() {
  if (layer_times_path_.empty() || ++runs_ == 1) return;
  ov_profiling_info_list_t list{};
  if (api_.ov_infer_request_get_profiling_info(requests_.front().handle.get(), &list) != OK) return;
  for (size_t i = 0; i < list.size; ++i) {
    const ov_profiling_info_t& info = list.profiling_infos[i];
    if (info.status != ov_profiling_info_t::EXECUTED) continue;
    layer_seconds_[{info.node_name, info.node_type}] += static_cast<double>(info.real_time) * 1e-6;
  }
  api_.ov_profiling_info_list_free(&list);
}

Status OvModelSession::SetInput(size_t index, const vn_tensor& tensor) {
  const std::optional<DType> dtype = FromAbi(tensor.dtype_code, tensor.dtype_bits);
  if (!dtype || ToOv(*dtype) == DYNAMIC) {
    return InvalidArgument("input '" + inputs_[index].name +
                           "' has an element type that OpenVINO does not have");
  }
  ov_shape_t shape{};  // a scalar's, which ov_shape_create refuses to make
  if (tensor.rank > 0) {
    VERNIER_TRY(
        Check(api_, api_.ov_shape_create(tensor.rank, tensor.shape, &shape), "making a shape"));
  }
  ov_tensor_t* raw = nullptr;
  Status status;
  if (*dtype == DType::kString) {
    status = Check(api_, api_.ov_tensor_create(STRING, shape, &raw), "making an input");
    void* strings = nullptr;
    if (const size_t count = CountElements(tensor); status.ok() && count > 0) {
      status = Check(api_, api_.ov_tensor_data(raw, &strings), "filling an input");
      if (status.ok()) StringsFromArrow(tensor, count, strings);
    }
  } else {
    static char nothing;  // an empty tensor may have a null pointer, which OpenVINO refuses
    void* data = tensor.data != nullptr ? tensor.data : &nothing;
    status = Check(api_, api_.ov_tensor_create_from_host_ptr(ToOv(*dtype), shape, data, &raw),
                   "making an input");
  }
  if (tensor.rank > 0) api_.ov_shape_free(&shape);
  const Handle<ov_tensor_t> owned(raw, api_.ov_tensor_free);
  VERNIER_TRY(status);
  return Check(
      api_,
      api_.ov_infer_request_set_input_tensor_by_index(requests_.front().handle.get(), index, raw),
      "setting input '" + inputs_[index].name + "'");
}

Result<sdk::OutputTensor> OvModelSession::GetOutput(size_t index) {
  ov_tensor_t* raw = nullptr;
  ov_infer_request_t* const request = requests_.front().handle.get();
  VERNIER_TRY(Check(api_, api_.ov_infer_request_get_output_tensor_by_index(request, index, &raw),
                    "getting output '" + outputs_[index].name + "'"));
  const std::shared_ptr<ov_tensor_t> owned(raw, api_.ov_tensor_free);
  sdk::OutputTensor output;
  output.name = outputs_[index].name;
  ov_shape_t shape{};
  ov_element_type_e type{};
  void* data = nullptr;
  VERNIER_TRY(Check(api_, api_.ov_tensor_get_element_type(raw, &type), "reading an output"));
  // The C interface cannot express the shape of a scalar and calls it an invalid parameter.
  const ov_status_e shaped = api_.ov_tensor_get_shape(raw, &shape);
  if (shaped != INVALID_C_PARAM) VERNIER_TRY(Check(api_, shaped, "reading an output"));
  size_t count = 1;
  for (int64_t i = 0; i < shape.rank; ++i) {
    output.shape.push_back(shape.dims[i]);
    count *= static_cast<size_t>(shape.dims[i]);
  }
  api_.ov_shape_free(&shape);
  output.dtype = FromOv(type);
  if (output.dtype == DType::kUndefined) {
    output.skipped = "an element type that is not supported (OpenVINO's number " +
                     std::to_string(static_cast<int>(type)) + ")";
    return output;
  }
  if (count > 0) VERNIER_TRY(Check(api_, api_.ov_tensor_data(raw, &data), "reading an output"));
  if (output.dtype == DType::kString) {
    const auto arrow = ArrowFromStrings(data, count);
    output.data = arrow->data();
    output.byte_size = arrow->size();
    output.keep_alive = arrow;
    return output;
  }
  output.data = data;
  output.byte_size = static_cast<size_t>(*ByteSize(output.dtype, count));
  output.keep_alive = Held(owned, requests_.front().outputs);
  return output;
}

Result<sdk::RunOutcome> OvModelSession::Run(std::span<const vn_tensor* const> inputs) {
  if (!keeps_state_) VERNIER_TRY(TakeFreeRequest());
  requests_.front().outputs = std::make_shared<char>();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const vn_tensor* t) {
      return sdk::View(t->name) == inputs_[i].name;
    });
    if (found == inputs.end()) {
      return InvalidArgument("input '" + inputs_[i].name + "' was not supplied");
    }
    VERNIER_TRY(SetInput(i, **found));
  }
  const auto start = std::chrono::steady_clock::now();
  VERNIER_TRY(
      Check(api_, api_.ov_infer_request_infer(requests_.front().handle.get()), "inference"));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  sdk::RunOutcome outcome;
  outcome.inference_seconds = elapsed.count();
  CollectLayerTimes();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(sdk::OutputTensor output, GetOutput(i));
    outcome.outputs.push_back(std::move(output));
  }
  return outcome;
}

}  // namespace vernier::ov
