// The times of single layers, as plug-ins write them (vernier/layer_times.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vernier/profile_record.h"
#include "vernier/status.h"

namespace vernier {

/// What a plug-in wrote: longest first; empty when nothing was. Lines that make no sense are left
/// out.
std::vector<LayerTime> ReadLayerTimes(const std::string& path);

/// Why a runner of the backend has none: it reported none, or there was no room for them.
std::string WhyNoLayers(const std::string& backend);

/// A file in a temporary folder, which is removed with the object.
class LayerTimesFile {
 public:
  static Result<LayerTimesFile> Create();
  LayerTimesFile(LayerTimesFile&& other) noexcept : folder_(std::move(other.folder_)) {
    other.folder_.clear();
  }
  ~LayerTimesFile();

  std::string path() const { return folder_ + "/layers"; }

  std::vector<LayerTime> Read() const { return ReadLayerTimes(path()); }

 private:
  explicit LayerTimesFile(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
};

}  // namespace vernier
