#include "run/maps/pair_matching.h"

#include <algorithm>

#include "record/schema/runner_name.h"
#include "util/text/number_text.h"
#include "util/text/star_pattern.h"

namespace vernier {
namespace {

std::string MapWords(const std::string& first, const std::string& second, const std::string& a,
                     const std::string& b) {
  return WithoutTime(first) + ":" + WithoutTime(second) + ":" + a + "=" + b;
}

IterationResult WithOutputs(const IterationResult& result, TensorMap outputs) {
  return {result.runner_name, result.runtime_s, std::move(outputs)};
}

}  // namespace

void MatchedSides::ReplaceA(TensorMap outputs) {
  own_a_ = WithOutputs(*given_a_, std::move(outputs));
}

void MatchedSides::ReplaceB(TensorMap outputs) {
  own_b_ = WithOutputs(*given_b_, std::move(outputs));
}

std::vector<std::pair<std::string, std::string>> MatchedSides::RenamedPairs() const {
  std::vector<std::pair<std::string, std::string>> renamed;
  for (const OutputPair& pair : pairing.pairs) {
    if (pair.how == PairedBy::kExact) continue;
    renamed.emplace_back(a().outputs[pair.a].name, b().outputs[pair.b].name);
  }
  return renamed;
}

Result<PairMatching> PairMatching::Create(std::span<const std::string> words,
                                          std::span<const std::string> labels,
                                          std::pair<std::string, std::string> sides,
                                          PairingRule rule) {
  PairMatching matching;
  matching.rule_ = rule;
  VERNIER_ASSIGN_OR_RETURN(matching.maps_,
                           OutputMaps::Create(words, labels, sides.first, sides.second));
  return matching;
}

Status PairMatching::FetchMapped(const TensorMap& outputs, DeviceMeasure* device) const {
  if (device == nullptr) return {};
  for (const NamedTensor& output : outputs) {
    const bool mapped = std::any_of(
        maps_.maps().begin(), maps_.maps().end(),
        [&](const NameMap& map) { return !map.form.empty() && MatchStar(map.base, output.name); });
    if (mapped && device->Holds(output.tensor)) VERNIER_TRY(device->Fetch(output.tensor));
  }
  return {};
}

Status PairMatching::Look(const IterationResult& a, const IterationResult& b,
                          DeviceMeasure* device) {
  if (settled()) return {};
  if (maps_.empty()) {
    if (!matcher_) matcher_.emplace(rule_, known_);
    return matcher_->Look(a.outputs, b.outputs, device);
  }
  VERNIER_TRY(FetchMapped(a.outputs, device));
  VERNIER_TRY(FetchMapped(b.outputs, device));
  VERNIER_ASSIGN_OR_RETURN(const OutputMaps::Applied applied, maps_.Apply(a.outputs, b.outputs));
  if (!matcher_) {
    std::vector<KnownPair> given;
    for (const auto& [ours, theirs] : applied.pairs) given.push_back({ours, theirs});
    given.insert(given.end(), known_.begin(), known_.end());
    matcher_.emplace(rule_, std::move(given));
    left_out_ = applied.left_out;
    used_ = applied.used;
  }
  return matcher_->Look(applied.a, applied.b, device);
}

Status PairMatching::CheckUsed() const {
  for (size_t i = 0; i < used_.size(); ++i) {
    if (!used_[i]) {
      return InvalidArgument("--map-outputs " + maps_.maps()[i].word +
                             ": the two runners have no such outputs");
    }
  }
  return {};
}

Result<MatchedSides> PairMatching::Match(const IterationResult& a, const IterationResult& b,
                                         DeviceMeasure* device) const {
  MatchedSides sides(a, b);
  if (!maps_.empty()) {
    VERNIER_TRY(FetchMapped(a.outputs, device));
    VERNIER_TRY(FetchMapped(b.outputs, device));
    VERNIER_ASSIGN_OR_RETURN(OutputMaps::Applied applied, maps_.Apply(a.outputs, b.outputs));
    sides.ReplaceA(std::move(applied.a));
    sides.ReplaceB(std::move(applied.b));
  }
  if (!matcher_) return Internal("outputs are matched before they are looked at");
  if (matcher_->aligns()) {
    VERNIER_ASSIGN_OR_RETURN(TensorMap aligned, matcher_->Align(sides.b().outputs, device));
    sides.ReplaceB(std::move(aligned));
  }
  sides.pairing = matcher_->Pair(sides.a().outputs, sides.b().outputs);
  return sides;
}

void PairMatching::FindSwaps(const IterationComparison& comparison, const DeviceMeasure* device) {
  if (rule_ == PairingRule::kOneToOne) swapped_.Look(comparison, device);
}

void PairMatching::AddTo(PairRecord& record) const {
  record.left_out = left_out_;
  for (OutputRecord& output : record.outputs) {
    const auto error = errors().find(output.name);
    if (error != errors().end()) output.pairing_error = error->second;
  }
}

std::string PairMatching::Advice(const PairRecord& record) const {
  if (table().empty() || record.only_in_first.empty() || record.only_in_second.empty()) {
    return "";
  }
  return "\n    Their values do not say which belong together (e = RMS of the differences over the "
         "larger RMS; rows: " +
         record.first + ", columns: " + record.second + "):\n" + table() +
         "\n    Say which: --map-outputs " +
         MapWords(record.first, record.second, record.only_in_first.front(), "NAME") +
         ", with NAME a column of its row";
}

}  // namespace vernier
