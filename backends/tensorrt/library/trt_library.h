// TensorRT's libraries, opened at run time from where people have them, and its objects.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tensorrt/library/trt_version.h"
#include "vernier/status.h"

namespace vernier::trt {

template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

class Library {
 public:
  /// `named` is --trt-lib's value, or empty. kUnavailable when TensorRT is missing, of another
  /// major version than the headers of this plug-in, or older than them: one sentence, both
  /// versions.
  static Result<Library> Load(std::string_view named);

  int32_t version() const { return version_; }
  const std::string& path() const { return path_; }
  /// Why plug-in layers (InstanceNormalization, NMS and others) cannot be used; empty when they
  /// can.
  const std::string& plugins_missing() const { return plugins_missing_; }

  Owned<nvinfer1::IBuilder> CreateBuilder(nvinfer1::ILogger& logger) const;
  Owned<nvinfer1::IRuntime> CreateRuntime(nvinfer1::ILogger& logger) const;
  /// kUnavailable when the parser's library is missing.
  Result<Owned<nvonnxparser::IParser>> CreateParser(nvinfer1::INetworkDefinition& network,
                                                    nvinfer1::ILogger& logger) const;
  /// Registers the layers of libnvinfer_plugin, if it is there.
  void RegisterPlugins(nvinfer1::ILogger& logger) const;
  /// A library of the same release, beside TensorRT's own if it is there: nullptr, and the reason.
  void* OpenCompanion(const std::string& stem, std::string& why) const;

 private:
  Status CheckVersion() const;
  void LoadCompanions();

  void* library_ = nullptr;
  void* parser_ = nullptr;
  void* plugins_ = nullptr;
  int32_t version_ = 0;
  std::string path_;
  std::string parser_missing_;
  std::string plugins_missing_;
};

}  // namespace vernier::trt
