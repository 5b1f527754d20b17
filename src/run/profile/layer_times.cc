#include "run/profile/layer_times.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "util/files/scratch_folder.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

}  // namespace

Result<LayerTimesFile> LayerTimesFile::Create() {
  std::error_code error;
  std::string folder = (fs::temp_directory_path(error) / "vernier-layers-XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr) {
    return IoError("cannot make a temporary folder for the times of layers");
  }
  return LayerTimesFile(std::move(folder));
}

LayerTimesFile::~LayerTimesFile() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

std::vector<LayerTime> ReadLayerTimes(const std::string& path) {
  std::vector<LayerTime> layers;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find('\t');
    const size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
    if (second == std::string::npos) continue;
    const std::optional<double> seconds = ParseDouble(line.substr(0, first));
    if (!seconds || !(*seconds >= 0)) continue;
    layers.push_back(
        {line.substr(second + 1), line.substr(first + 1, second - first - 1), *seconds});
  }
  std::stable_sort(layers.begin(), layers.end(),
                   [](const LayerTime& a, const LayerTime& b) { return a.seconds > b.seconds; });
  return layers;
}

std::string WhyNoLayers(const std::string& backend) {
  const std::string fault = TemporarySpaceFault();
  return fault.empty() ? backend + " reported none" : fault;
}

}  // namespace vernier
