// TensorRT, opened at run time. One plug-in for each major version of its headers, from one source:
// its interface is C++ vtables, which differ between majors (see trt_version.h).
#include "tensorrt/library/option_list.h"
#include "tensorrt/session/trt_session.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {
namespace {

class TensorRtBackend {
 public:
#include "abilities.def"
  static constexpr std::string_view kVersion = "1";
  static constexpr uint32_t kReferenceRank = 60;

  static std::span<const vn_option_info> OptionTable() { return trt::OptionTable(); }

  static Result<std::unique_ptr<TensorRtBackend>> Create(const sdk::Host& host,
                                                         sdk::Options options) {
    VERNIER_ASSIGN_OR_RETURN(Library library, Library::Load(options.Get("lib")));
    VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<CudaDevice> device, CudaDevice::Open());
    std::unique_ptr<TensorRtBackend> backend(
        new TensorRtBackend(std::move(library), std::move(device), host));
    if (!backend->library_.plugins_missing().empty()) {
      host.Log(10, "TensorRT's plug-in layers are not available: " +
                       backend->library_.plugins_missing());
    }
    const cuda::CurrentContext current = backend->device_->Enter();
    backend->library_.RegisterPlugins(backend->logger_);
    if (options.Get("keep_builder") == "1") backend->builder_.Keep(backend->device_);
    return backend;
  }

  ~TensorRtBackend() {
    const cuda::CurrentContext current = device_->Enter();
    builder_.Drop();
  }

  std::string_view framework_version() const { return version_; }
  std::string_view framework_path() const { return library_.path(); }

  Result<std::unique_ptr<sdk::Session>> Open(const vn_model& model, sdk::Options options) {
    auto opened = TrtSession::Open({library_, builder_, device_, logger_}, model, options);
    const bool lacks = !opened.ok() && opened.status().code() == StatusCode::kUnavailable;
    if (!lacks || library_.version() == kHeaderVersion) return opened;
    // The library may well have what was asked for.
    return Unavailable(opened.status().message() + "\nNote: this plug-in was built with TensorRT " +
                       VersionText(kHeaderVersion) + "'s headers and knows the options of that; " +
                       "TensorRT " + version_ + " is installed");
  }

 private:
  TensorRtBackend(Library library, std::shared_ptr<CudaDevice> device, const sdk::Host& host)
      : library_(std::move(library)),
        version_(VersionText(library_.version())),
        device_(std::move(device)),
        logger_(host) {}

  Library library_;
  std::string version_;
  std::shared_ptr<CudaDevice> device_;
  Logger logger_;
  KeptBuilder builder_{library_, logger_};
};

}  // namespace
}  // namespace vernier::trt

VERNIER_EXPORT_BACKEND(vernier::trt::TensorRtBackend)
