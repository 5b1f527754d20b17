#include "tensorrt/builder/tactic_replay.h"

#include <span>

#include "tensorrt/builder/engine_files.h"
#include "tensorrt/builder/tactic_record.h"
#include "tensorrt/library/option_words.h"
#include "tensorrt/library/trt_words.h"

namespace vernier::trt {

#if !VERNIER_TRT_AT_LEAST(11, 0)

namespace {

using nvinfer1::IAlgorithm;
using nvinfer1::IAlgorithmContext;
using nvinfer1::IAlgorithmIOInfo;

template <typename Info>
TacticTensor TensorOf(const Info& info) {
  TacticTensor out;
  out.dtype = "DataType." + NameOf(DataTypeWords(), static_cast<int32_t>(info.getDataType()));
  const nvinfer1::Dims strides = info.getStrides();
  out.strides.assign(strides.d, strides.d + std::max(strides.nbDims, 0));
  if constexpr (requires { info.getVectorizedDim(); }) {
    out.vectorized_dim = info.getVectorizedDim();
    out.components_per_element = info.getComponentsPerElement();
  }
  return out;
}

Tactic TacticOf(const IAlgorithmContext& context, const IAlgorithm& algorithm) {
  Tactic out;
  out.implementation = algorithm.getAlgorithmVariant().getImplementation();
  out.tactic = algorithm.getAlgorithmVariant().getTactic();
  const int32_t inputs = context.getNbInputs();
  for (int32_t i = 0; i < inputs + context.getNbOutputs(); ++i) {
    const IAlgorithmIOInfo* info = algorithm.getAlgorithmIOInfoByIndex(i);
    if (info != nullptr) (i < inputs ? out.inputs : out.outputs).push_back(TensorOf(*info));
  }
  return out;
}

class Recorder final : public TacticReplay, public nvinfer1::IAlgorithmSelector {
 public:
  Recorder(std::string path, Logger& logger) : path_(std::move(path)), logger_(logger) {}

  // TensorRT's choice among all.
  int32_t selectAlgorithms(const IAlgorithmContext&, const IAlgorithm* const*, int32_t count,
                           int32_t* selection) noexcept override {
    for (int32_t i = 0; i < count; ++i) selection[i] = i;
    return count;
  }
  void reportAlgorithms(const IAlgorithmContext* const* contexts,
                        const IAlgorithm* const* algorithms, int32_t count) noexcept override {
    for (int32_t i = 0; i < count; ++i) {
      record_[contexts[i]->getName()] = TacticOf(*contexts[i], *algorithms[i]);
    }
  }
  Status Finish() override {
    logger_.host().Info("Saving tactic replay to " + path_);
    const std::string text = FormatTactics(record_);
    return SaveFile(path_, std::as_bytes(std::span(text)));
  }

 private:
  std::string path_;
  Logger& logger_;
  TacticRecord record_;
};

class Replayer final : public TacticReplay, public nvinfer1::IAlgorithmSelector {
 public:
  Replayer(TacticRecord record, Logger& logger) : record_(std::move(record)), logger_(logger) {}

  int32_t selectAlgorithms(const IAlgorithmContext& context, const IAlgorithm* const* choices,
                           int32_t count, int32_t* selection) noexcept override {
    const auto found = record_.find(context.getName());
    if (found == record_.end()) {
      logger_.host().Warning("Layer: " + std::string(context.getName()) +
                             " was not found in the tactic replay. TensorRT chooses its tactic.");
      for (int32_t i = 0; i < count; ++i) selection[i] = i;
      return count;
    }
    std::string offered;
    for (int32_t i = 0; i < count; ++i) {
      const Tactic choice = TacticOf(context, *choices[i]);
      if (Matches(found->second, choice)) {
        selection[0] = i;
        return 1;
      }
      offered += "\n    " + Describe(choice);
    }
    if (status_.ok()) {
      status_ = BackendError("--load-tactics: layer '" + std::string(context.getName()) +
                             "' has the tactic " + Describe(found->second) +
                             ", which TensorRT does not offer; it offers" + offered);
    }
    return 0;
  }
  void reportAlgorithms(const IAlgorithmContext* const*, const IAlgorithm* const*,
                        int32_t) noexcept override {}
  Status Finish() override { return status_; }

 private:
  TacticRecord record_;
  Logger& logger_;
  Status status_;
};

Result<std::unique_ptr<Replayer>> LoadReplay(const std::string& path, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
  Result<TacticRecord> record = ParseTactics(text);
  if (!record.ok()) return std::move(record).status().Annotate("--load-tactics '" + path + "'");
  return std::make_unique<Replayer>(*std::move(record), logger);
}

}  // namespace

Result<std::unique_ptr<TacticReplay>> TacticReplay::Set(nvinfer1::IBuilderConfig& config,
                                                        const sdk::Options& options,
                                                        Logger& logger) {
  std::unique_ptr<TacticReplay> replay;
  if (const auto path = ValueOf(options, "save_tactics")) {
    auto recorder = std::make_unique<Recorder>(*path, logger);
    config.setAlgorithmSelector(recorder.get());
    replay = std::move(recorder);
  } else if (const auto loaded = ValueOf(options, "load_tactics")) {
    VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Replayer> replayer, LoadReplay(*loaded, logger));
    config.setAlgorithmSelector(replayer.get());
    replay = std::move(replayer);
  }
  if (replay != nullptr && !ValueOf(options, "load_timing_cache")) {
    logger.host().Warning("Disabling tactic timing cache because algorithm selector is enabled.");
    config.setFlag(nvinfer1::BuilderFlag::kDISABLE_TIMING_CACHE);
  }
  return replay;
}

#else

Result<std::unique_ptr<TacticReplay>> TacticReplay::Set(nvinfer1::IBuilderConfig&,
                                                        const sdk::Options& options, Logger&) {
  for (const auto& [key, option] :
       {std::pair("save_tactics", "--save-tactics"), std::pair("load_tactics", "--load-tactics")}) {
    if (!ValueOf(options, key)) continue;
    return Unavailable(std::string(option) + " is not available in TensorRT " +
                       VersionText(kHeaderVersion) +
                       ", which cannot be made to choose; --load-timing-cache can make it "
                       "choose as before");
  }
  return std::unique_ptr<TacticReplay>();
}

#endif

}  // namespace vernier::trt
