// The C++ side of backend_abi.h for plug-in authors: write ordinary classes with Status and Result,
// end the file with VERNIER_EXPORT_BACKEND(MyBackend), and never see the tables. Header-only.
//
// MyBackend needs:
//   static constexpr std::string_view kName, kVersion;
//   static std::span<const vn_option_info> OptionTable();
//   static Result<std::unique_ptr<MyBackend>> Create(const sdk::Host&, sdk::Options);
//   std::string_view framework_version() const, framework_path() const;
//   Result<std::unique_ptr<sdk::Session>> Open(const vn_model&, sdk::Options);
// and may have, where it has something to declare (see vn_backend_api):
//   static constexpr uint32_t kReferenceRank;
//   static std::span<const std::string_view> NeutralEnvironments();
//   static constexpr bool kHasParts = true;
//
// The host calls a plug-in from one thread at a time, which need not be the same one. Objects are
// destroyed in reverse order: sessions before their backend. A plug-in may throw: what is derived
// from std::exception becomes a kBackend error with its text.
#pragma once

#include <algorithm>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/backend_abi.h"
#include "vernier/backend_dtype.h"
#include "vernier/backend_host.hpp"
#include "vernier/backend_options.hpp"
#include "vernier/status.h"

namespace vernier::sdk {

/// Declaration of one input or output of a session.
struct TensorSpec {
  std::string name;                 ///< unique among the inputs, and among the outputs
  DType dtype = DType::kUndefined;  ///< kUndefined: known only once it has run
  bool rank_known = true;           ///< false: `shape` says nothing
  std::vector<int64_t> shape;       ///< -1 for a dynamic dimension; empty for a scalar
  /// Not empty: not a tensor, and what it is instead ("sequence of tensors"), for messages. The
  /// host neither feeds nor compares it, unless the backend has parts.
  std::string skipped;
};

/// The declaration that a signature's tensor makes.
inline TensorSpec SpecOf(const vn_tensor& t) {
  TensorSpec spec;
  spec.name = std::string(View(t.name));
  spec.dtype = FromAbi(t.dtype_code, t.dtype_bits).value_or(DType::kUndefined);
  spec.rank_known = t.rank != VN_RANK_UNKNOWN;
  if (spec.rank_known && t.rank > 0) spec.shape.assign(t.shape, t.shape + t.rank);
  spec.skipped = std::string(View(t.note));
  return spec;
}

/// A tensor that the plug-in hands out: C-contiguous, in the machine's byte order.
struct OutputTensor {
  std::string name;                 ///< as in Session::outputs()
  DType dtype = DType::kUndefined;  ///< of the data, even where the declaration leaves it open
  std::vector<int64_t> shape;       ///< all sizes known, none below 0
  const void* data = nullptr;       ///< may be null where `byte_size` is 0
  size_t byte_size = 0;             ///< ByteSize(dtype, number of elements)
  /// Owns `data` until the host releases the tensor, which may be after the session was closed.
  std::shared_ptr<const void> keep_alive;
  std::string skipped;                  ///< as in TensorSpec
  int32_t device_type = VN_DEVICE_CPU;  ///< or VN_DEVICE_CUDA, if Host::takes_cuda_outputs()
  int32_t device_id = 0;                ///< the device's number, from 0
  void* sync = nullptr;  ///< on CUDA: a CUevent to wait for; nullptr: the data is there
  /// Of a sequence, map or optional, see vn_backend_api::part_at: for backends with kHasParts.
  std::vector<OutputTensor> parts;
};

/// What one inference has made.
struct RunOutcome {
  std::vector<OutputTensor> outputs;  ///< at most as many as Session::outputs(); in any order
  double inference_seconds = 0;       ///< the framework's call alone, without copies
};

/// How a session really computes, which may differ from what was asked for.
struct SessionInfo {
  std::string precision;  ///< "float32", "bfloat16", "mixed float16", ...
  std::string device;     ///< "CPU", "GPU.0", ...
};

/// A tensor that was requested as an output and cannot be one.
struct NotExposed {
  std::string name;
  std::string why;  ///< the rest of a sentence that begins with the name
};

/// One loaded model. What the functions without a status return must stay valid and unchanged until
/// the session is destroyed.
class Session {
 public:
  virtual ~Session() = default;
  /// All inputs that Run() needs, in the model's order.
  virtual std::span<const TensorSpec> inputs() const = 0;
  /// All outputs that Run() makes, in the model's order: the model's own, and those that were
  /// requested beside them.
  virtual std::span<const TensorSpec> outputs() const = 0;
  /// Called once, after the session was opened.
  virtual SessionInfo info() const = 0;
  /// Outputs that were requested and are not among outputs().
  virtual std::span<const NotExposed> not_exposed() const { return {}; }

  /// One inference. Inputs are borrowed for the call, read-only, in any order: look them up by
  /// name. Any error ends the runner; kBackend is the framework's own. Poll Host::cancelled() where
  /// it takes seconds.
  virtual Result<RunOutcome> Run(std::span<const vn_tensor* const> inputs) = 0;

  /// See vn_backend_api::reset_session. kNotFound: the model keeps no state.
  virtual Status Reset() { return NotFound("the model keeps no state"); }

  /// What a session has to finish before it goes, and what can fail, such as the file of the option
  /// `layer_times`. Called once, before the destructor, of a session that was opened.
  virtual void Close() {}

  /// See vn_backend_api::feeds_back: VN_FEEDS_BACK_*.
  virtual uint32_t FeedsBack() const { return 0; }
};

namespace internal {

struct BackendHandle {
  std::unique_ptr<Host> host;
  std::shared_ptr<void> backend;
};

struct SessionHandle {
  std::unique_ptr<Host> host;
  std::unique_ptr<Session> session;
  SessionInfo info;
  std::vector<std::vector<OutputTensor>> parts;  ///< of the last run's outputs
};

struct OwnedTensor {
  vn_tensor tensor{};
  OutputTensor source;
};

inline void ReleaseOwned(vn_tensor* tensor) noexcept {
  delete static_cast<OwnedTensor*>(tensor->owner);
}

inline vn_tensor* Export(OutputTensor output) {
  auto* owned = new OwnedTensor;
  owned->source = std::move(output);
  const OutputTensor& source = owned->source;
  const AbiDType abi = ToAbi(source.dtype);
  vn_tensor& t = owned->tensor;
  t.struct_size = sizeof(vn_tensor);
  t.rank = static_cast<uint32_t>(source.shape.size());
  t.shape = source.shape.data();
  t.data = const_cast<void*>(source.data);
  t.byte_size = source.byte_size;
  t.name = Str(source.name);
  t.dtype_code = source.skipped.empty() ? abi.code : uint8_t{VN_DTYPE_SKIPPED};
  t.dtype_bits = abi.bits;
  t.dtype_lanes = 1;
  t.device_type = source.device_type;
  t.device_id = source.device_id;
  t.sync = source.sync;
  t.release = &ReleaseOwned;
  t.owner = owned;
  t.note = Str(source.skipped);
  return &t;
}

/// Runs `body`, turning a Status or a framework's exception into a vn_status.
template <typename Body>
vn_status* Guard(const Host& host, Body body) noexcept {
  try {
    const Status status = body();
    return status.ok() ? nullptr : host.NewStatus(status);
  } catch (const std::exception& e) {
    return host.NewStatus(BackendError(e.what()));
  } catch (...) {
    return host.NewStatus(BackendError("an exception of unknown type"));
  }
}

// option_at has no host argument; the query call leaves it here, once, before any other call.
template <typename Slots>
const vn_host*& QueriedHost() {
  static const vn_host* host = nullptr;
  return host;
}

/// What vn_backend_query answers: the table of Slots' static functions, under its kName and
/// kVersion; null for a host of another major version.
template <typename Slots>
const vn_backend_api* AnswerQuery(const vn_host* host) {
  if (host->abi_major != VN_ABI_MAJOR) return nullptr;
  QueriedHost<Slots>() = host;
  static const vn_backend_api kApi = [] {
    vn_backend_api api{};
    api.struct_size = sizeof(api);
    api.abi_major = VN_ABI_MAJOR;
    api.abi_minor = VN_ABI_MINOR;
    api.name = Str(Slots::kName);
    api.version = Str(Slots::kVersion);
    api.option_at = &Slots::OptionAt;
    api.create = &Slots::Create;
    api.destroy = &Slots::Destroy;
    api.framework_version = &Slots::FrameworkVersion;
    api.framework_path = &Slots::FrameworkPath;
    api.open = &Slots::Open;
    api.close = &Slots::Close;
    api.signature = &Slots::Signature;
    api.info = &Slots::Info;
    api.not_exposed_at = &Slots::NotExposedAt;
    api.run = &Slots::Run;
    api.reference_rank = &Slots::ReferenceRank;
    api.neutral_environment_at = &Slots::NeutralEnvironmentAt;
    if constexpr (requires { &Slots::PartAt; }) {
      if (Slots::kHasParts) api.part_at = &Slots::PartAt;
    }
    api.reset_session = &Slots::ResetSession;
    if constexpr (requires { &Slots::FeedsBack; }) api.feeds_back = &Slots::FeedsBack;
    if constexpr (requires { &Slots::ModelFormats; }) api.model_formats = &Slots::ModelFormats;
    if constexpr (requires { &Slots::Traits; }) api.traits = &Slots::Traits;
    return api;
  }();
  return &kApi;
}

/// The trampolines of one backend class.
template <typename Backend>
struct Exporter {
  static constexpr std::string_view kName = Backend::kName;
  static constexpr std::string_view kVersion = Backend::kVersion;
  static constexpr bool kHasParts = requires { Backend::kHasParts; };

  static BackendHandle& Of(vn_backend* b) { return *reinterpret_cast<BackendHandle*>(b); }
  static SessionHandle& Of(vn_session* s) { return *reinterpret_cast<SessionHandle*>(s); }
  static Backend& Get(vn_backend* b) { return *static_cast<Backend*>(Of(b).backend.get()); }

  static vn_status* OptionAt(size_t index, vn_option_info* out) noexcept {
    return Guard(Host(QueriedHost<Exporter>()), [&]() -> Status {
      const std::span<const vn_option_info> table = Backend::OptionTable();
      if (index >= table.size()) return NotFound("no more options");
      FillOption(table[index], out);
      return {};
    });
  }

  static uint32_t ReferenceRank(vn_backend*) noexcept { return ReferenceRankOf<Backend>(); }
  static vn_str ModelFormats(vn_backend*) noexcept { return Str(ModelFormatsOf<Backend>()); }
  static uint32_t Traits(vn_backend*) noexcept { return TraitsOf<Backend>(); }

  static vn_status* NeutralEnvironmentAt(vn_backend* b, size_t index, vn_str* out) noexcept {
    return Guard(*Of(b).host, [&]() -> Status {
      const std::span<const std::string_view> list = NeutralEnvironmentsOf<Backend>();
      if (index >= list.size()) return NotFound("no more environments");
      *out = Str(list[index]);
      return {};
    });
  }

  static vn_status* Create(const vn_host* host, const vn_option* options, size_t count,
                           vn_backend** out) noexcept {
    return Guard(Host(host), [&]() -> Status {
      auto handle = std::make_unique<BackendHandle>();
      handle->host = std::make_unique<Host>(host);
      VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                               Backend::Create(*handle->host, Options(options, count)));
      handle->backend = std::shared_ptr<void>(std::shared_ptr<Backend>(std::move(backend)));
      *out = reinterpret_cast<vn_backend*>(handle.release());
      return {};
    });
  }

  static void Destroy(vn_backend* b) noexcept { delete &Of(b); }
  static vn_str FrameworkVersion(vn_backend* b) noexcept { return Str(Get(b).framework_version()); }
  static vn_str FrameworkPath(vn_backend* b) noexcept { return Str(Get(b).framework_path()); }

  static vn_status* Open(vn_backend* b, const vn_model* model, const vn_option* options,
                         size_t count, vn_session** out) noexcept {
    return Guard(*Of(b).host, [&]() -> Status {
      auto handle = std::make_unique<SessionHandle>();
      handle->host = std::make_unique<Host>(*Of(b).host);
      VERNIER_ASSIGN_OR_RETURN(handle->session, Get(b).Open(*model, Options(options, count)));
      handle->info = handle->session->info();
      *out = reinterpret_cast<vn_session*>(handle.release());
      return {};
    });
  }

  static void Close(vn_session* s) noexcept {
    const std::unique_ptr<SessionHandle> handle(&Of(s));
    handle->session->Close();
  }

  static vn_status* Signature(vn_session* s, int32_t is_output, size_t index,
                              vn_tensor* out) noexcept {
    return Guard(*Of(s).host, [&]() -> Status {
      const Session& session = *Of(s).session;
      const std::span<const TensorSpec> specs = is_output ? session.outputs() : session.inputs();
      if (index >= specs.size()) return NotFound("no more tensors");
      const TensorSpec& spec = specs[index];
      const AbiDType abi = ToAbi(spec.dtype);
      vn_tensor t{};
      t.struct_size = sizeof(t);
      t.rank = spec.rank_known ? static_cast<uint32_t>(spec.shape.size()) : VN_RANK_UNKNOWN;
      t.shape = spec.shape.data();
      t.name = Str(spec.name);
      t.dtype_code = spec.skipped.empty() ? abi.code : uint8_t{VN_DTYPE_SKIPPED};
      t.dtype_bits = abi.bits;
      t.dtype_lanes = 1;
      t.device_type = VN_DEVICE_CPU;
      t.note = Str(spec.skipped);
      *out = t;
      return {};
    });
  }

  static vn_status* Info(vn_session* s, vn_session_info* out) noexcept {
    out->precision = Str(Of(s).info.precision);
    out->device = Str(Of(s).info.device);
    return nullptr;
  }

  static vn_status* NotExposedAt(vn_session* s, size_t index, vn_str* name, vn_str* why) noexcept {
    return Guard(*Of(s).host, [&]() -> Status {
      const std::span<const NotExposed> list = Of(s).session->not_exposed();
      if (index >= list.size()) return NotFound("no more tensors");
      *name = Str(list[index].name);
      *why = Str(list[index].why);
      return {};
    });
  }

  static vn_status* Run(vn_session* s, const vn_tensor* const* inputs, size_t input_count,
                        vn_tensor** outputs, size_t capacity, size_t* out_count,
                        vn_run_stats* stats) noexcept {
    return Guard(*Of(s).host, [&]() -> Status {
      VERNIER_ASSIGN_OR_RETURN(RunOutcome outcome,
                               Of(s).session->Run(std::span(inputs, input_count)));
      if (outcome.outputs.size() > capacity) {
        return Internal("the session made " + std::to_string(outcome.outputs.size()) +
                        " outputs where its signature has " + std::to_string(capacity));
      }
      stats->inference_seconds = outcome.inference_seconds;
      *out_count = outcome.outputs.size();
      Of(s).parts.clear();
      for (OutputTensor& output : outcome.outputs) Of(s).parts.push_back(std::move(output.parts));
      std::transform(outcome.outputs.begin(), outcome.outputs.end(), outputs,
                     [](OutputTensor& output) { return Export(std::move(output)); });
      return {};
    });
  }

  static vn_status* PartAt(vn_session* s, size_t output, size_t index, vn_tensor** out) noexcept {
    return Guard(*Of(s).host, [&]() -> Status {
      std::vector<std::vector<OutputTensor>>& parts = Of(s).parts;
      if (output >= parts.size() || index >= parts[output].size()) return NotFound("no more parts");
      *out = Export(std::move(parts[output][index]));
      return {};
    });
  }

  static uint32_t FeedsBack(vn_session* s) noexcept { return Of(s).session->FeedsBack(); }

  static vn_status* ResetSession(vn_session* s) noexcept {
    return Guard(*Of(s).host, [&]() -> Status { return Of(s).session->Reset(); });
  }
};

}  // namespace internal
}  // namespace vernier::sdk

/// Exports a backend class as the plug-in's only symbol. At namespace scope, once in a library.
#define VERNIER_EXPORT_BACKEND(Backend)                                                     \
  extern "C" __attribute__((visibility("default"))) const vn_backend_api* vn_backend_query( \
      const vn_host* host) {                                                                \
    using ::vernier::sdk::internal::Exporter;                                               \
    return ::vernier::sdk::internal::AnswerQuery<Exporter<Backend>>(host);                  \
  }
