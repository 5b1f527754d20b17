#include "tensorrt/builder/engine_builder.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "tensorrt/builder/build_progress.h"
#include "tensorrt/builder/builder_config.h"
#include "tensorrt/builder/debug_tensors.h"
#include "tensorrt/builder/engine_files.h"
#include "tensorrt/builder/legacy_models.h"
#include "tensorrt/builder/network_edits.h"
#include "tensorrt/builder/onnx_nodes.h"
#include "tensorrt/library/option_words.h"
#include "tensorrt/library/trt_words.h"

namespace vernier::trt {
namespace {

// A network with what keeps it alive.
struct ParsedNetwork {
  std::shared_ptr<nvinfer1::IBuilder> builder;
  KeptTimings* timings = nullptr;  // of all builds that keep them
  std::string shared_timings;      // the file of SharedTimings()
  Owned<nvinfer1::INetworkDefinition> network;
  Owned<nvonnxparser::IParser> parser;  // owns the weights until the build is over
  std::shared_ptr<void> legacy_parser;  // as well
};

// The ONNX parser has flags since 8.6.
template <typename Parser>
Status SetParserFlags(Parser& parser, const sdk::Options& options, Logger& logger) {
  const auto words = WordsOf(options, "onnx_flags");
  if constexpr (requires { parser.setFlags(0u); }) {
    uint32_t mask = parser.getFlags();
    const Result<int32_t> instance_norm =
        LookUp(OnnxFlagWords(), "NATIVE_INSTANCENORM", "--onnx-flags");
    if (words) {
      mask = 0;
      for (const std::string& word : *words) {
        VERNIER_ASSIGN_OR_RETURN(const int32_t flag, LookUp(OnnxFlagWords(), word, "--onnx-flags"));
        mask |= 1u << flag;
      }
    }
    if (IsOn(options, "enable_uint8_asymmetric_quantization_dla")) {
      VERNIER_ASSIGN_OR_RETURN(
          const int32_t flag,
          LookUp(OnnxFlagWords(), "ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA",
                 "--enable-uint8-asymmetric-quantization-dla"));
      mask |= 1u << flag;
    }
    const bool native = (mask >> *instance_norm & 1u) != 0;
    if (IsOn(options, "plugin_instancenorm")) {
      mask &= ~(1u << *instance_norm);
    } else if (!native && (IsOn(options, "version_compatible") ||
                           IsOn(options, "hardware_compatibility_level"))) {
      logger.host().Warning(
          "Version or hardware compatibility was enabled. If you are using an ONNX model, please "
          "set "
          "the NATIVE_INSTANCENORM ONNX parser flag; it is set here.");
      mask |= 1u << *instance_norm;
    }
    parser.setFlags(mask);
  }
  return {};
}

// Newer parsers name the node themselves, also where it is inside of another one.
template <typename Error>
std::string NodeOf(const Error& error, const vn_model& model) {
  if constexpr (requires { error.nodeOperator(); }) {
    const char* const op_type = error.nodeOperator();
    if (op_type != nullptr && *op_type != 0) return DescribeNode({error.nodeName(), op_type, ""});
  }
  if (error.node() < 0) return {};
  const std::optional<OnnxNode> node = FindNode(model, static_cast<size_t>(error.node()));
  return node ? DescribeNode(*node) : "node " + std::to_string(error.node());
}

std::string ParserErrors(const nvonnxparser::IParser& parser, const vn_model& model,
                         Logger& logger) {
  std::string text;
  bool unsupported = false;
  for (int i = 0; i < parser.getNbErrors(); ++i) {
    const nvonnxparser::IParserError& error = *parser.getError(i);
    const std::string node = NodeOf(error, model);
    text += (text.empty() ? "" : "; ") + node + (node.empty() ? "" : ": ") + error.desc();
    unsupported |= error.code() == nvonnxparser::ErrorCode::kUNSUPPORTED_NODE;
  }
  if (unsupported) {
    text +=
        ". For an operator that TensorRT lacks, load a plugin of the operator's name (--plugins"
        " LIBRARY), use another runner, or leave the operator out (vernier surgeon extract)";
  }
  return text.empty() ? logger.TakeError() : text;
}

Status ParseOnnx(const Library& library, const vn_model& model, const sdk::Options& options,
                 ParsedNetwork& parsed, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(parsed.parser, library.CreateParser(*parsed.network, logger));
  if (parsed.parser == nullptr) return BackendError("TensorRT made no ONNX parser");
  VERNIER_TRY(SetParserFlags(*parsed.parser, options, logger));
  const std::string path(sdk::View(model.path));
  // Weights in other files are looked for beside `path`.
  const bool ok = model.bytes != nullptr
                      ? parsed.parser->parse(model.bytes, model.byte_count, path.c_str())
                      : parsed.parser->parseFromFile(
                            path.c_str(), static_cast<int>(nvinfer1::ILogger::Severity::kWARNING));
  if (!ok) {
    return BackendError("TensorRT cannot parse '" + path +
                        "': " + ParserErrors(*parsed.parser, model, logger));
  }
  return {};
}

Result<ParsedNetwork> Parse(KeptBuilder& builder, const vn_model& model,
                            const sdk::Options& options, Logger& logger) {
  ParsedNetwork parsed;
  parsed.builder = builder.Get();
  if (parsed.builder == nullptr) {
    return BackendError("TensorRT made no builder: " + logger.TakeError());
  }
  if (IsOn(options, "keep_timings")) parsed.timings = &builder.timings();
  parsed.network.reset(
      parsed.builder->createNetworkV2(NetworkFlags(IsOn(options, "strongly_typed"))));
  if (parsed.network == nullptr) {
    return BackendError("TensorRT made no network: " + logger.TakeError());
  }
  VERNIER_TRY(MarkUnfusedTensors(*parsed.network, options));
  if (IsLegacyModel(ValueOf(options, "model_type").value_or(""))) {
    VERNIER_ASSIGN_OR_RETURN(
        parsed.legacy_parser,
        ParseLegacyModel(builder.library(), model, options, *parsed.network, logger));
  } else {
    VERNIER_TRY(ParseOnnx(builder.library(), model, options, parsed, logger));
  }
  VERNIER_TRY(EditNetwork(*parsed.network, options, logger));
  return parsed;
}

// Of what TensorRT's own words do not make plain.
std::string Explained(const std::string& why) {
  if (why.find("libnvinfer_lean") != std::string::npos) {
    return why +
           ". --version-compatible puts TensorRT's lean runtime into the engine, a library "
           "that comes with NVIDIA's packages and not with its Python wheels; "
           "--exclude-lean-runtime leaves it out";
  }
  const bool memory = why.find("OutOfMemory") != std::string::npos ||
                      why.find("out of memory") != std::string::npos;
  if (!memory) return why;
  return "there is too little memory left on the GPU; smaller shapes or --pool-limit "
         "workspace:SIZE "
         "need less (" +
         why + ")";
}

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", seconds);
  return text;
}

Result<BuiltEngine> BuildOnce(ParsedNetwork& parsed, const CudaDevice& device,
                              const sdk::Options& options, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(
      const BuildConfig build,
      MakeConfig({*parsed.builder, *parsed.network, parsed.timings, parsed.shared_timings}, device,
                 options, logger));
  BuiltEngine engine;
  engine.config = ReadConfig(*build.config);
  logger.host().Start("Building engine with configuration:\n" + FormatConfig(engine.config));
  const auto start = std::chrono::steady_clock::now();
  {
    const BuildProgress progress(*build.config, logger.host());
    engine.plan.reset(parsed.builder->buildSerializedNetwork(*parsed.network, *build.config));
  }
  // What went wrong in a callback says more than what TensorRT makes of it.
  if (build.calibration != nullptr) VERNIER_TRY(build.calibration->status());
  if (build.tactics != nullptr) VERNIER_TRY(build.tactics->Finish());
  if (engine.plan == nullptr) {
    return BackendError("TensorRT could not build the engine: " + Explained(logger.TakeError()));
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  logger.host().Log(28, "Finished engine building in " + Seconds(elapsed.count()) + " seconds");
  engine.asked = AskedPrecisions(*parsed.network);
  std::string asked;
  for (const AskedPrecision& row : engine.asked) {
    asked += (asked.empty() ? "" : "\n") + row.layer + ":" + row.precision;
  }
  if (!asked.empty()) engine.config.emplace_back("Layer precisions", asked);
  if (ValueOf(options, "timing_cache_dir")) {
    engine.config.emplace_back("Timing cache", build.shared_timings);
  }
  VERNIER_TRY(SaveTimingCache(build, options, logger));
  return engine;
}

// Outputs that options marked, besides those that the model has by itself.
std::vector<nvinfer1::ITensor*> MarkedOutputs(const nvinfer1::INetworkDefinition& network,
                                              const vn_model& model) {
  std::vector<nvinfer1::ITensor*> marked;
  for (int32_t i = 0; i < network.getNbOutputs(); ++i) {
    nvinfer1::ITensor* tensor = network.getOutput(i);
    bool own = false;
    for (size_t k = 0; k < model.output_count; ++k) {
      own |= sdk::View(model.outputs[k]) == tensor->getName();
    }
    if (!own) marked.push_back(tensor);
  }
  return marked;
}

struct BuildSetting {
  const CudaDevice& device;
  const sdk::Options& options;
  Logger& logger;
};

// Marking a tensor can make a build fail. Halves of the marked tensors are taken away until the
// rest builds; what stands in the way is found in a number of builds that grows with its logarithm.
Result<BuiltEngine> BuildWithout(ParsedNetwork& parsed, const vn_model& model,
                                 const BuildSetting& setting, Status first) {
  const auto& [device, options, logger] = setting;
  using Tensors = std::vector<nvinfer1::ITensor*>;
  const Tensors all = MarkedOutputs(*parsed.network, model);
  if (all.empty()) return first;
  logger.host().Warning("The build failed with the marked outputs; trying without some of them");
  std::vector<Tensors> suspects;
  std::vector<sdk::NotExposed> refused;
  const auto take_away = [&](const Tensors& group, const std::string& why) {
    for (nvinfer1::ITensor* tensor : group) parsed.network->unmarkOutput(*tensor);
    if (group.size() == 1) return refused.push_back({group.front()->getName(), why});
    const auto middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
    suspects.emplace_back(middle, group.end());
    suspects.emplace_back(group.begin(), middle);
  };
  take_away(all, first.message());
  std::optional<BuiltEngine> built;  // with all that is marked
  while (!suspects.empty()) {
    const Tensors group = std::move(suspects.back());
    suspects.pop_back();
    for (nvinfer1::ITensor* tensor : group) parsed.network->markOutput(*tensor);
    Result<BuiltEngine> tried = BuildOnce(parsed, device, options, logger);
    if (tried.ok()) {
      built = *std::move(tried);
    } else {
      take_away(group, tried.status().message());
    }
  }
  if (parsed.network->getNbOutputs() == 0) return first;
  if (!built) {
    VERNIER_ASSIGN_OR_RETURN(built, BuildOnce(parsed, device, options, logger));
  }
  built->not_exposed = std::move(refused);
  return *std::move(built);
}

}  // namespace

Result<BuiltEngine> BuildEngine(KeptBuilder& builder, const CudaDevice& device,
                                const vn_model& model, const sdk::Options& options,
                                Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(ParsedNetwork parsed, Parse(builder, model, options, logger));
  parsed.shared_timings =
      SharedTimings(options, VersionText(builder.library().version()), device.name());
  Result<BuiltEngine> engine = BuildOnce(parsed, device, options, logger);
  if (engine.ok() || engine.status().code() != StatusCode::kBackend) return engine;
  return BuildWithout(parsed, model, {device, options, logger}, std::move(engine).status());
}

}  // namespace vernier::trt
