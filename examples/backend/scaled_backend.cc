// A backend outside of vernier's tree: each output is the input of the same place, times a number.
// It declares all that a backend can do, so that blame, --noise-floor, check consistency, profile,
// check lint, --python and --workers-per-runner treat it like those that come with vernier.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vernier/backend_sdk.hpp"
#include "vernier/layer_times.hpp"

namespace {

using namespace vernier;

class ScaledSession final : public sdk::Session {
 public:
  ScaledSession(const vn_model& model, sdk::Options options, const sdk::Host& host)
      : scale_(std::stof(std::string(options.Get("scale", "1")))),
        backwards_(options.Get("order") == "backwards"),
        times_path_(options.Get("times")) {
    for (const std::string_view told : {"pool", "sizes"}) {
      if (const auto value = options.Get(told); !value.empty()) {
        host.Log(20, std::string(told) + " of scaled: " + std::string(value));
      }
    }
    for (size_t i = 0; i < model.input_count; ++i) {
      inputs_.push_back(sdk::SpecOf(*model.inputs[i]));
      outputs_.push_back(inputs_.back());
      if (i < model.output_count) outputs_.back().name = std::string(sdk::View(model.outputs[i]));
    }
  }
  ~ScaledSession() override {
    const sdk::LayerTime layers[] = {{"scale", "Mul", 1e-6}};
    if (!times_path_.empty()) sdk::WriteLayerTimes(times_path_, layers);
  }

  std::span<const sdk::TensorSpec> inputs() const override { return inputs_; }
  std::span<const sdk::TensorSpec> outputs() const override { return outputs_; }
  sdk::SessionInfo info() const override { return {"float32", "CPU"}; }

  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override {
    sdk::RunOutcome outcome;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      for (const vn_tensor* input : inputs) {
        if (sdk::View(input->name) == inputs_[i].name) {
          outcome.outputs.push_back(Scale(*input, outputs_[i].name));
        }
      }
    }
    return outcome;
  }

 private:
  sdk::OutputTensor Scale(const vn_tensor& input, const std::string& name) const {
    const auto values = std::make_shared<std::vector<float>>(input.byte_size / sizeof(float));
    const auto* from = static_cast<const float*>(input.data);
    for (size_t i = 0; i < values->size(); ++i) {
      const size_t at = backwards_ ? values->size() - 1 - i : i;
      (*values)[at] = from[at] * scale_;
    }
    sdk::OutputTensor output;
    output.name = name;
    output.dtype = DType::kFloat32;
    output.shape.assign(input.shape, input.shape + input.rank);
    output.data = values->data();
    output.byte_size = input.byte_size;
    output.keep_alive = values;
    return output;
  }

  float scale_;
  bool backwards_;
  std::string times_path_;
  std::vector<sdk::TensorSpec> inputs_, outputs_;
};

class ScaledBackend {
 public:
  static constexpr std::string_view kName = "scaled";
  static constexpr std::string_view kVersion = "1";
  // Between ONNX's reference evaluator and ONNX Runtime.
  static constexpr uint32_t kReferenceRank = 15;
  static constexpr std::string_view kModelFormats = "onnx";

  static std::span<const std::string_view> NeutralEnvironments() {
    static constexpr std::string_view kSettings[] = {"OMP_NUM_THREADS=1"};
    return kSettings;
  }

  static std::span<const vn_option_info> OptionTable() {
    static const vn_option_info kOptions[] = {
        sdk::OptionRow("scale", "float", "1", "what values are multiplied with"),
        sdk::OptionRow("order", "word", "forwards", "which element comes first",
                       {.values = "forwards backwards", .neutral = "backwards"}),
        sdk::OptionRow("times", "path", "", "write there how long each layer takes",
                       {.role = VN_ROLE_LAYER_TIMES}),
        sdk::OptionRow("pool", "int", "", "how many threads compute", {.means = VN_MEANS_THREADS}),
        sdk::OptionRow("sizes", "word", "", "sizes of inputs", {.means = VN_MEANS_FEED_SHAPES}),
        sdk::OptionRow("home", "path", "", "where the framework is", {.means = VN_MEANS_LIBRARY}),
        sdk::OptionRow("warnings", "word", "stderr", "where warnings go",
                       {.values = "stderr host", .means = VN_MEANS_LOG}),
    };
    return kOptions;
  }

  static Result<std::unique_ptr<ScaledBackend>> Create(const sdk::Host& host,
                                                       sdk::Options options) {
    auto backend = std::make_unique<ScaledBackend>(host);
    backend->home_ = options.Get("home");
    backend->warns_ = options.Get("warnings") == "host";
    return backend;
  }

  explicit ScaledBackend(const sdk::Host& host) : host_(host) {}

  std::string_view framework_version() const { return "1.0"; }
  std::string_view framework_path() const { return home_; }

  Result<std::unique_ptr<sdk::Session>> Open(const vn_model& model, sdk::Options options) {
    for (size_t i = 0; i < model.input_count; ++i) {
      if (sdk::SpecOf(*model.inputs[i]).dtype == DType::kFloat32) continue;
      return Unimplemented("the scaled backend takes float32 alone");
    }
    if (warns_) host_.Warning("scaled: numbers are not what they were");
    return std::unique_ptr<sdk::Session>(std::make_unique<ScaledSession>(model, options, host_));
  }

 private:
  sdk::Host host_;
  std::string home_;
  bool warns_ = false;
};

}  // namespace

VERNIER_EXPORT_BACKEND(ScaledBackend)
