#include "tensorrt/builder/legacy_models.h"

#if __has_include(<NvCaffeParser.h>) && __has_include(<NvUffParser.h>)
#include <NvCaffeParser.h>
#include <NvUffParser.h>
#define VERNIER_TRT_LEGACY_PARSERS 1
#else
#define VERNIER_TRT_LEGACY_PARSERS 0
#endif

#include <dlfcn.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tensorrt/builder/profiles.h"
#include "tensorrt/library/option_words.h"

namespace vernier::trt {
namespace {

constexpr std::string_view kUff = "uff";

#if VERNIER_TRT_LEGACY_PARSERS

namespace fs = std::filesystem;
using nvinfer1::INetworkDefinition;
using nvinfer1::ITensor;

template <typename Parser>
Result<std::shared_ptr<Parser>> MakeParser(void* library, const char* symbol) {
  const auto create = reinterpret_cast<void* (*)()>(::dlsym(library, symbol));
  void* const parser = create == nullptr ? nullptr : create();
  if (parser == nullptr) return BackendError(std::string("TensorRT made no parser: ") + symbol);
  return std::shared_ptr<Parser>(static_cast<Parser*>(parser));
}

struct CaffeFiles {
  std::string network;
  std::string weights;
};

// Either of the two may be named.
Result<CaffeFiles> FindCaffeFiles(const std::string& path, const sdk::Options& options) {
  const fs::path named(path);
  const bool by_weights = named.extension() == ".caffemodel";
  CaffeFiles files{path, fs::path(named).replace_extension(".caffemodel").string()};
  if (by_weights) files = {fs::path(named).replace_extension(".prototxt").string(), path};
  if (const auto extra = ValueOf(options, "model_extra"); extra && !extra->empty()) {
    (by_weights ? files.network : files.weights) = *extra;
  }
  for (const std::string& file : {files.network, files.weights}) {
    std::error_code error;
    if (fs::exists(file, error)) continue;
    return Malformed("a Caffe model is two files, and '" + file +
                     "' does not exist: name it as NAME.prototxt:WEIGHTS.caffemodel");
  }
  return files;
}

// The parser marks none.
Status MarkUnreadTensors(INetworkDefinition& network) {
  std::set<std::string> read;
  for (int32_t i = 0; i < network.getNbLayers(); ++i) {
    const nvinfer1::ILayer* const layer = network.getLayer(i);
    for (int32_t k = 0; k < layer->getNbInputs(); ++k) {
      if (layer->getInput(k) != nullptr) read.insert(layer->getInput(k)->getName());
    }
  }
  for (int32_t i = 0; i < network.getNbLayers(); ++i) {
    const nvinfer1::ILayer* const layer = network.getLayer(i);
    for (int32_t k = 0; k < layer->getNbOutputs(); ++k) {
      ITensor* const tensor = layer->getOutput(k);
      if (!read.contains(tensor->getName())) network.markOutput(*tensor);
    }
  }
  return network.getNbOutputs() > 0 ? Status() : Malformed("the network has no output");
}

Result<std::shared_ptr<void>> ParseCaffe(void* parsers, const std::string& path,
                                         const sdk::Options& options, INetworkDefinition& network,
                                         Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const CaffeFiles files, FindCaffeFiles(path, options));
  VERNIER_ASSIGN_OR_RETURN(const auto parser, MakeParser<nvcaffeparser1::ICaffeParser>(
                                                  parsers, "createNvCaffeParser_INTERNAL"));
  if (parser->parse(files.network.c_str(), files.weights.c_str(), network,
                    nvinfer1::DataType::kFLOAT) == nullptr) {
    return BackendError("TensorRT cannot parse '" + files.network + "' with the weights '" +
                        files.weights + "': " + logger.TakeError());
  }
  VERNIER_TRY(MarkUnreadTensors(network).Annotate("'" + files.network + "'"));
  return std::shared_ptr<void>(parser);
}

nvinfer1::Dims DimsOf(const std::vector<int64_t>& shape) {
  nvinfer1::Dims dims{};
  dims.nbDims = static_cast<int32_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) dims.d[i] = static_cast<int32_t>(shape[i]);
  return dims;
}

Result<std::shared_ptr<void>> ParseUff(void* parsers, const std::string& path,
                                       const sdk::Options& options, INetworkDefinition& network,
                                       Logger& logger) {
  const std::vector<std::string> profiles = options.GetAll("profile");
  const auto outputs = WordsOf(options, "trt_outputs");
  if (profiles.empty() || !outputs || outputs->empty()) {
    return InvalidArgument(
        "a UFF file has neither shapes nor outputs: --input-shapes NAME:[1,C,H,W] and "
        "--trt-outputs NAME are needed");
  }
  VERNIER_ASSIGN_OR_RETURN(const auto parser, MakeParser<nvuffparser::IUffParser>(
                                                  parsers, "createNvUffParser_INTERNAL"));
  for (const std::string& text : profiles) {
    VERNIER_ASSIGN_OR_RETURN(const ProfileEntry entry, ParseProfileEntry(text));
    if (entry.index != 0 || entry.which != "opt") continue;
    if (entry.dims.size() > static_cast<size_t>(nvinfer1::Dims::MAX_DIMS) ||
        !parser->registerInput(entry.name.c_str(), DimsOf(entry.dims),
                               nvuffparser::UffInputOrder::kNCHW)) {
      return InvalidArgument("--input-shapes: TensorRT's UFF parser refused '" + entry.name + "'");
    }
  }
  for (const std::string& name : *outputs) {
    if (parser->registerOutput(name.c_str())) continue;
    return InvalidArgument("--trt-outputs: TensorRT's UFF parser refused '" + name + "'");
  }
  if (!parser->parse(path.c_str(), network, nvinfer1::DataType::kFLOAT)) {
    return BackendError("TensorRT cannot parse '" + path + "': " + logger.TakeError());
  }
  return std::shared_ptr<void>(parser);
}

#endif

}  // namespace

bool IsLegacyModel(std::string_view model_type) {
  return model_type == kUff || model_type == "caffe";
}

Result<std::shared_ptr<void>> ParseLegacyModel(
    const Library& library, [[maybe_unused]] const vn_model& model, const sdk::Options& options,
    [[maybe_unused]] nvinfer1::INetworkDefinition& network, [[maybe_unused]] Logger& logger) {
  const bool uff = ValueOf(options, "model_type") == kUff;
  const std::string advice =
      uff ? "convert the TensorFlow graph with tf2onnx" : "convert the model with caffe2onnx";
  if (kHeaderMajor > 8 || VERNIER_TRT_LEGACY_PARSERS == 0) {
    return Unavailable("TensorRT " + VersionText(library.version()) + " reads no " +
                       (uff ? "UFF" : "Caffe") + " here, which only TensorRT 8 and its headers " +
                       "NvUffParser.h and NvCaffeParser.h offer: " + advice +
                       ", and give the .onnx file");
  }
#if VERNIER_TRT_LEGACY_PARSERS
  std::string why;
  void* const parsers = library.OpenCompanion("libnvparsers", why);
  if (parsers == nullptr) {
    return Unavailable("TensorRT's parser of UFF and Caffe cannot be opened (" + why +
                       "): " + advice + ", and give the .onnx file");
  }
  const std::string path(sdk::View(model.path));
  return uff ? ParseUff(parsers, path, options, network, logger)
             : ParseCaffe(parsers, path, options, network, logger);
#else
  return Internal("unreachable");
#endif
}

}  // namespace vernier::trt
