// The words of --map-inputs and --map-outputs.
#include <algorithm>
#include <utility>

#include "record/schema/runner_name.h"
#include "run/maps/name_maps.h"
#include "util/text/star_pattern.h"

namespace vernier {
namespace {

bool IsLabel(std::span<const std::string> labels, const std::string& word) {
  return std::any_of(labels.begin(), labels.end(),
                     [&](const std::string& label) { return IsCalled(label, word); });
}

bool LooksLikeAxes(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789, ") == std::string_view::npos;
}

Status ParseSource(NameMap& map) {
  std::string_view rest = map.source;
  const size_t at = rest.rfind('@');
  if (at != std::string_view::npos && LooksLikeAxes(rest.substr(at + 1))) {
    VERNIER_ASSIGN_OR_RETURN(map.form.axes, ParseAxes(rest.substr(at + 1)));
    rest = rest.substr(0, at);
  }
  const size_t bracket = rest.find('[');
  if (rest.ends_with(']') && bracket != std::string_view::npos) {
    const std::string_view inside = rest.substr(bracket + 1, rest.size() - bracket - 2);
    VERNIER_ASSIGN_OR_RETURN(map.form.slice, ParseSlice(inside));
    rest = rest.substr(0, bracket);
  }
  if (rest.empty()) return InvalidArgument("the name of a tensor is missing after '='");
  map.base = rest;
  return {};
}

Result<NameMap> ParseNameMap(const std::string& word, std::span<const std::string> labels,
                             int most_labels) {
  NameMap map;
  map.word = word;
  const size_t equals = word.find('=');
  if (equals == std::string::npos)
    return InvalidArgument("expected NAME=NAME, or NAME= to leave one out");
  map.name = word.substr(0, equals);
  map.source = word.substr(equals + 1);
  if (most_labels > 0) map.label = TakeLabel(labels, map.name);
  if (most_labels > 1 && !map.label.empty()) map.other = TakeLabel(labels, map.name);
  if (map.name.empty()) return InvalidArgument("the name of a tensor is missing before '='");
  const int64_t stars = StarsIn(map.name);
  if (stars > 1 || (!map.leaves_out() && StarsIn(map.source) != stars)) {
    return InvalidArgument("expected one '*' in both names, or none");
  }
  if (!map.leaves_out()) VERNIER_TRY(ParseSource(map));
  return map;
}

}  // namespace

Status BadMap(std::string_view flag, std::string_view word, const std::string& why) {
  return InvalidArgument(std::string(flag) + " " + std::string(word) + ": " + why);
}

NameMap NameMap::Filled(std::string_view text) const {
  NameMap map = *this;
  for (std::string* const part : {&map.name, &map.source, &map.base}) {
    *part = FillStar(std::move(*part), text);
  }
  return map;
}

std::string TakeLabel(std::span<const std::string> labels, std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || colon + 1 == text.size()) return "";
  std::string label = text.substr(0, colon);
  if (!IsLabel(labels, label)) return "";
  text.erase(0, colon + 1);
  return label;
}

Result<std::vector<NameMap>> ParseNameMaps(std::string_view flag,
                                           std::span<const std::string> words,
                                           std::span<const std::string> labels, int most_labels) {
  std::vector<NameMap> maps;
  for (const std::string& word : words) {
    Result<NameMap> map = ParseNameMap(word, labels, most_labels);
    if (!map.ok()) return BadMap(flag, word, map.status().message());
    const bool twice = std::any_of(maps.begin(), maps.end(), [&](const NameMap& other) {
      return other.name == map->name && other.label == map->label && other.other == map->other;
    });
    if (twice) return BadMap(flag, word, "'" + map->name + "' is mapped twice");
    maps.push_back(*std::move(map));
  }
  return maps;
}

}  // namespace vernier
