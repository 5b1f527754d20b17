#include "run/parts/kept_labels.h"

#include <algorithm>
#include <span>
#include <utility>

#include "decide/figures/sample_totals.h"
#include "decide/labels/label_scores.h"
#include "io/bytes/checksum.h"
#include "run/workers/runner_session.h"
#include "util/files/mapped_file.h"
#include "util/values/plural_text.h"
#include "vernier/decision_plan.h"

namespace vernier {
namespace {

void KeepBoxes(const DecisionPlan& decision, const ScoredOutputs& outputs, ShardDecision& one) {
  Result<SideDetections> detected =
      LabelledBoxes::Detect(decision, *outputs.first, *outputs.second);
  if (!detected.ok()) {
    one.undetected = detected.status().message();
    return;
  }
  one.first = std::move(detected->first);
  one.second = std::move(detected->second);
}

bool IsCutOff(const DecisionSample& sample) {
  return IsCutOffText(sample.first) || IsCutOffText(sample.second);
}

ScoredOutputs OutputsOf(const MatchedSides& sides, const std::string& name) {
  for (const OutputPair& pair : sides.pairing.pairs) {
    const NamedTensor& first = sides.a().outputs[pair.a];
    if (first.name == name) return {&first.tensor, &sides.b().outputs[pair.b].tensor, {}};
  }
  return {};
}

}  // namespace

void LabelKeeper::KeepScores(const SampleLabels& labels, const DecisionPlan& decision,
                             int64_t iteration, const ScoredOutputs& outputs, ShardDecision& one) {
  const int64_t before = iteration * most_samples_[{one.row.output, one.row.kind}];
  ScoredSamples scored =
      ScoreSamples(labels, decision, iteration, before, outputs, one.row.samples);
  one.scores = ShardScores{labels.by_iteration() ? labels.PlaceOf(iteration) : before,
                           std::move(scored.fault), std::move(scored.unfit)};
}

void LabelKeeper::Keep(const RunLabels& labels, const DecisionOptions& options, int64_t iteration,
                       const MatchedSides& sides, std::vector<ShardDecided>& decided) {
  for (size_t plan = 0; plan < decided.size(); ++plan) {
    const DecisionPlan& decision = options.decisions[plan];
    for (ShardDecision& one : decided[plan].outputs) {
      const ScoredOutputs outputs = OutputsOf(sides, one.row.output);
      if (outputs.first == nullptr) continue;
      if (labels.BoxesFor(decision, one.row.output) != nullptr) KeepBoxes(decision, outputs, one);
      const SampleLabels* const of_samples = labels.For(decision, one.row.output);
      if (of_samples == nullptr) continue;
      int64_t& most = most_samples_[{one.row.output, one.row.kind}];
      most = std::max(most, static_cast<int64_t>(one.row.samples.size()));
      const Dims& dims = outputs.first->dims();
      const bool needs_outputs = IsMapOf(decision, dims) || decision.kind == DecisionKind::kCtc ||
                                 decision.kind == DecisionKind::kRegression ||
                                 of_samples->of_feeds() || of_samples->have_axes() ||
                                 std::ranges::any_of(one.row.samples, IsCutOff);
      if (needs_outputs) KeepScores(*of_samples, decision, iteration, outputs, one);
    }
  }
}

void LabelKeeper::LabelRows(const RunLabels& labels, const DecisionOptions& options,
                            int64_t iteration, const MatchedSides& sides,
                            std::vector<ShardDecided>& decided) {
  for (size_t plan = 0; plan < decided.size(); ++plan) {
    const DecisionPlan& decision = options.decisions[plan];
    for (ShardDecision& one : decided[plan].outputs) {
      const SampleLabels* const of_samples = labels.For(decision, one.row.output);
      if (of_samples == nullptr) continue;
      if (!of_samples->of_feeds() && !of_samples->of_images()) {
        std::ranges::for_each(one.row.samples, RemoveLabel);
      } else if (!one.scores) {
        ScoreSamples(*of_samples, decision, iteration, 0, OutputsOf(sides, one.row.output),
                     one.row.samples);
      }
    }
  }
}

void KeepExtras(std::vector<ShardDecided>& decided) {
  for (ShardDecided& of_plan : decided) {
    for (ShardDecision& one : of_plan.outputs) {
      for (size_t i = 0; i < one.row.samples.size(); ++i) {
        const SampleExtra& extra = one.row.samples[i];
        if (extra.any()) one.extras.push_back({extra, static_cast<int64_t>(i)});
      }
    }
  }
}

Status RestoreExtras(ShardDecision& kept) {
  for (const ShardExtra& extra : kept.extras) {
    const auto at = static_cast<size_t>(extra.sample);
    if (extra.sample < 0 || at >= kept.row.samples.size()) {
      return Malformed("a sample " + std::to_string(extra.sample) + " of " +
                       Counted(kept.row.samples.size(), "sample"));
    }
    static_cast<SampleExtra&>(kept.row.samples[at]) = extra;
  }
  return {};
}

Result<SideDetections> DetectionsOf(const ShardDecision& kept) {
  if (!kept.undetected.empty()) return InvalidArgument(kept.undetected);
  return SideDetections{kept.first, kept.second};
}

Result<FileHashes> HashLabels(const DecisionOptions& options, const InputPlan& inputs) {
  FileHashes hashes;
  const auto add = [&](const std::string& path, const char* option) -> Status {
    Result<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path).Annotate(option);
    if (!file.ok()) return file.status();
    Checksum checksum;
    checksum.Add((*file)->bytes());
    VERNIER_TRY((*file)->CheckIntact());
    hashes.emplace_back(path, HexadecimalHash(checksum.value()));
    return {};
  };
  for (const LabelsPlan& labels : options.labels) {
    if (labels.path == kLabelsOfFolders) {
      VERNIER_ASSIGN_OR_RETURN(const RunLabels run, RunLabels::Open(options, inputs));
      Checksum names;
      for (const std::string& name : run.Folders()) {
        names.Add(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
      }
      hashes.emplace_back(labels.path, HexadecimalHash(names.value()));
      continue;
    }
    if (FedLabelKey(labels)) {  // no file: parts keep what was found with them
      hashes.emplace_back(labels.path, "");
      continue;
    }
    VERNIER_TRY(add(labels.path, "--labels"));
  }
  if (!options.class_names.empty()) VERNIER_TRY(add(options.class_names, "--class-names"));
  return hashes;
}

Status CheckLabelsRead(const FileHashes& read, const DecisionOptions& options,
                       const InputPlan& inputs) {
  VERNIER_ASSIGN_OR_RETURN(const FileHashes now, HashLabels(options, inputs));
  for (size_t i = 0; i < std::min(now.size(), read.size()); ++i) {
    if (now[i] == read[i]) continue;
    const bool folders = now[i].first == kLabelsOfFolders;
    const std::string option = i < options.labels.size() ? "--labels" : "--class-names";
    return Malformed(option + " '" + now[i].first + "': the " +
                     (folders ? "folders, which number the classes, have changed since the shards "
                                "read them ("
                              : "file has changed since the shards read it (") +
                     read[i].second + ", now " + now[i].second + ")");
  }
  return now.size() == read.size()
             ? Status()
             : Malformed("the parts are damaged: they lack files of --labels or --class-names");
}

Status CheckSameLabels(const std::string& part, const FileHashes& read, const std::string& other,
                       const FileHashes& other_read) {
  for (size_t i = 0; i < std::min(read.size(), other_read.size()); ++i) {
    if (read[i] == other_read[i]) continue;
    return Malformed("'" + part + "' and '" + other + "' do not belong together: the content of " +
                     "--labels '" + read[i].first + "' differs ('" + read[i].second + "' and '" +
                     other_read[i].second + "')");
  }
  return {};
}

}  // namespace vernier
