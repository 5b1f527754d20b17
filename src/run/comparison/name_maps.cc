#include "run/comparison/name_maps.h"

#include <algorithm>
#include <optional>

#include "record/runner_name.h"
#include "util/number_text.h"

namespace vernier {
namespace {

constexpr std::string_view kInputFlag = "--map-inputs";
constexpr std::string_view kOutputFlag = "--map-outputs";

Status BadMap(std::string_view flag, std::string_view word, const std::string& why) {
  return InvalidArgument(std::string(flag) + " " + std::string(word) + ": " + why);
}

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
  if (rest.empty()) return InvalidArgument("the name of a tensor is missing behind '='");
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
  if (!map.leaves_out()) VERNIER_TRY(ParseSource(map));
  return map;
}

std::string QuotedList(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

bool IsListed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string QuotedNamesOf(const TensorMap& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& tensor : tensors) names.push_back(tensor.name);
  return QuotedList(names);
}

std::string QuotedNamesOf(std::span<const TensorInfo> inputs) {
  std::vector<std::string> names;
  for (const TensorInfo& input : inputs) {
    if (!IsListed(names, input.name)) names.push_back(input.name);
  }
  return QuotedList(names);
}

bool HasInput(std::span<const TensorInfo> inputs, const std::string& name) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const TensorInfo& input) { return input.name == name; });
}

void Drop(TensorMap& tensors, const std::string& name) {
  std::erase_if(tensors, [&](const NamedTensor& tensor) { return tensor.name == name; });
}

}  // namespace

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

std::string SourceName(const NameMap& map, const TensorMap& tensors) {
  if (Find(tensors, map.source) != nullptr) return map.source;
  return Find(tensors, map.base) != nullptr ? map.base : "";
}

Result<Tensor> TakeSource(std::string_view flag, const NameMap& map, const TensorMap& tensors,
                          std::string_view owner) {
  if (const Tensor* const whole = Find(tensors, map.source)) return *whole;
  const Tensor* const base = Find(tensors, map.base);
  if (base == nullptr) {
    return BadMap(flag, map.word,
                  std::string(owner) + " has no '" + map.base + "', but " + QuotedNamesOf(tensors));
  }
  Result<Tensor> taken = TakeForm(*base, map.form);
  if (taken.ok() || taken.status().code() != StatusCode::kInvalidArgument) return taken;
  return BadMap(flag, map.word, taken.status().message());
}

Result<InputMaps> InputMaps::Create(std::span<const std::string> words,
                                    std::span<const std::string> runners) {
  InputMaps maps;
  VERNIER_ASSIGN_OR_RETURN(maps.maps_, ParseNameMaps(kInputFlag, words, runners, 1));
  return maps;
}

Result<MappedFeed> InputMaps::Apply(const std::string& runner, std::span<const TensorInfo> inputs,
                                    const TensorMap& feed) const {
  MappedFeed result;
  std::vector<std::string> sources;
  for (const NameMap& map : maps_) {
    const bool named = !map.label.empty();
    if (named && !IsCalled(runner, map.label)) continue;
    const bool has = HasInput(inputs, map.name);
    if (map.leaves_out()) {
      if (has && !named) continue;
      if (has) return BadMap(kInputFlag, map.word, "it is an input of " + runner);
      if (Find(feed, map.name) == nullptr) {
        return BadMap(kInputFlag, map.word,
                      "the feed has no '" + map.name + "', but " + QuotedNamesOf(feed));
      }
      result.left_out.push_back(map.name);
      continue;
    }
    if (!has && !inputs.empty()) {
      if (!named) continue;
      return BadMap(kInputFlag, map.word,
                    runner + " has no input '" + map.name + "', but " + QuotedNamesOf(inputs));
    }
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, TakeSource(kInputFlag, map, feed, "the feed"));
    sources.push_back(SourceName(map, feed));
    result.tensors.push_back({map.name, std::move(tensor)});
    result.mapped.emplace_back(map.name, map.source);
  }
  for (const NamedTensor& tensor : feed) {
    const bool used = IsListed(sources, tensor.name) && !HasInput(inputs, tensor.name);
    const bool replaced = Find(result.tensors, tensor.name) != nullptr;
    if (!used && !replaced && !IsListed(result.left_out, tensor.name)) {
      result.tensors.push_back(tensor);
    }
  }
  return result;
}

Status InputMaps::CheckNames(std::span<const std::vector<TensorInfo>> runners) const {
  for (const NameMap& map : maps_) {
    if (!map.label.empty()) continue;
    const auto having = std::ranges::count_if(
        runners, [&](const std::vector<TensorInfo>& inputs) { return HasInput(inputs, map.name); });
    if (map.leaves_out() && std::cmp_equal(having, runners.size())) {
      return BadMap(kInputFlag, map.word,
                    "every runner has an input '" + map.name + "', so none can go without it");
    }
    if (map.leaves_out() || having > 0) continue;
    std::vector<TensorInfo> all;
    for (const std::vector<TensorInfo>& inputs : runners) {
      all.insert(all.end(), inputs.begin(), inputs.end());
    }
    return BadMap(kInputFlag, map.word,
                  "no runner has an input '" + map.name + "'; there are " + QuotedNamesOf(all));
  }
  return {};
}

Result<OutputMaps> OutputMaps::Create(std::span<const std::string> words,
                                      std::span<const std::string> labels, const std::string& first,
                                      const std::string& second) {
  OutputMaps maps;
  maps.first_ = first;
  maps.second_ = second;
  VERNIER_ASSIGN_OR_RETURN(maps.maps_, ParseNameMaps(kOutputFlag, words, labels, 2));
  return maps;
}

bool OutputMaps::IsBetween(const NameMap& map, const std::string& a, const std::string& b) {
  return IsCalled(a, map.label) && (map.other.empty() || IsCalled(b, map.other));
}

bool OutputMaps::IsAbout(const NameMap& map) const {
  return map.label.empty() || IsBetween(map, first_, second_) || IsBetween(map, second_, first_);
}

// Who of the two has the name; none where the map is about others.
OutputMaps::Side OutputMaps::SideOf(const NameMap& map, const TensorMap& a,
                                    const TensorMap& b) const {
  if (map.label.empty()) {
    if (Find(a, map.name) != nullptr && !SourceName(map, b).empty()) return Side::kFirst;
    return Find(b, map.name) != nullptr && !SourceName(map, a).empty() ? Side::kSecond
                                                                       : Side::kNone;
  }
  if (IsBetween(map, first_, second_)) return Side::kFirst;
  return IsBetween(map, second_, first_) ? Side::kSecond : Side::kNone;
}

Status OutputMaps::ApplyPair(const NameMap& map, const TensorMap& named, const TensorMap& sources,
                             TensorMap& changed) const {
  if (Find(named, map.name) == nullptr) {
    return BadMap(kOutputFlag, map.word,
                  "there is no output '" + map.name + "'; there are " + QuotedNamesOf(named));
  }
  VERNIER_ASSIGN_OR_RETURN(Tensor tensor, TakeSource(kOutputFlag, map, sources, "the other side"));
  if (Find(changed, map.source) == nullptr) changed.push_back({map.source, std::move(tensor)});
  return {};
}

namespace {

using NamePair = std::pair<std::string, std::string>;

// An output is compared once: a second pair with it would be dropped.
Status AddNamePair(const NameMap& map, NamePair pair, std::vector<NamePair>& pairs) {
  for (const NamePair& other : pairs) {
    if (other == pair) return {};
    const bool first = other.first == pair.first;
    if (!first && other.second != pair.second) continue;
    return BadMap(kOutputFlag, map.word,
                  "'" + (first ? pair.first : pair.second) + "' is mapped twice");
  }
  pairs.push_back(std::move(pair));
  return {};
}

}  // namespace

Result<OutputMaps::Applied> OutputMaps::Apply(const TensorMap& a, const TensorMap& b) const {
  Applied result{a, b, {}, {}, {}};
  std::vector<std::string> taken_a, taken_b;  // sources that are replaced by their forms
  for (const NameMap& map : maps_) {
    if (map.leaves_out()) {
      const bool there = Find(a, map.name) != nullptr || Find(b, map.name) != nullptr;
      const bool about = there && IsAbout(map);
      result.used.push_back(about);
      if (!about) continue;
      Drop(result.a, map.name);
      Drop(result.b, map.name);
      result.left_out.push_back(map.name);
      continue;
    }
    const Side side = SideOf(map, a, b);
    result.used.push_back(side != Side::kNone);
    if (side == Side::kFirst) {
      VERNIER_TRY(ApplyPair(map, a, b, result.b));
      VERNIER_TRY(AddNamePair(map, {map.name, map.source}, result.pairs));
      if (SourceName(map, b) != map.source) taken_b.push_back(map.base);
    } else if (side == Side::kSecond) {
      VERNIER_TRY(ApplyPair(map, b, a, result.a));
      VERNIER_TRY(AddNamePair(map, {map.source, map.name}, result.pairs));
      if (SourceName(map, a) != map.source) taken_a.push_back(map.base);
    }
  }
  for (const std::string& name : taken_a) Drop(result.a, name);
  for (const std::string& name : taken_b) Drop(result.b, name);
  return result;
}

}  // namespace vernier
