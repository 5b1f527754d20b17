#include "tensorrt/builder/calibration.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "tensorrt/builder/engine_files.h"
#include "tensorrt/builder/feed_file.h"
#include "tensorrt/builder/profiles.h"
#include "tensorrt/library/option_words.h"
#include "tensorrt/library/trt_words.h"

namespace vernier::trt {

#if !VERNIER_TRT_AT_LEAST(11, 0)

namespace {

using nvinfer1::CalibrationAlgoType;

// What all kinds of calibrators do.
class Feeder {
 public:
  Feeder(const CudaDevice& device, Logger& logger) : device_(device), logger_(logger) {}

  Status Open(const nvinfer1::INetworkDefinition& network, const sdk::Options& options) {
    for (int32_t i = 0; i < network.getNbInputs(); ++i) {
      const nvinfer1::ITensor& input = *network.getInput(i);
      inputs_[input.getName()].dtype = DTypeOf(static_cast<int32_t>(input.getType()));
    }
    cache_path_ = ValueOf(options, "calibration_cache").value_or("");
    VERNIER_TRY(ReadCache());
    if (!cache_.empty()) return {};
    const auto path = ValueOf(options, "calibration_feeds");
    if (!path) {
      return InvalidArgument(
          "--int8: this model has to be calibrated, and there are no feeds for it");
    }
    VERNIER_ASSIGN_OR_RETURN(feeds_, FeedFile::Read(*path));
    if (feeds_.size() == 0) {
      return InvalidArgument("--int8: Calibrator data loader provided no data.");
    }
    VERNIER_ASSIGN_OR_RETURN(stream_, device_.CreateStream());
    return {};
  }
  ~Feeder() {
    if (stream_ != nullptr) device_.DestroyStream(stream_);
  }

  const Status& status() const { return status_; }

  bool NextBatch(void* bindings[], char const* names[], int32_t count) noexcept {
    if (next_ >= feeds_.size() || !status_.ok()) return false;
    const std::vector<FeedTensor>& feed = feeds_[next_++];
    for (int32_t i = 0; i < count && status_.ok(); ++i) {
      const auto found = std::find_if(feed.begin(), feed.end(),
                                      [&](const FeedTensor& t) { return t.name == names[i]; });
      status_ = found == feed.end()
                    ? InvalidArgument("--int8: the calibration feed " + std::to_string(next_ - 1) +
                                      " has no input '" + names[i] + "'")
                    : Upload(*found, bindings[i]);
    }
    if (status_.ok()) status_ = device_.Synchronize(stream_);
    return status_.ok();
  }

  const void* Cache(size_t& length) const {
    length = cache_.size();
    return cache_.empty() ? nullptr : cache_.data();
  }
  void StoreCache(const void* data, size_t length) {
    if (cache_path_.empty()) return;
    logger_.host().Info("Writing calibration cache to: " + cache_path_);
    const Status saved = SaveFile(cache_path_, {static_cast<const std::byte*>(data), length});
    if (!saved.ok()) logger_.host().Log(40, "--calibration-cache: " + saved.message());
  }

 private:
  struct Input {
    DType dtype = DType::kUndefined;
    std::shared_ptr<cuda::DeviceMemory> memory;
    std::vector<int32_t> narrowed;
  };

  // A file that is not there is what calibration writes.
  Status ReadCache() {
    std::error_code error;
    if (cache_path_.empty() || !std::filesystem::exists(cache_path_, error)) return {};
    if (std::filesystem::file_size(cache_path_, error) == 0) {
      logger_.host().Warning("Calibration cache was provided, but is empty.");
      return {};
    }
    VERNIER_ASSIGN_OR_RETURN(cache_, ReadWhole(cache_path_));
    logger_.host().Info("Reading calibration cache from " + cache_path_);
    return {};
  }

  Status Upload(const FeedTensor& tensor, void*& binding) {
    Input& input = inputs_[tensor.name];
    std::span<const std::byte> bytes = tensor.bytes;
    if (tensor.dtype == DType::kInt64 && input.dtype == DType::kInt32) {
      // As TrtSession does with inputs: TensorRT before 10 computes the model's int64 as int32.
      input.narrowed.resize(bytes.size() / sizeof(int64_t));
      for (size_t i = 0; i < input.narrowed.size(); ++i) {
        int64_t value = 0;
        std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
        if (value != static_cast<int32_t>(value)) {
          return InvalidArgument("--int8: a calibration feed has " + std::to_string(value) +
                                 " in input '" + tensor.name + "', which is beyond int32");
        }
        input.narrowed[i] = static_cast<int32_t>(value);
      }
      bytes = std::as_bytes(std::span(input.narrowed));
    } else if (tensor.dtype != input.dtype) {
      return InvalidArgument("--int8: the calibration feeds have " +
                             std::string(DTypeName(tensor.dtype)) + " for input '" + tensor.name +
                             "', which is " + std::string(DTypeName(input.dtype)));
    }
    if (input.memory == nullptr || input.memory->size() < bytes.size()) {
      VERNIER_ASSIGN_OR_RETURN(input.memory, device_.Allocate(bytes.size()));
    }
    binding = input.memory->data();
    return device_.CopyToDevice(input.memory->pointer(), bytes.data(), bytes.size(), stream_);
  }

  const CudaDevice& device_;
  Logger& logger_;
  std::string cache_path_;
  std::string cache_;
  FeedFile feeds_;
  size_t next_ = 0;
  cuda::Stream stream_ = nullptr;
  std::map<std::string, Input> inputs_;
  Status status_;
};

template <typename Kind>
class Calibrator : public Calibration, public Kind {
 public:
  Calibrator(const CudaDevice& device, Logger& logger) : feeder_(device, logger) {}

  Feeder& feeder() { return feeder_; }
  Status status() const override { return feeder_.status(); }

  int32_t getBatchSize() const noexcept override { return 1; }
  bool getBatch(void* bindings[], char const* names[], int32_t count) noexcept override {
    return feeder_.NextBatch(bindings, names, count);
  }
  void const* readCalibrationCache(size_t& length) noexcept override {
    return feeder_.Cache(length);
  }
  void writeCalibrationCache(void const* data, size_t length) noexcept override {
    feeder_.StoreCache(data, length);
  }

 private:
  Feeder feeder_;
};

class LegacyCalibrator final : public Calibrator<nvinfer1::IInt8LegacyCalibrator> {
 public:
  LegacyCalibrator(const CudaDevice& device, Logger& logger, double quantile, double cutoff)
      : Calibrator(device, logger), quantile_(quantile), cutoff_(cutoff) {}

  double getQuantile() const noexcept override { return quantile_; }
  double getRegressionCutoff() const noexcept override { return cutoff_; }
  void const* readHistogramCache(size_t& length) noexcept override {
    length = 0;
    return nullptr;
  }
  void writeHistogramCache(void const*, size_t) noexcept override {}

 private:
  double quantile_;
  double cutoff_;
};

template <typename Kind>
Result<std::unique_ptr<Calibration>> Start(std::unique_ptr<Kind> calibrator,
                                           nvinfer1::IBuilderConfig& config,
                                           const nvinfer1::INetworkDefinition& network,
                                           const sdk::Options& options) {
  VERNIER_TRY(calibrator->feeder().Open(network, options));
  config.setInt8Calibrator(calibrator.get());
  return std::unique_ptr<Calibration>(std::move(calibrator));
}

double FractionOf(const sdk::Options& options, std::string_view key) {
  const auto text = ValueOf(options, key);
  return text ? std::strtod(text->c_str(), nullptr) : 0.5;
}

}  // namespace

Result<std::unique_ptr<Calibration>> Calibration::Set(nvinfer1::IBuilderConfig& config,
                                                      const nvinfer1::INetworkDefinition& network,
                                                      const CudaDevice& device,
                                                      const sdk::Options& options, Logger& logger) {
  const std::string kind =
      ValueOf(options, "calibration_base_class").value_or("IInt8EntropyCalibrator2");
  const auto start = [&]<typename Kind>(std::unique_ptr<Kind> calibrator) {
    return Start(std::move(calibrator), config, network, options);
  };
  if (kind == "IInt8EntropyCalibrator2") {
    return start(std::make_unique<Calibrator<nvinfer1::IInt8EntropyCalibrator2>>(device, logger));
  }
  if (kind == "IInt8EntropyCalibrator") {
    return start(std::make_unique<Calibrator<nvinfer1::IInt8EntropyCalibrator>>(device, logger));
  }
  if (kind == "IInt8MinMaxCalibrator") {
    return start(std::make_unique<Calibrator<nvinfer1::IInt8MinMaxCalibrator>>(device, logger));
  }
  if (kind == "IInt8LegacyCalibrator") {
    return start(std::make_unique<LegacyCalibrator>(device, logger, FractionOf(options, "quantile"),
                                                    FractionOf(options, "regression_cutoff")));
  }
  return InvalidArgument(
      "--calib-base-cls: expected one of IInt8EntropyCalibrator2, IInt8EntropyCalibrator, "
      "IInt8MinMaxCalibrator, IInt8LegacyCalibrator, got '" +
      kind + "'");
}

#else

Result<std::unique_ptr<Calibration>> Calibration::Set(nvinfer1::IBuilderConfig&,
                                                      const nvinfer1::INetworkDefinition&,
                                                      const CudaDevice&, const sdk::Options&,
                                                      Logger&) {
  return Unavailable("--int8: TensorRT " + VersionText(kHeaderVersion) +
                     " has no calibrators; quantize the model first (QuantizeLinear and "
                     "DequantizeLinear), for instance with ONNX Runtime's quantize_static");
}

#endif

}  // namespace vernier::trt
