// How a plug-in hands over the times or the names of single layers: in a file that the host names
// with the option of that role (VN_ROLE_LAYER_TIMES and the two below it in backend_abi.h), one
// line a layer: seconds, type and name with tabs between them. Only frameworks that know their
// layers need it.
#pragma once

#include <cstdio>
#include <span>
#include <string>

namespace vernier::sdk {

struct LayerTime {
  std::string name;    ///< for names: the nodes that it computes
  std::string type;    ///< what the framework calls the operation
  double seconds = 0;  ///< mean of an inference; 0 where names are asked for
};

/// A file that cannot be written is left out or empty, never half: times are no reason for a
/// session to fail, and the host says that there are none. Whether it was written.
inline bool WriteLayerTimes(const std::string& path, std::span<const LayerTime> layers) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return false;
  const auto clean = [](std::string text) {
    for (char& c : text) {
      if (c == '\t' || c == '\n' || c == '\r') c = ' ';
    }
    return text;
  };
  for (const LayerTime& layer : layers) {
    std::fprintf(file, "%.9g\t%s\t%s\n", layer.seconds, clean(layer.type).c_str(),
                 clean(layer.name).c_str());
  }
  const bool written = std::ferror(file) == 0;
  if (std::fclose(file) == 0 && written) return true;
  file = std::fopen(path.c_str(), "wbe");
  if (file != nullptr) std::fclose(file);
  return false;
}

}  // namespace vernier::sdk
