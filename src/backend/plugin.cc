#include "backend/plugin.h"

#include <dlfcn.h>

#include <deque>
#include <vector>

#include "vernier/backend_dtype.h"

// The status that the host makes for a plug-in. Complete only here: a plug-in sees a pointer.
struct vn_status {
  vernier::Status status;
};

namespace vernier {
namespace {

std::string_view View(vn_str text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}
vn_str Str(std::string_view text) { return {text.data(), text.size()}; }

Status Take(vn_status* status) {
  if (status == nullptr) return {};
  const std::unique_ptr<vn_status> owned(status);
  return std::move(owned->status);
}

vn_status* NewStatus(void*, int32_t code, vn_str message) noexcept {
  const bool known = code > 0 && code <= static_cast<int32_t>(StatusCode::kInternal);
  return new vn_status{
      {known ? static_cast<StatusCode>(code) : StatusCode::kBackend, std::string(View(message))}};
}

void Log(void* self, int32_t severity, vn_str message) noexcept {
  (*static_cast<PluginLog*>(self))(severity, View(message));
}

// The parent ends a run by killing the worker, so there is nothing to ask while it lives.
int32_t NotCancelled(void*) noexcept { return 0; }

std::vector<vn_option> ToAbiOptions(const OptionList& options) {
  std::vector<vn_option> out;
  out.reserve(options.size());
  for (const auto& [key, value] : options) out.push_back({Str(key), Str(value)});
  return out;
}

// Signatures and feeds in the boundary's terms, with the storage that they borrow.
class AbiTensors {
 public:
  void Add(const TensorInfo& info) {
    std::vector<int64_t>& shape = shapes_.emplace_back();
    if (info.shape) {
      for (const Dim& dim : *info.shape) shape.push_back(dim.value);
    }
    vn_tensor& t = Make(info.name, info.dtype);
    t.rank = info.shape ? static_cast<uint32_t>(shape.size()) : VN_RANK_UNKNOWN;
    t.shape = shape.data();
  }

  void Add(const NamedTensor& entry) {
    vn_tensor& t = Make(entry.name, entry.tensor.dtype());
    t.rank = static_cast<uint32_t>(entry.tensor.dims().size());
    t.shape = entry.tensor.dims().data();
    t.data = const_cast<std::byte*>(entry.tensor.bytes().data());
    t.byte_size = entry.tensor.bytes().size();
  }

  std::span<const vn_tensor* const> pointers() const { return pointers_; }

 private:
  vn_tensor& Make(std::string_view name, DType dtype) {
    vn_tensor& t = tensors_.emplace_back();
    const AbiDType abi = ToAbi(dtype);
    t.struct_size = sizeof(t);
    t.name = Str(name);
    t.dtype_code = abi.code;
    t.dtype_bits = abi.bits;
    t.dtype_lanes = 1;
    t.device_type = VN_DEVICE_CPU;
    pointers_.push_back(&t);
    return t;
  }

  // Deques: earlier elements stay where they are.
  std::deque<vn_tensor> tensors_;
  std::deque<std::vector<int64_t>> shapes_;
  std::vector<const vn_tensor*> pointers_;
};

TensorInfo FromAbiSignature(const vn_tensor& t) {
  TensorInfo info;
  info.name = std::string(View(t.name));
  info.dtype = FromAbi(t.dtype_code, t.dtype_bits).value_or(DType::kUndefined);
  if (t.rank == VN_RANK_UNKNOWN) return info;
  info.shape.emplace();
  for (uint32_t i = 0; i < t.rank; ++i) info.shape->push_back({t.shape[i], {}});
  return info;
}

// Outputs of one run; whatever happens, each is released once.
class OutputSet {
 public:
  explicit OutputSet(size_t capacity) : pointers_(capacity, nullptr) {}
  ~OutputSet() {
    for (vn_tensor* t : pointers_) {
      if (t != nullptr && t->release != nullptr) t->release(t);
    }
  }
  OutputSet(const OutputSet&) = delete;
  OutputSet& operator=(const OutputSet&) = delete;

  vn_tensor** data() { return pointers_.data(); }
  std::span<vn_tensor* const> tensors() const { return pointers_; }

 private:
  std::vector<vn_tensor*> pointers_;
};

void AddOutput(const vn_tensor& t, TensorBlockBuilder& builder) {
  if (t.dtype_code == VN_DTYPE_SKIPPED) {
    builder.AddSkipped(View(t.name), View(t.note));
    return;
  }
  const std::optional<DType> dtype = FromAbi(t.dtype_code, t.dtype_bits);
  if (!dtype || t.dtype_lanes != 1 || t.device_type != VN_DEVICE_CPU) {
    builder.AddSkipped(View(t.name), "its element type or device is not supported");
    return;
  }
  builder.Add(View(t.name), *dtype, std::span(t.shape, t.rank),
              std::span(static_cast<const std::byte*>(t.data), t.byte_size));
}

}  // namespace

Result<SessionDescription> PluginSession::Describe() {
  SessionDescription description;
  for (const bool is_output : {false, true}) {
    std::vector<TensorInfo>& list = is_output ? description.outputs : description.inputs;
    size_t index = 0;
    for (;; ++index) {
      vn_tensor t{};
      const Status status = Take(api_->signature(session_, is_output ? 1 : 0, index, &t));
      if (status.code() == StatusCode::kNotFound) break;
      VERNIER_TRY(status);
      if (t.dtype_code == VN_DTYPE_SKIPPED) {
        description.not_exposed.push_back({std::string(View(t.name)), std::string(View(t.note))});
      } else {
        list.push_back(FromAbiSignature(t));
      }
    }
    if (is_output) output_count_ = index;
  }
  if (VN_HAS(api_, vn_backend_api, not_exposed_at)) {
    vn_str name{}, why{};
    for (size_t i = 0; Take(api_->not_exposed_at(session_, i, &name, &why)).ok(); ++i) {
      description.not_exposed.push_back({std::string(View(name)), std::string(View(why))});
    }
  }
  if (VN_HAS(api_, vn_backend_api, info)) {
    vn_session_info info{};
    info.struct_size = sizeof(info);
    VERNIER_TRY(Take(api_->info(session_, &info)));
    description.precision = std::string(View(info.precision));
    description.device = std::string(View(info.device));
  }
  return description;
}

Result<PluginSession::Outcome> PluginSession::Run(const TensorMap& inputs) {
  AbiTensors feed;
  for (const NamedTensor& input : inputs) feed.Add(input);
  OutputSet outputs(output_count_);
  size_t count = 0;
  vn_run_stats stats{};
  stats.struct_size = sizeof(stats);
  VERNIER_TRY(Take(api_->run(session_, feed.pointers().data(), feed.pointers().size(),
                             outputs.data(), output_count_, &count, &stats)));
  if (count > output_count_) return BackendError("the backend returned more outputs than it has");
  TensorBlockBuilder builder;
  for (const vn_tensor* t : outputs.tensors().first(count)) AddOutput(*t, builder);
  Outcome outcome;
  outcome.inference_seconds = stats.inference_seconds;
  VERNIER_ASSIGN_OR_RETURN(outcome.outputs, builder.Finish());
  return outcome;
}

Plugin::Plugin(PluginLog log) : log_(std::move(log)) {
  host_ = {sizeof(vn_host), VN_ABI_MAJOR, VN_ABI_MINOR, &log_, &NewStatus, &Log, &NotCancelled};
}

Plugin::~Plugin() {
  if (backend_ != nullptr) api_->destroy(backend_);
}

Result<std::unique_ptr<Plugin>> Plugin::Load(const LoadRequest& request, PluginLog log) {
  void* library = ::dlopen(request.plugin_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Unavailable("the plug-in '" + request.plugin_path + "' cannot be loaded: " + ::dlerror());
  }
  const auto query =
      reinterpret_cast<vn_backend_query_fn>(::dlsym(library, VN_QUERY_SYMBOL));
  if (query == nullptr) {
    return Unavailable("'" + request.plugin_path + "' is not a vernier plug-in: it does not export " +
                       VN_QUERY_SYMBOL);
  }
  std::unique_ptr<Plugin> plugin(new Plugin(std::move(log)));
  plugin->api_ = query(&plugin->host_);
  if (plugin->api_ == nullptr || plugin->api_->abi_major != VN_ABI_MAJOR) {
    return Unavailable("the plug-in '" + request.plugin_path +
                       "' was built for another version of the plug-in interface; this program has " +
                       std::to_string(VN_ABI_MAJOR) + "." + std::to_string(VN_ABI_MINOR));
  }
  const std::vector<vn_option> options = ToAbiOptions(request.options);
  VERNIER_TRY(Take(plugin->api_->create(&plugin->host_, options.data(), options.size(),
                                        &plugin->backend_)));
  return plugin;
}

BackendInfo Plugin::info() const {
  return {std::string(View(api_->name)), std::string(View(api_->version)),
          std::string(View(api_->framework_version(backend_))),
          std::string(View(api_->framework_path(backend_)))};
}

Result<std::unique_ptr<PluginSession>> Plugin::Open(const OpenRequest& request,
                                                    std::span<const std::byte> bytes) {
  AbiTensors inputs;
  for (const TensorInfo& info : request.inputs) inputs.Add(info);
  std::vector<vn_str> outputs;
  for (const std::string& name : request.outputs) outputs.push_back(Str(name));
  vn_model model{};
  model.struct_size = sizeof(model);
  model.path = Str(request.model_path);
  model.bytes = bytes.data();
  model.byte_count = bytes.size();
  model.external_data_dir = Str(request.external_data_dir);
  model.inputs = inputs.pointers().data();
  model.input_count = inputs.pointers().size();
  model.outputs = outputs.data();
  model.output_count = outputs.size();
  const std::vector<vn_option> options = ToAbiOptions(request.options);
  vn_session* session = nullptr;
  VERNIER_TRY(Take(api_->open(backend_, &model, options.data(), options.size(), &session)));
  return std::make_unique<PluginSession>(api_, session);
}

}  // namespace vernier
