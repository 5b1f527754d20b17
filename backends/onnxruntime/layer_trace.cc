#include "layer_trace.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

namespace vernier::ort {
namespace {

// An event is a line: {"cat" : "Node",...,"dur" :147,...,"name" :"conv1_kernel_time","args" :
// {...}}
constexpr std::string_view kNode = "{\"cat\" : \"Node\"";
constexpr std::string_view kRunEnd = "\"name\" :\"model_run\"";
constexpr std::string_view kKernel = "_kernel_time";

// The text behind `key`, up to the quote that ends it. Only quotes and backslashes are escaped.
std::string TextBehind(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  std::string text;
  if (at == std::string_view::npos) return text;
  for (size_t i = at + key.size(); i < line.size() && line[i] != '"'; ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    text += line[i];
  }
  return text;
}

double MicrosecondsOf(std::string_view line) {
  constexpr std::string_view kKey = "\"dur\" :";
  const size_t at = line.find(kKey);
  return at == std::string_view::npos ? 0 : std::atof(line.data() + at + kKey.size());
}

}  // namespace

std::vector<sdk::LayerTime> ReadTrace(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, double> seconds;
  int64_t runs = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find(kRunEnd) != std::string::npos) {
      // The first run warmed up; what follows counts.
      if (++runs > 1) continue;
      order.clear();
      seconds.clear();
      continue;
    }
    if (!line.starts_with(kNode)) continue;
    std::string name = TextBehind(line, "\"name\" :\"");
    if (!name.ends_with(kKernel)) continue;
    name.resize(name.size() - kKernel.size());
    const std::pair layer(name, TextBehind(line, "\"op_name\" : \""));
    const auto [at, fresh] = seconds.try_emplace(layer, 0.0);
    if (fresh) order.push_back(layer);
    at->second += MicrosecondsOf(line) * 1e-6;
  }
  std::vector<sdk::LayerTime> layers;
  for (const auto& layer : order) {
    const double mean = seconds[layer] / static_cast<double>(runs > 1 ? runs - 1 : 1);
    layers.push_back({layer.first, layer.second, mean});
  }
  return layers;
}

}  // namespace vernier::ort
