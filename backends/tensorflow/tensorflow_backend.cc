// TensorFlow, opened at run time from where people have it.
#include <cstdlib>

#include "tf_api.h"
#include "tf_session.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::tf {
namespace {

class TensorFlowBackend {
 public:
#include "abilities.def"
  static constexpr std::string_view kVersion = "1";
  static constexpr uint32_t kReferenceRank = 50;

  static std::span<const vn_option_info> OptionTable() {
    static const vn_option_info kOptions[] = {
        sdk::OptionRow("lib", "path", "", "library to load", {.means = VN_MEANS_LIBRARY}),
        sdk::OptionRow("xla", "switch", "", "compile graphs with XLA", {.values = "1"}),
        sdk::OptionRow("threads", "int", "",
                       "threads within and across operations; default: TensorFlow's choice",
                       {.neutral = "1 2", .means = VN_MEANS_THREADS}),
        sdk::OptionRow("graph_optimization", "word", "on", "whether Grappler rewrites the graph",
                       {.values = "on off", .neutral = "off"}),
        sdk::OptionRow("model_type", "word", "", "frozen or ckpt, where the path does not say"),
        sdk::OptionRow("ckpt", "name", "", "checkpoint in the folder, without an extension"),
        sdk::OptionRow("signature", "name", "",
                       "signature of a SavedModel; default serving_default"),
        sdk::OptionRow("outputs", "name", "", "tensors to return, repeated; * for all"),
        sdk::OptionRow("freeze_graph", "switch", "", "constants in place of variables",
                       {.values = "1"}),
        sdk::OptionRow("save_pb", "path", "", "where the graph is saved"),
        sdk::OptionRow("save_tensorboard", "folder", "", "where events for TensorBoard are saved"),
        sdk::OptionRow("save_timeline", "folder", "", "where traces of inferences are saved"),
        sdk::OptionRow("gpu_memory_fraction", "float", "",
                       "share of GPU memory, 0 to 1; default 0.9"),
        sdk::OptionRow("allow_growth", "switch", "", "take GPU memory as it is needed",
                       {.values = "1"}),
    };
    return kOptions;
  }

  // Kernels without oneDNN.
  static std::span<const std::string_view> NeutralEnvironments() {
    static constexpr std::string_view kSettings[] = {"TF_ENABLE_ONEDNN_OPTS=0"};
    return kSettings;
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

  Api api_;
  sdk::Host host_;
};

}  // namespace
}  // namespace vernier::tf

VERNIER_EXPORT_BACKEND(vernier::tf::TensorFlowBackend)
