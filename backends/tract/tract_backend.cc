// tract, Sonos's inference engine in Rust, opened at run time from where people have it.
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tract_api.h"
#include "tract_session.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::tract {
namespace {

class TractBackend {
 public:
#include "abilities.def"
  static constexpr std::string_view kVersion = "1";
  // Behind the runtimes that more people have checked, before what runs on a GPU.
  static constexpr uint32_t kReferenceRank = 55;

  static std::span<const vn_option_info> OptionTable() {
    static const vn_option_info kOptions[] = {
        sdk::OptionRow("lib", "path", "", "library to load", {.means = VN_MEANS_LIBRARY}),
        sdk::OptionRow("precision", "word", "f32",
                       "type in which float32 models compute; inputs and outputs stay float32",
                       {.values = "f32 f16"}),
        sdk::OptionRow("layer_times", "path", "",
                       "measure each layer, and write the times there when the session ends",
                       {.role = VN_ROLE_LAYER_TIMES}),
    };
    return kOptions;
  }

  static Result<std::unique_ptr<TractBackend>> Create(const sdk::Host&, sdk::Options options) {
    VERNIER_ASSIGN_OR_RETURN(const Api api, LoadApi(options.Get("lib")));
    Owned<Onnx> onnx(api.onnx_destroy);
    VERNIER_TRY(Check(api, api.onnx_create(onnx.at()), "starting tract"));
    return std::unique_ptr<TractBackend>(new TractBackend(api, std::move(onnx)));
  }

  std::string_view framework_version() const { return api_.version(); }
  std::string_view framework_path() const { return api_.path; }

  Result<std::unique_ptr<sdk::Session>> Open(const vn_model& model, sdk::Options options) {
    return TractSession::Open(api_, onnx_.get(), model, options);
  }

 private:
  TractBackend(Api api, Owned<Onnx> onnx) : api_(std::move(api)), onnx_(std::move(onnx)) {}

  const Api api_;
  Owned<Onnx> onnx_;
};

}  // namespace
}  // namespace vernier::tract

VERNIER_EXPORT_BACKEND(vernier::tract::TractBackend)
