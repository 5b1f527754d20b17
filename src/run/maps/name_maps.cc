#include "run/maps/name_maps.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>

#include "record/schema/runner_name.h"
#include "util/text/quoted.h"
#include "util/text/star_pattern.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

constexpr std::string_view kInputFlag = "--map-inputs";
constexpr std::string_view kOutputFlag = "--map-outputs";

std::string QuotedOrNone(const std::vector<std::string>& names) {
  return names.empty() ? "none" : JoinedUpTo(names, names.size(), Quoted);
}

bool IsListed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string QuotedNamesOf(const TensorMap& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& tensor : tensors) names.push_back(tensor.name);
  return QuotedOrNone(names);
}

std::string QuotedNamesOf(std::span<const TensorInfo> inputs) {
  std::vector<std::string> names;
  for (const TensorInfo& input : inputs) {
    if (!IsListed(names, input.name)) names.push_back(input.name);
  }
  return QuotedOrNone(names);
}

bool HasInput(std::span<const TensorInfo> inputs, const std::string& name) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const TensorInfo& input) { return input.name == name; });
}

bool HasInputLike(std::span<const TensorInfo> inputs, const std::string& pattern) {
  return std::ranges::any_of(
      inputs, [&](const TensorInfo& input) { return MatchStar(pattern, input.name).has_value(); });
}

// Of a map that names a runner with these inputs, which it does not fit.
Status BadLabelledMap(const NameMap& map, const std::string& runner,
                      std::span<const TensorInfo> inputs) {
  if (map.leaves_out()) return BadMap(kInputFlag, map.word, "it is an input of " + runner);
  return BadMap(kInputFlag, map.word,
                runner + " has no input '" + map.name + "', but " + QuotedNamesOf(inputs));
}

// The maps of single tensors for the texts that `pattern`, a side of the map, has in these names;
// the map itself where there are none.
std::vector<NameMap> FilledFrom(const NameMap& map, const std::string& pattern,
                                const std::vector<std::string>& names) {
  if (StarsIn(map.name) == 0) return {map};
  std::vector<NameMap> maps;
  for (const std::string& name : names) {
    const std::optional<std::string> text = MatchStar(pattern, name);
    if (text) maps.push_back(map.Filled(*text));
  }
  if (maps.empty()) maps.push_back(map);
  return maps;
}

// Of --map-inputs: what a map leaves out is in the feed; what is mapped, an input where these are
// known.
std::vector<NameMap> FilledForFeed(const NameMap& map, std::span<const TensorInfo> inputs,
                                   const TensorMap& feed) {
  std::vector<std::string> names;
  const bool of_feed = map.leaves_out() || inputs.empty();
  if (of_feed) {
    for (const NamedTensor& tensor : feed) names.push_back(tensor.name);
  } else {
    for (const TensorInfo& input : inputs) names.push_back(input.name);
  }
  return FilledFrom(map, of_feed && !map.leaves_out() ? map.base : map.name, names);
}

void Drop(TensorMap& tensors, const std::string& name) {
  std::erase_if(tensors, [&](const NamedTensor& tensor) { return tensor.name == name; });
}

}  // namespace

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
  std::vector<NameMap> maps;
  for (const NameMap& map : maps_) {
    const bool named = !map.label.empty();
    if (!named || IsCalled(runner, map.label)) {
      std::ranges::move(FilledForFeed(map, inputs, feed), std::back_inserter(maps));
    }
  }
  for (const NameMap& map : maps) {
    const bool named = !map.label.empty();
    const bool has = HasInputLike(inputs, map.name);
    const bool idle = map.leaves_out() ? has : !has && !inputs.empty();
    if (idle && !named) continue;
    if (idle) return BadLabelledMap(map, runner, inputs);
    if (map.leaves_out()) {
      if (Find(feed, map.name) == nullptr) {
        return BadMap(kInputFlag, map.word,
                      "the feed has no '" + map.name + "', but " + QuotedNamesOf(feed));
      }
      result.left_out.push_back(map.name);
      continue;
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

Status InputMaps::CheckRunner(const std::string& runner, std::span<const TensorInfo> inputs) const {
  for (const NameMap& map : maps_) {
    if (map.label.empty() || !IsCalled(runner, map.label) || inputs.empty()) continue;
    if (HasInputLike(inputs, map.name) != map.leaves_out()) continue;
    return BadLabelledMap(map, runner, inputs);
  }
  return {};
}

Status InputMaps::CheckNames(std::span<const std::vector<TensorInfo>> runners) const {
  std::vector<TensorInfo> all;
  for (const std::vector<TensorInfo>& inputs : runners) {
    all.insert(all.end(), inputs.begin(), inputs.end());
  }
  for (const NameMap& map : maps_) {
    if (!map.label.empty()) continue;
    std::vector<std::string> meant;
    for (const TensorInfo& input : all) {
      if (MatchStar(map.name, input.name)) meant.push_back(input.name);
    }
    const bool all_have = std::ranges::all_of(meant, [&](const std::string& name) {
      return std::ranges::all_of(runners,
                                 [&](const auto& inputs) { return HasInput(inputs, name); });
    });
    if (map.leaves_out() && all_have && !meant.empty()) {
      return BadMap(kInputFlag, map.word,
                    "every runner has an input '" + map.name + "', so none can go without it");
    }
    if (map.leaves_out() || !meant.empty()) continue;
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

Status OutputMaps::CheckPair(const NameMap& map, const TensorMap& named, const TensorMap& sources) {
  if (Find(named, map.name) == nullptr) {
    return BadMap(kOutputFlag, map.word,
                  "there is no output '" + map.name + "'; there are " + QuotedNamesOf(named));
  }
  if (!SourceName(map, sources).empty()) return {};
  return BadMap(kOutputFlag, map.word,
                "the other side has no '" + map.base + "', but " + QuotedNamesOf(sources));
}

Status OutputMaps::ApplyPair(const NameMap& map, const TensorMap& named, const TensorMap& sources,
                             TensorMap& changed) const {
  VERNIER_TRY(CheckPair(map, named, sources));
  VERNIER_ASSIGN_OR_RETURN(Tensor tensor, TakeSource(kOutputFlag, map, sources, "the other side"));
  if (Find(changed, map.source) == nullptr) changed.push_back({map.source, std::move(tensor)});
  return {};
}

// An output without its counterpart would be dropped where others have theirs.
Result<std::vector<NameMap>> OutputMaps::ExpandOne(const NameMap& map, const TensorMap& a,
                                                   const TensorMap& b) const {
  if (StarsIn(map.name) == 0) return std::vector<NameMap>{map};
  std::vector<NameMap> found;
  std::vector<NameMap> lost;
  for (const TensorMap* const side : {&a, &b}) {
    const std::string &own = side == &a ? first_ : second_, &others = side == &a ? second_ : first_;
    if (!map.leaves_out() && !map.label.empty() && !IsBetween(map, own, others)) continue;
    for (const NamedTensor& tensor : *side) {
      const std::optional<std::string> text = MatchStar(map.name, tensor.name);
      if (!text) continue;
      NameMap one = map.Filled(*text);
      const auto known = std::ranges::find(found, one.name, &NameMap::name);
      if (known != found.end()) continue;
      const TensorMap& other = side == &a ? b : a;
      const bool fits = map.leaves_out() || !SourceName(one, other).empty();
      (fits ? found : lost).push_back(std::move(one));
    }
  }
  const bool may_be_others = map.label.empty() || lost.empty();
  if (found.empty() && may_be_others) return std::vector<NameMap>{map};
  for (const NameMap& one : lost) {
    if (std::ranges::find(found, one.name, &NameMap::name) != found.end()) continue;
    return BadMap(
        kOutputFlag, map.word,
        "output '" + one.name + "' would be compared with '" + one.source + "', which is none");
  }
  return found;
}

Result<std::vector<std::vector<NameMap>>> OutputMaps::Expand(const TensorMap& a,
                                                             const TensorMap& b) const {
  std::vector<std::vector<NameMap>> expanded;
  for (const NameMap& map : maps_) {
    VERNIER_ASSIGN_OR_RETURN(std::vector<NameMap> own, ExpandOne(map, a, b));
    for (const NameMap& one : own) {
      for (const NameMap& before : std::ranges::join_view(expanded)) {
        const bool alike = before.name == one.name && before.label == one.label;
        if (!alike || before.other != one.other || before.source == one.source) continue;
        return BadMap(kOutputFlag, map.word, "'" + one.name + "' is mapped twice");
      }
    }
    expanded.push_back(std::move(own));
  }
  return expanded;
}

Result<std::vector<bool>> OutputMaps::Check(std::span<const std::string> a,
                                            std::span<const std::string> b) const {
  TensorMap first, second;
  for (const std::string& name : a) first.push_back({name, Tensor()});
  for (const std::string& name : b) second.push_back({name, Tensor()});
  VERNIER_ASSIGN_OR_RETURN(const auto expanded, Expand(first, second));
  std::vector<bool> used;
  for (const std::vector<NameMap>& maps : expanded) {
    used.push_back(false);
    for (const NameMap& map : maps) {
      const Side side = map.leaves_out() ? Side::kNone : SideOf(map, first, second);
      if (side == Side::kFirst) VERNIER_TRY(CheckPair(map, first, second));
      if (side == Side::kSecond) VERNIER_TRY(CheckPair(map, second, first));
      if (side != Side::kNone || LeavesOut(map, first, second)) used.back() = true;
    }
  }
  return used;
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

bool OutputMaps::LeavesOut(const NameMap& map, const TensorMap& a, const TensorMap& b) const {
  const bool there = Find(a, map.name) != nullptr || Find(b, map.name) != nullptr;
  return map.leaves_out() && there && IsAbout(map);
}

Result<bool> OutputMaps::ApplyOne(const NameMap& map, const TensorMap& a, const TensorMap& b,
                                  Replaced& replaced, Applied& result) const {
  if (map.leaves_out()) {
    if (!LeavesOut(map, a, b)) return false;
    Drop(result.a, map.name);
    Drop(result.b, map.name);
    if (!IsListed(result.left_out, map.name)) result.left_out.push_back(map.name);
    return true;
  }
  const Side side = SideOf(map, a, b);
  if (side == Side::kFirst) {
    VERNIER_TRY(ApplyPair(map, a, b, result.b));
    VERNIER_TRY(AddNamePair(map, {map.name, map.source}, result.pairs));
    if (SourceName(map, b) != map.source) replaced.b.push_back(map.base);
  } else if (side == Side::kSecond) {
    VERNIER_TRY(ApplyPair(map, b, a, result.a));
    VERNIER_TRY(AddNamePair(map, {map.source, map.name}, result.pairs));
    if (SourceName(map, a) != map.source) replaced.a.push_back(map.base);
  }
  return side != Side::kNone;
}

Result<OutputMaps::Applied> OutputMaps::Apply(const TensorMap& a, const TensorMap& b) const {
  Applied result{a, b, {}, {}, {}};
  Replaced replaced;
  VERNIER_ASSIGN_OR_RETURN(const auto expanded, Expand(a, b));
  for (const std::vector<NameMap>& maps : expanded) {
    bool used = false;
    for (const NameMap& map : maps) {
      VERNIER_ASSIGN_OR_RETURN(const bool one, ApplyOne(map, a, b, replaced, result));
      used |= one;
    }
    result.used.push_back(used);
  }
  for (const std::string& name : replaced.a) Drop(result.a, name);
  for (const std::string& name : replaced.b) Drop(result.b, name);
  return result;
}

}  // namespace vernier
