// A backend that misbehaves when told to (behaviour.h) and echoes its inputs otherwise. Written
// against the tables of backend_abi.h directly, so that every slot is used and every rule can be
// broken; a real backend uses backend_sdk.hpp.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "abilities.h"
#include "behaviour.h"
#include "vernier/backend_abi.h"
#include "wrong_outputs.h"

struct vn_backend {
  const vn_host* host;
  fake::Behaviour behaviour;
  int64_t sessions_opened = 0;
};

struct vn_session {
  vn_session(vn_backend* opened_by, int64_t index) : backend(opened_by), number(index) {}

  vn_backend* backend;
  int64_t number;
  std::string model;
  int64_t runs = 0;
  float error = 0;                // relative, of its outputs
  std::vector<std::string> next;  // the bytes that the inputs of the next run are to have
  std::vector<vn_tensor> signature;
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> shapes;
  std::atomic<int64_t> unreleased = 0;
  std::atomic<bool> chattering = false;
  std::thread chatter;
};

namespace fake {
namespace {

vn_str Str(std::string_view text) { return {text.data(), text.size()}; }
std::string_view View(vn_str text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}

// The status that refuses an option.
vn_status* UnknownOption(const vn_host* host, const vn_option& option) {
  const std::string text = "unknown option '" + std::string(View(option.key)) + "' (value '" +
                           std::string(View(option.value)) + "')";
  return host->status_new(host->self, VN_INVALID_ARGUMENT, Str(text));
}

vn_status* NewStatus(const vn_host* host, int32_t code, std::string_view message) {
  return host->status_new(host->self, code, Str(message));
}

std::string_view FromEnvironment() {
  const char* words = std::getenv("VERNIER_FAKE");
  return words != nullptr ? words : "";
}

// The status to fail a call with, or NULL.
vn_status* Act(const vn_host* host, const Behaviour& behaviour, const Place& place) {
  const std::string_view line = behaviour.LogAt(place);
  if (!line.empty()) host->log(host->self, 20, Str(line));
  const int32_t code = behaviour.ActAt(place);
  return code == 0 ? nullptr : NewStatus(host, code, "told to fail at " + std::string(place.stage));
}

// A tensor that the host will release.
struct OwnedTensor {
  vn_tensor tensor{};
  vn_session* session = nullptr;
  std::string name;
  std::vector<int64_t> shape;
  std::vector<char> bytes;
  std::span<char> data;  // `bytes`, or memory of the host
};

void Release(vn_tensor* tensor) noexcept {
  auto* owned = static_cast<OwnedTensor*>(tensor->owner);
  --owned->session->unreleased;
  delete owned;
}

// The host's memory where it has some.
std::span<char> PlaceFor(const vn_host* host, size_t size, std::vector<char>& own) {
  void* const given = VN_HAS(host, vn_host, output_memory) && size > 0
                          ? host->output_memory(host->self, size)
                          : nullptr;
  if (given != nullptr) return {static_cast<char*>(given), size};
  own.resize(size);
  return own;
}

constexpr size_t kSmall = 3 * sizeof(float);

OwnedTensor* Echo(vn_session* session, const vn_tensor& input, std::string_view lie) {
  auto owned = std::make_unique<OwnedTensor>();
  owned->session = session;
  owned->name = View(input.name);
  owned->shape.assign(input.shape, input.shape + input.rank);
  const vn_backend& backend = *session->backend;
  if (lie.starts_with("own") && input.byte_size <= kSmall) {
    owned->bytes.resize(input.byte_size);
    owned->data = owned->bytes;
    lie = {};
  } else {
    owned->data = PlaceFor(backend.host, input.byte_size, owned->bytes);
  }
  CopyOrLie(lie, {input, owned->data, backend.behaviour.Number("align", 64)});
  vn_tensor& t = owned->tensor;
  t.struct_size = sizeof(t);
  t.rank = input.rank;
  t.shape = owned->shape.data();
  t.data = owned->data.data();
  t.byte_size = owned->data.size();
  t.name = Str(owned->name);
  t.dtype_code = input.dtype_code;
  t.dtype_bits = input.dtype_bits;
  t.dtype_lanes = 1;
  t.device_type = VN_DEVICE_CPU;
  t.release = &Release;
  t.owner = owned.get();
  ++session->unreleased;
  return owned.release();
}

struct TensorLie {
  std::string_view name;
  void (*tell)(OwnedTensor& owned);
};

constexpr TensorLie kTensorLies[] = {
    {"short", [](OwnedTensor& o) { o.tensor.byte_size -= 1; }},
    {"huge", [](OwnedTensor& o) { o.tensor.byte_size = size_t{1} << 40; }},
    {"no_data", [](OwnedTensor& o) { o.tensor.data = nullptr; }},
    {"dtype", [](OwnedTensor& o) { o.tensor.dtype_code = VN_DTYPE_INT; }},
    {"unknown_dtype", [](OwnedTensor& o) { o.tensor.dtype_code = 99; }},
    {"lanes", [](OwnedTensor& o) { o.tensor.dtype_lanes = 4; }},
    {"device", [](OwnedTensor& o) { o.tensor.device_type = 10; }},
    {"rank", [](OwnedTensor& o) { o.tensor.rank = VN_RANK_UNKNOWN; }},
    {"no_shape", [](OwnedTensor& o) { o.tensor.shape = nullptr; }},
    {"negative", [](OwnedTensor& o) { o.shape[0] = -1; }},
    {"overflow", [](OwnedTensor& o) { o.shape[0] = int64_t{1} << 62; }},
    {"renamed", [](OwnedTensor& o) { o.tensor.name = Str("surprise"); }},
    {"skipped",
     [](OwnedTensor& o) {
       o.tensor.dtype_code = VN_DTYPE_SKIPPED;
       o.tensor.note = Str("told to skip it");
     }},
    {"strings",
     [](OwnedTensor& o) {
       o.tensor.dtype_code = VN_DTYPE_STRING;
       o.tensor.dtype_bits = 0;
       std::fill(o.data.begin(), o.data.end(), '\x7f');
     }},
    {"nan", [](OwnedTensor& o) { std::fill(o.data.begin(), o.data.end(), '\xff'); }},
};

void TellTensorLie(std::string_view lie, OwnedTensor& owned) {
  for (const TensorLie& row : kTensorLies) {
    if (row.name == lie) row.tell(owned);
  }
}

// --- the slots ---

const vn_host* queried_host = nullptr;  // option_at has no other way to a host

vn_status* OptionAt(size_t index, vn_option_info* out) noexcept {
  const Behaviour behaviour(FromEnvironment());
  if (DescribeOption(behaviour, index, out)) return nullptr;
  return NewStatus(queried_host, VN_NOT_FOUND, "no more options");
}

uint32_t ReferenceRank(vn_backend*) noexcept {
  return static_cast<uint32_t>(Behaviour(FromEnvironment()).Number("rank", 0));
}

vn_status* NeutralEnvironmentAt(vn_backend*, size_t index, vn_str* out) noexcept {
  const std::string_view variables = NeutralEnvironment(Behaviour(FromEnvironment()), index);
  if (variables.empty()) return NewStatus(queried_host, VN_NOT_FOUND, "no more environments");
  *out = Str(variables);
  return nullptr;
}

vn_status* Create(const vn_host* host, const vn_option* options, size_t count,
                  vn_backend** out) noexcept {
  std::string words(FromEnvironment());
  for (const vn_option& option : std::span(options, count)) {
    if (LogMeaning(Behaviour(FromEnvironment()), *host, option)) continue;
    if (View(option.key) != "behaviour") return UnknownOption(host, option);
    words = View(option.value);
  }
  const Behaviour behaviour(words);
  if (vn_status* status = Act(host, behaviour, {.stage = "create"})) return status;
  if (behaviour.LieAt({.stage = "create"}) == "no_backend") return nullptr;
  *out = new vn_backend{host, behaviour};
  return nullptr;
}

void Destroy(vn_backend* backend) noexcept {
  (void)backend->behaviour.ActAt({.stage = "destroy"});
  delete backend;
}

vn_str FrameworkVersion(vn_backend*) noexcept { return Str("0"); }
vn_str FrameworkPath(vn_backend*) noexcept { return Str(""); }

void Chatter(vn_session* session) {
  const vn_host* host = session->backend->host;
  const std::string line(300, 'c');
  while (session->chattering) host->log(host->self, 10, Str(line));
}

float ErrorOf(const vn_backend& backend, bool other_settings, int64_t session) {
  const std::string_view key = other_settings ? "noise" : session > 0 ? "off" : "";
  return std::strtof(std::string(backend.behaviour.Get(key)).c_str(), nullptr);
}

// Off by a share of each value, up and down by turns.
void AddError(float share, OwnedTensor& owned) {
  if (share == 0 || owned.tensor.dtype_code != VN_DTYPE_FLOAT) return;
  for (size_t i = 0; (i + 1) * sizeof(float) <= owned.data.size(); ++i) {
    float value = 0;
    std::memcpy(&value, owned.data.data() + i * sizeof(float), sizeof(float));
    value *= i % 2 == 0 ? 1 + share : 1 - share;
    std::memcpy(owned.data.data() + i * sizeof(float), &value, sizeof(float));
  }
}

vn_status* Open(vn_backend* backend, const vn_model* model, const vn_option* options, size_t count,
                vn_session** out) noexcept {
  const vn_host* host = backend->host;
  const int64_t number = backend->sessions_opened++;
  const Place place{.stage = "open", .session = number, .model = View(model->path)};
  if (vn_status* status = Act(host, backend->behaviour, place)) return status;
  if (backend->behaviour.LieAt(place) == "no_session") return nullptr;
  bool other_settings = HasNeutralEnvironment();
  for (const vn_option& option : std::span(options, count)) {
    if (!IsOption(backend->behaviour, View(option.key))) return UnknownOption(host, option);
    other_settings |= IsNeutral(View(option.key));
    WriteLayers(View(option.key), View(option.value));
    LogMeaning(backend->behaviour, *host, option);
    if (View(option.key) == "alone") host->log(host->self, 20, Str("nobody else computes"));
  }
  auto* session = new vn_session(backend, number);
  session->model = View(model->path);
  session->error = ErrorOf(*backend, other_settings, number);
  for (const vn_tensor* input : std::span(model->inputs, model->input_count)) {
    session->names.emplace_back(View(input->name));
    const size_t rank = input->rank == VN_RANK_UNKNOWN ? 0 : input->rank;
    session->shapes.emplace_back(input->shape, input->shape + rank);
    session->signature.push_back(*input);
  }
  for (size_t i = 0; i < session->signature.size(); ++i) {
    session->signature[i].name = Str(session->names[i]);
    session->signature[i].shape = session->shapes[i].data();
  }
  if (!backend->behaviour.Get("chatter").empty()) {
    session->chattering = true;
    session->chatter = std::thread(&Chatter, session);
  }
  *out = session;
  return nullptr;
}

void Close(vn_session* session) noexcept {
  session->chattering = false;
  if (session->chatter.joinable()) session->chatter.join();
  const vn_host* host = session->backend->host;
  if (session->unreleased != 0) {
    host->log(host->self, 40, Str("outputs of the fake backend were not released"));
  }
  (void)session->backend->behaviour.ActAt(
      {.stage = "close", .session = session->number, .model = session->model});
  delete session;
}

vn_status* Signature(vn_session* session, int32_t is_output, size_t index,
                     vn_tensor* out) noexcept {
  const vn_backend& backend = *session->backend;
  const Place place{.stage = "signature", .session = session->number, .model = session->model};
  if (vn_status* status = Act(backend.host, backend.behaviour, place)) return status;
  const std::string_view lie = backend.behaviour.LieAt(place);
  if (lie == "endless" && is_output != 0) index = 0;
  if (index >= session->signature.size()) {
    return NewStatus(backend.host, VN_NOT_FOUND, "no more tensors");
  }
  *out = session->signature[index];
  if (lie == "rank") out->rank = VN_RANK_UNKNOWN - 1;
  if (lie == "no_shape") out->shape = nullptr;
  return nullptr;
}

vn_status* Info(vn_session* session, vn_session_info* out) noexcept {
  const vn_backend& backend = *session->backend;
  const Place place{.stage = "info", .session = session->number, .model = session->model};
  if (vn_status* status = Act(backend.host, backend.behaviour, place)) return status;
  out->precision = Str("none");
  out->device = Str("CPU");
  return nullptr;
}

vn_status* NotExposedAt(vn_session* session, size_t, vn_str* name, vn_str* why) noexcept {
  const vn_backend& backend = *session->backend;
  if (backend.behaviour.LieAt({.stage = "info"}) != "endless") {
    return NewStatus(backend.host, VN_NOT_FOUND, "no more tensors");
  }
  *name = Str("hidden");
  *why = Str("told to hide it");
  return nullptr;
}

std::vector<std::string> BytesOf(std::span<const vn_tensor* const> tensors) {
  std::vector<std::string> bytes;
  for (const vn_tensor* t : tensors) {
    bytes.emplace_back(static_cast<const char*>(t->data), t->byte_size);
  }
  return bytes;
}

vn_status* LookAhead(vn_session* session) {
  const vn_host* host = session->backend->host;
  const std::string patience(session->backend->behaviour.Get("ahead"));
  if (patience.empty() || !VN_HAS(host, vn_host, next_inputs)) return nullptr;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(std::atoi(patience.c_str()));
  size_t count = 0;
  const vn_tensor* const* inputs = nullptr;
  do {
    inputs = host->next_inputs(host->self, &count);
  } while (inputs == nullptr && std::chrono::steady_clock::now() < end);
  if (inputs == nullptr) return nullptr;
  session->next = BytesOf({inputs, count});
  host->log(host->self, 20, Str("the next inputs are here"));
  if (host->next_inputs(host->self, &count) == nullptr) return nullptr;
  return NewStatus(host, VN_BACKEND, "the next inputs were told twice");
}

vn_status* Run(vn_session* session, const vn_tensor* const* inputs, size_t input_count,
               vn_tensor** outputs, size_t capacity, size_t* out_count,
               vn_run_stats* stats) noexcept {
  const vn_host* host = session->backend->host;
  const Place place{"run", session->number, session->runs++, session->model};
  if (host->cancelled(host->self) != 0) return NewStatus(host, VN_CANCELLED, "cancelled");
  const std::vector<std::string> announced = std::exchange(session->next, {});
  if (!announced.empty() && announced != BytesOf({inputs, input_count})) {
    return NewStatus(host, VN_BACKEND, "these are not the inputs that were said to come");
  }
  if (vn_status* status = Act(host, session->backend->behaviour, place)) return status;
  if (vn_status* status = LookAhead(session)) return status;
  const std::string_view lie = session->backend->behaviour.LieAt(place);
  if (lie == "bad_code") return NewStatus(host, 12345, "a code that does not exist");
  if (lie == "write_input" && input_count > 0) {
    std::memset(const_cast<void*>(inputs[0]->data), 0, inputs[0]->byte_size);
  }
  if (input_count > capacity) {
    return NewStatus(host, VN_INVALID_ARGUMENT, "more inputs than the model has");
  }
  size_t count = 0;
  for (const vn_tensor* input : std::span(inputs, input_count)) {
    if (lie == "three" && input->rank > 0 && input->shape[0] == 3) {
      return NewStatus(host, VN_BACKEND, "three is too many");
    }
    OwnedTensor* owned = Echo(session, *input, lie);
    AddError(session->error, *owned);
    TellTensorLie(lie, *owned);
    outputs[count++] = &owned->tensor;
  }
  if (lie == "null" && count > 0) {
    Release(outputs[0]);
    outputs[0] = nullptr;
  }
  if (lie == "twice" && count > 1) outputs[1]->name = outputs[0]->name;
  if (lie == "fewer" && count > 0) {
    --count;
    Release(outputs[count]);
    outputs[count] = nullptr;
  }
  // Always the same number: what a test expects of a time must not depend on the machine.
  stats->inference_seconds =
      1e-6 + static_cast<double>(session->backend->behaviour.SleepAt(place)) * 1e-3;
  *out_count = lie == "more" ? capacity + 1 : lie == "none" ? 0 : count;
  return nullptr;
}

vn_backend_api MakeTable(std::string_view lie) {
  vn_backend_api api{};
  api.struct_size = lie == "short_table" ? offsetof(vn_backend_api, open) : sizeof(api);
  api.abi_major = lie == "other_major" ? VN_ABI_MAJOR + 1 : VN_ABI_MAJOR;
  api.abi_minor = VN_ABI_MINOR;
  api.name = Str("fake");
  api.version = Str("1");
  api.option_at = &OptionAt;
  api.create = &Create;
  api.destroy = &Destroy;
  api.framework_version = &FrameworkVersion;
  api.framework_path = &FrameworkPath;
  api.open = &Open;
  api.close = &Close;
  api.signature = &Signature;
  api.info = &Info;
  api.not_exposed_at = &NotExposedAt;
  api.run = lie == "null_slot" ? nullptr : &Run;
  api.reference_rank = &ReferenceRank;
  api.neutral_environment_at = &NeutralEnvironmentAt;
  api.model_formats = [](vn_backend*) noexcept { return FormatsOf(Behaviour(FromEnvironment())); };
  api.traits = [](vn_backend*) noexcept { return TraitsOf(Behaviour(FromEnvironment())); };
  MakeOlder(lie, api);
  return api;
}

}  // namespace
}  // namespace fake

extern "C" __attribute__((visibility("default"))) const vn_backend_api* vn_backend_query(
    const vn_host* host) {
  const fake::Behaviour behaviour(fake::FromEnvironment());
  (void)behaviour.ActAt({.stage = "query"});
  const std::string_view lie = behaviour.LieAt({.stage = "query"});
  if (lie == "null_table" || host->abi_major != VN_ABI_MAJOR) return nullptr;
  fake::queried_host = host;
  static const vn_backend_api api = fake::MakeTable(lie);
  return &api;
}
