// TensorFlow, opened at run time from where people have it.
#include <cstdlib>

#include "tf_api.h"
#include "tf_session.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::tf {
namespace {

class TensorFlowBackend {
 public:
  static constexpr std::string_view kName = "tensorflow";
  static constexpr std::string_view kVersion = "1";

  static std::span<const vn_option_info> OptionTable() {
    static const vn_option_info kOptions[] = {
        Row("lib", "path", "library to load"),
        Row("xla", "switch", "compile graphs with XLA"),
        Row("threads", "int", "threads within and across operations; default: TensorFlow's choice"),
        Row("graph_optimization", "word", "on or off; default on"),
        Row("model_type", "word", "frozen or ckpt, where the path does not tell"),
        Row("ckpt", "name", "checkpoint in the folder, without an extension"),
        Row("signature", "name", "signature of a SavedModel; default serving_default"),
        Row("outputs", "name", "tensors to hand out, repeated; * for all"),
        Row("freeze_graph", "switch", "constants in place of variables"),
        Row("save_pb", "path", "where the graph is saved"),
        Row("save_tensorboard", "folder", "where events for TensorBoard are saved"),
        Row("save_timeline", "folder", "where traces of inferences are saved"),
        Row("gpu_memory_fraction", "float", "share of GPU memory, 0 to 1; default 0.9"),
        Row("allow_growth", "switch", "take GPU memory as it is needed"),
    };
    return kOptions;
  }

  static Result<std::unique_ptr<TensorFlowBackend>> Create(const sdk::Host& host,
                                                           sdk::Options options) {
    // Without it XLA clusters operations of GPUs only. Read while the library loads.
    if (!options.Get("xla").empty()) {
      ::setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=1 --tf_xla_cpu_global_jit", 0);
    }
    VERNIER_ASSIGN_OR_RETURN(Api api, LoadApi(options.Get("lib")));
    return std::unique_ptr<TensorFlowBackend>(new TensorFlowBackend(std::move(api), host));
  }

  std::string_view framework_version() const { return api_.TF_Version(); }
  std::string_view framework_path() const { return api_.path; }

  Result<std::unique_ptr<sdk::Session>> Open(const vn_model& model, sdk::Options options) {
    return TfModelSession::Open(api_, model, options, host_);
  }

 private:
  TensorFlowBackend(Api api, const sdk::Host& host) : api_(std::move(api)), host_(host) {}

  static vn_option_info Row(std::string_view name, std::string_view type, std::string_view help) {
    return {sizeof(vn_option_info), sdk::Str(name), sdk::Str(type), {}, sdk::Str(help)};
  }

  Api api_;
  sdk::Host host_;
};

}  // namespace
}  // namespace vernier::tf

VERNIER_EXPORT_BACKEND(vernier::tf::TensorFlowBackend)
