#include "backend/plugin/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <utility>

#include "backend/known/python_program.h"
#include "backend/plugin/abi_tensors.h"
#include "util/log/framework_words.h"
#include "util/text/split_words.h"
#include "vernier/backend_dtype.h"
#include "vernier/part_names.h"

// The status that the host makes for a plug-in. Complete only here: a plug-in sees a pointer.
struct vn_status {
  vernier::Status status;
};

namespace vernier {
namespace {

Status Take(vn_status* status) {
  if (status == nullptr) return {};
  const std::unique_ptr<vn_status> owned(status);
  return std::move(owned->status);
}

vn_status* NewStatus(void*, int32_t code, vn_str message) noexcept {
  // Only the user cancels, and that ends a worker: a plug-in that says so has failed.
  const auto said = static_cast<StatusCode>(code);
  const bool known = code > 0 && said <= StatusCode::kInternal && said != StatusCode::kCancelled;
  return new vn_status{{known ? said : StatusCode::kBackend, WithoutSourcePlaces(View(message))}};
}

// A table without one of these is no backend.
bool HasEverySlot(const vn_backend_api& api) {
  return VN_HAS(&api, vn_backend_api, option_at) && VN_HAS(&api, vn_backend_api, create) &&
         VN_HAS(&api, vn_backend_api, destroy) && VN_HAS(&api, vn_backend_api, framework_version) &&
         VN_HAS(&api, vn_backend_api, framework_path) && VN_HAS(&api, vn_backend_api, open) &&
         VN_HAS(&api, vn_backend_api, close) && VN_HAS(&api, vn_backend_api, signature) &&
         VN_HAS(&api, vn_backend_api, run);
}

// A list that has not ended by then never will.
constexpr size_t kMaxListed = 1'000'000;
// The same of what a plug-in says of itself, of which the rest is left out.
constexpr size_t kMostDescribed = 1000;

TensorInfo FromAbiSignature(const vn_tensor& t) {
  TensorInfo info;
  info.name = std::string(View(t.name));
  info.dtype = FromAbi(t.dtype_code, t.dtype_bits).value_or(DType::kUndefined);
  if (t.rank == VN_RANK_UNKNOWN) return info;
  info.shape.emplace();
  for (uint32_t i = 0; i < t.rank; ++i) info.shape->push_back({t.shape[i], {}});
  return info;
}

}  // namespace

Result<std::vector<vn_tensor>> PluginSession::ReadSignature(bool is_output) {
  std::vector<vn_tensor> tensors;
  while (tensors.size() < kMaxListed) {
    vn_tensor t{};
    const Status status = Take(api_->signature(session_, is_output ? 1 : 0, tensors.size(), &t));
    if (status.code() == StatusCode::kNotFound) return tensors;
    VERNIER_TRY(status);
    if (t.rank != VN_RANK_UNKNOWN) VERNIER_TRY(CheckShape(t));
    tensors.push_back(t);
  }
  return BackendError("the backend's signature does not end");
}

Status PluginSession::DescribeNotExposed(SessionDescription& description) {
  if (!VN_HAS(api_, vn_backend_api, not_exposed_at)) return {};
  for (size_t i = 0; i < kMaxListed; ++i) {
    vn_str name{}, why{};
    const Status status = Take(api_->not_exposed_at(session_, i, &name, &why));
    if (status.code() == StatusCode::kNotFound) return {};
    VERNIER_TRY(status);
    description.not_exposed.push_back({std::string(View(name)), std::string(View(why))});
  }
  return BackendError("the backend's list of outputs that are not exposed does not end");
}

Result<SessionDescription> PluginSession::Describe() {
  SessionDescription description;
  outputs_.clear();
  for (const bool is_output : {false, true}) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<vn_tensor> tensors, ReadSignature(is_output));
    for (const vn_tensor& t : tensors) {
      TensorInfo info = FromAbiSignature(t);
      if (is_output) outputs_.push_back({info.name, info.dtype});
      // Without a note it is a tensor whose type only a run shows.
      if (t.dtype_code != VN_DTYPE_SKIPPED || t.note.size == 0) {
        (is_output ? description.outputs : description.inputs).push_back(std::move(info));
      } else if (VN_HAS(api_, vn_backend_api, part_at)) {
        (is_output ? description.nested_outputs : description.nested_inputs).push_back(info.name);
      } else if (is_output) {  // nothing is fed to an input that is no tensor
        description.not_exposed.push_back({std::move(info.name), std::string(View(t.note))});
      }
    }
  }
  VERNIER_TRY(DescribeNotExposed(description));
  if (VN_HAS(api_, vn_backend_api, info)) {
    vn_session_info info{};
    info.struct_size = sizeof(info);
    VERNIER_TRY(Take(api_->info(session_, &info)));
    description.precision = std::string(View(info.precision));
    description.device = std::string(View(info.device));
  }
  const Status reset = Reset();
  description.keeps_state = reset.ok();
  if (!reset.ok() && reset.code() != StatusCode::kNotFound) return reset;
  if (VN_HAS(api_, vn_backend_api, feeds_back)) feeds_back_ = api_->feeds_back(session_);
  return description;
}

Status PluginSession::Reset() {
  if (!VN_HAS(api_, vn_backend_api, reset_session)) return NotFound("it cannot be reset");
  return Take(api_->reset_session(session_));
}

Result<size_t> PluginSession::IndexOf(std::string_view name, size_t guess) const {
  // Backends answer in the order of the signature, as a rule.
  if (guess < outputs_.size() && outputs_[guess].name == name) return guess;
  const auto found = std::find_if(outputs_.begin(), outputs_.end(),
                                  [&](const DeclaredOutput& o) { return o.name == name; });
  if (found != outputs_.end()) return static_cast<size_t>(found - outputs_.begin());
  return BackendError("the backend returned an output '" + std::string(name) +
                      "' that its signature does not have");
}

Result<bool> PluginSession::AddParts(size_t output, const std::string& name,
                                     const Destination& to) const {
  if (!VN_HAS(api_, vn_backend_api, part_at)) return false;
  for (size_t i = 0; i < kMaxListed; ++i) {
    vn_tensor*& part = to.parts.Add(nullptr);
    const Status status = Take(api_->part_at(session_, output, i, &part));
    if (status.code() == StatusCode::kNotFound) return i > 0;
    VERNIER_TRY(status);
    if (part == nullptr || !BelongsTo(View(part->name), name)) {
      return BackendError("the backend returned something that is not a part of '" + name + "'");
    }
    VERNIER_TRY(AddOutput(part, DType::kUndefined, to.to));
  }
  return BackendError("the backend's list of parts of '" + name + "' does not end");
}

Status PluginSession::AddOutputs(std::span<vn_tensor*> outputs, const Destination& to) const {
  std::vector<bool> seen(outputs_.size(), false);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) {
      return BackendError("the backend returned no tensor as output " + std::to_string(i));
    }
    const vn_tensor& t = *outputs[i];
    VERNIER_ASSIGN_OR_RETURN(const size_t index, IndexOf(View(t.name), i));
    if (seen[index]) return BadTensor(t, "was returned twice");
    seen[index] = true;
    VERNIER_ASSIGN_OR_RETURN(const bool in_parts, AddParts(i, outputs_[index].name, to));
    if (in_parts && t.dtype_code == VN_DTYPE_SKIPPED) continue;
    VERNIER_TRY(AddOutput(outputs[i], outputs_[index].dtype, to.to));
  }
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing == seen.end()) return {};
  const auto index = static_cast<size_t>(missing - seen.begin());
  return BackendError("the backend did not return its output '" + outputs_[index].name + "'");
}

Result<PluginSession::Outcome> PluginSession::Run(const TensorMap& inputs,
                                                  const RunPlaces& places) {
  AbiTensors feed;
  for (const NamedTensor& input : inputs) feed.Add(input);
  for (const FedBack& state : places.fed_back) {
    feed.Add(state.name, state.dims, state.tensor->abi());
  }
  OutputSet outputs(outputs_.size());
  size_t count = 0;
  vn_run_stats stats{};
  stats.struct_size = sizeof(stats);
  host_.outputs = ahead_.Take();
  host_.stage = PluginHost::Stage::kRunning;
  host_.next_feed = places.next_feed;
  host_.keeps_outputs = !places.kept.empty();
  Status ran = Take(api_->run(session_, feed.pointers().data(), feed.pointers().size(),
                              outputs.data(), outputs_.size(), &count, &stats));
  host_.stage = PluginHost::Stage::kOther;
  host_.next_feed = nullptr;
  host_.next_inputs.reset();
  std::shared_ptr<SharedMemory> memory = std::exchange(host_.outputs, nullptr);
  VERNIER_TRY(std::move(ran));
  if (count > outputs_.size()) {
    return BackendError("the backend returned " + std::to_string(count) +
                        " outputs where its signature has " + std::to_string(outputs_.size()));
  }
  OutputSet parts(0);
  TensorBlockBuilder builder;
  builder.Use(memory);
  builder.Borrow(&host_.lent);
  const OutputDestination to{places,          builder,     &host_.lent,
                             feed.pointers(), feeds_back_, std::move(memory)};
  VERNIER_TRY(AddOutputs(outputs.tensors().first(count), {parts, to}));
  Outcome outcome;
  outcome.inference_seconds = stats.inference_seconds;
  VERNIER_ASSIGN_OR_RETURN(outcome.outputs, builder.Finish());
  return outcome;
}

Plugin::Plugin(PluginLog log)
    : reached_{.log = std::move(log),
               .outputs = nullptr,
               .keeps_outputs = false,
               .ahead = {},
               .fill = {},
               .lent = {},
               .next_feed = {},
               .next_inputs = {}} {
  host_ = TableOf(reached_, &NewStatus);
}

Plugin::~Plugin() {
  if (backend_ != nullptr) api_->destroy(backend_);
}

Result<std::unique_ptr<Plugin>> Plugin::Load(const LoadRequest& request, PluginLog log) {
  std::string reasons;
  for (const std::string& path : request.plugin_paths) {
    Result<std::unique_ptr<Plugin>> plugin = LoadOne(path, request.options, log);
    if (plugin.ok() || plugin.status().code() != StatusCode::kUnavailable) return plugin;
    const std::string& reason = plugin.status().message();
    // Plug-ins of one framework often say the same: that it is not there at all.
    if (reasons.find(reason) == std::string::npos) {
      reasons += (reasons.empty() ? "" : "; ") + reason;
    }
  }
  return Unavailable(std::move(reasons));
}

Result<std::unique_ptr<Plugin>> Plugin::LoadOne(const std::string& path, const OptionList& options,
                                                PluginLog log) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Unavailable("the plug-in '" + path + "' cannot be loaded: " + ::dlerror());
  }
  const auto query = reinterpret_cast<vn_backend_query_fn>(::dlsym(library, VN_QUERY_SYMBOL));
  if (query == nullptr) {
    return Unavailable("'" + path + "' is not a vernier plug-in: it does not export " +
                       VN_QUERY_SYMBOL);
  }
  std::unique_ptr<Plugin> plugin(new Plugin(std::move(log)));
  plugin->api_ = query(&plugin->host_);
  if (plugin->api_ == nullptr || plugin->api_->abi_major != VN_ABI_MAJOR) {
    return Unavailable(
        "the plug-in '" + path +
        "' was built for another version of the plug-in interface; this program has " +
        std::to_string(VN_ABI_MAJOR) + "." + std::to_string(VN_ABI_MINOR));
  }
  if (!HasEverySlot(*plugin->api_)) {
    return Unavailable("the plug-in '" + path +
                       "' is broken: its table lacks a function that every backend has");
  }
  VERNIER_ASSIGN_OR_RETURN(const OptionList named, plugin->NameOptions(options));
  const std::vector<vn_option> abi_options = ToAbiOptions(named);
  VERNIER_TRY(Take(plugin->api_->create(&plugin->host_, abi_options.data(), abi_options.size(),
                                        &plugin->backend_)));
  if (plugin->backend_ == nullptr) {
    return BackendError("the plug-in '" + path + "' created no backend and gave no error");
  }
  return plugin;
}

BackendInfo Plugin::info() const {
  BackendInfo info{std::string(View(api_->name)), std::string(View(api_->version)),
                   std::string(View(api_->framework_version(backend_))),
                   std::string(View(api_->framework_path(backend_))), Options()};
  if (VN_HAS(api_, vn_backend_api, reference_rank)) {
    info.reference_rank = api_->reference_rank(backend_);
  }
  info.neutral_environments = NeutralEnvironments();
  if (VN_HAS(api_, vn_backend_api, model_formats)) {
    info.model_formats = SplitAtSpaces(View(api_->model_formats(backend_)));
  }
  if (VN_HAS(api_, vn_backend_api, traits)) info.traits = api_->traits(backend_);
  return info;
}

Result<OptionList> Plugin::NameOptions(OptionList options) const {
  constexpr std::pair<std::string_view, OptionMeaning> kMeanings[] = {
      {kLibraryPlace, OptionMeaning::kLibrary}, {kLogPlace, OptionMeaning::kLog}};
  for (const auto& [key, meaning] : kMeanings) {
    const auto given = std::ranges::find(options, key, &OptionList::value_type::first);
    if (given == options.end()) continue;
    const std::string value = std::move(given->second);
    options.erase(given);
    BackendInfo info;
    info.options = Options();
    if (const BackendOption* const option = info.OptionThatMeans(meaning)) {
      std::erase_if(options, [&](const auto& other) { return other.first == option->name; });
      options.emplace_back(option->name, value);
    } else if (meaning == OptionMeaning::kLibrary) {
      return InvalidArgument(TakesNothingOfPython(View(api_->name)));
    }
  }
  return options;
}

std::vector<BackendOption> Plugin::Options() const {
  std::vector<BackendOption> options;
  while (options.size() < kMostDescribed) {
    // What a plug-in of an older interface does not fill stays empty.
    vn_option_info info{};
    info.struct_size = sizeof(info);
    if (!Take(api_->option_at(options.size(), &info)).ok()) break;
    options.push_back({std::string(View(info.name)), std::string(View(info.type)),
                       std::string(View(info.default_value)), std::string(View(info.help)),
                       SplitAtSpaces(View(info.values)), SplitAtSpaces(View(info.neutral)),
                       static_cast<OptionRole>(info.role), static_cast<OptionMeaning>(info.means)});
  }
  return options;
}

std::vector<std::string> Plugin::NeutralEnvironments() const {
  std::vector<std::string> environments;
  if (!VN_HAS(api_, vn_backend_api, neutral_environment_at)) return environments;
  while (environments.size() < kMostDescribed) {
    vn_str variables{};
    if (!Take(api_->neutral_environment_at(backend_, environments.size(), &variables)).ok()) break;
    environments.emplace_back(View(variables));
  }
  return environments;
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
  reached_.stage = PluginHost::Stage::kOpening;
  Status opened = Take(api_->open(backend_, &model, options.data(), options.size(), &session));
  reached_.stage = PluginHost::Stage::kOther;
  if (opened.ok() && session == nullptr) {
    opened = BackendError("the backend opened nothing and gave no error");
  }
  if (!opened.ok()) {
    reached_.outputs = nullptr;
    reached_.ahead.clear();
    return opened;
  }
  return std::make_unique<PluginSession>(api_, session, reached_);
}

}  // namespace vernier
