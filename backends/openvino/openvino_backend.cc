// OpenVINO, opened at run time from where people have it.
#include "fitted_session.h"
#include "ov_api.h"
#include "ov_session.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::ov {
namespace {

class OpenVinoBackend {
 public:
#include "abilities.def"
  static constexpr std::string_view kVersion = "1";
  static constexpr uint32_t kReferenceRank = 30;

  static std::span<const vn_option_info> OptionTable() {
    static const vn_option_info kOptions[] = {
        sdk::OptionRow("lib", "path", "", "library to load", {.means = VN_MEANS_LIBRARY}),
        sdk::OptionRow("device", "word", "CPU", "device to compile for"),
        sdk::OptionRow("precision", "word", kDefaultPrecision,
                       "inference precision; default is OpenVINO's own choice",
                       {.values = kPrecisionWords}),
        sdk::OptionRow("threads", "int", "",
                       "threads of an inference; default: OpenVINO's own choice",
                       {.neutral = "1 2", .means = VN_MEANS_THREADS}),
        sdk::OptionRow("layer_times", "path", "",
                       "measure each layer, and write the times there when the session ends",
                       {.role = VN_ROLE_LAYER_TIMES}),
        sdk::OptionRow("layer_names", "path", "", "write there which nodes each kernel computes",
                       {.role = VN_ROLE_LAYER_NAMES}),
        sdk::OptionRow("shapes", "word", FirstWord(kShapesWords),
                       "static: compile ONNX models for the sizes of the feed, even where OpenVINO "
                       "compiles them with dynamic shapes",
                       {.values = kShapesWords}),
        sdk::OptionRow("feed_shapes", "word", "",
                       "input sizes for a model that OpenVINO rejects without them; default: those "
                       "of the first feed",
                       {.means = VN_MEANS_FEED_SHAPES}),
    };
    return kOptions;
  }

  static Result<std::unique_ptr<OpenVinoBackend>> Create(const sdk::Host& host,
                                                         sdk::Options options) {
    VERNIER_ASSIGN_OR_RETURN(Api api, LoadApi(options.Get("lib")));
    ov_core_t* core = nullptr;
    VERNIER_TRY(Check(api, api.ov_core_create(&core), "starting OpenVINO"));
    return std::unique_ptr<OpenVinoBackend>(new OpenVinoBackend(std::move(api), core, host));
  }

  ~OpenVinoBackend() { api_.ov_core_free(core_); }

  std::string_view framework_version() const { return api_.version; }
  std::string_view framework_path() const { return api_.path; }

  Result<std::unique_ptr<sdk::Session>> Open(const vn_model& model, sdk::Options options) {
    return FittedSession::Open({api_, core_, host_}, model, options);
  }

 private:
  OpenVinoBackend(Api api, ov_core_t* core, const sdk::Host& host)
      : api_(std::move(api)), core_(core), host_(host) {}

  Api api_;
  ov_core_t* core_;
  const sdk::Host& host_;
};

}  // namespace
}  // namespace vernier::ov

VERNIER_EXPORT_BACKEND(vernier::ov::OpenVinoBackend)
