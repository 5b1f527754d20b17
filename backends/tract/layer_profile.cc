#include "layer_profile.h"

#include <charconv>
#include <optional>
#include <string>

namespace vernier::tract {
namespace {

// The string whose opening quote `json` starts behind, up to the closing one. tract's names are
// those of ONNX nodes with what it adds to them: of escapes, only quote and backslash need care.
std::optional<std::string> QuotedText(std::string_view json) {
  std::string text;
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') return text;
    if (json[i] == '\\' && ++i == json.size()) break;
    text += json[i];
  }
  return std::nullopt;
}

std::optional<std::string> TextAt(std::string_view object, std::string_view key) {
  const size_t at = object.find(key);
  if (at == object.npos) return std::nullopt;
  return QuotedText(object.substr(at + key.size()));
}

std::optional<double> NumberAt(std::string_view object, std::string_view key) {
  const size_t at = object.find(key);
  if (at == object.npos) return std::nullopt;
  const std::string_view text = object.substr(at + key.size());
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

// An object of a node starts with "qualified_id" and has, in this order, op_name, node_name, cost,
// and the seconds where any were spent.
std::vector<sdk::LayerTime> LayersOfProfile(std::string_view json) {
  constexpr std::string_view kStart = "{\"qualified_id\":";
  json = json.substr(0, json.find("],\"profiling_info\":"));
  std::vector<sdk::LayerTime> layers;
  size_t at = json.find(kStart);
  while (at != json.npos) {
    const size_t next = json.find(kStart, at + kStart.size());
    const std::string_view object = json.substr(at, next == json.npos ? next : next - at);
    const std::optional<std::string> type = TextAt(object, "\"op_name\":\"");
    const std::optional<std::string> name = TextAt(object, "\"node_name\":\"");
    const std::optional<double> seconds = NumberAt(object, "\"secs_per_iter\":");
    if (type && name && seconds) layers.push_back({*name, *type, *seconds});
    at = next;
  }
  return layers;
}

}  // namespace vernier::tract
