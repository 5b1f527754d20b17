#include "blame/search/layer_search.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>

#include "blame/judge/amplified_rounding.h"
#include "blame/judge/layer_merge.h"
#include "blame/probe/layer_batch.h"
#include "blame/search/resume_file.h"
#include "blame/sides/blame_feeds.h"
#include "util/process/process_memory.h"
#include "util/text/number_text.h"
#include "util/threads/thread_pool.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

MemoryPlan PlanSessions(const SearchSubject& subject) {
  HeldMemory held = subject.unprobed.held;
  held.idle += ResidentMemoryOf("self").value_or(0);
  // It may still be loading what the candidate has loaded.
  held.idle += std::max(subject.sides.alone.ResidentMemory(), subject.unprobed.idle_candidate);
  const size_t sides = MayOverlap(subject.plan, subject.sides) ? 2 : 1;
  return PlanMemory(held, subject.plan.max_host_bytes, subject.unprobed.feeds.size(), sides);
}

// A limit that cannot be kept must not be passed in silence.
void LogMemory(const LayerPlan& plan, uint64_t limit, Logger& logger) {
  uint64_t most = 0;
  for (const ProbeBatch& batch : plan.batches) most = std::max(most, batch.host_bytes);
  const uint64_t held_bytes = plan.memory.held_bytes;
  const std::string held = FormatBytes(held_bytes), all = FormatBytes(most);
  if (limit == 0 || most <= limit) {
    logger.Verbose("Memory: " + held + " for runners and the model, up to " + all +
                   " with the tensors of a batch");
    return;
  }
  const std::string why = held_bytes > limit
                              ? "runners and the model take " + held + " by themselves"
                              : "a single layer's tensors need " + FormatBytes(most - held_bytes) +
                                    " beside " + held + " of runners and the model";
  logger.Warning("--max-host-mem " + FormatBytes(limit) + " cannot be kept: " + why +
                 ". Batches are as small as they can be, and up to " + all + " may be held.");
}

// Tensors of layers that an interrupted search has looked at.
using KnownTensors = std::unordered_set<std::string>;

// What the layers of an earlier search say of tensors.
KnownTensors TakeOver(BlameRecord known, TensorFindings& findings, BlameRecord& record) {
  KnownTensors tensors;
  for (const BlameLayerRecord& layer : known.layers) {
    NoteAmplified(layer, findings.amplified);
    for (const BlameTensorRecord& tensor : layer.outputs) {
      tensors.insert(tensor.name_in_candidate());
      // Disputed constants are fed further on.
      const auto found = findings.visible.find(tensor.name_in_candidate());
      if (tensor.total_error > 1 && found != findings.visible.end()) {
        findings.disputed.insert(*found);
      }
    }
  }
  record.layers = std::move(known.layers);
  record.disturbance = std::move(known.disturbance);
  findings.first_nonfinite = std::move(known.first_nonfinite);
  findings.unexposed = std::move(known.unexposed);
  for (const UnexposedTensor& tensor : findings.unexposed) findings.visible.erase(tensor.name);
  return tensors;
}

// Keeps what is found so far in the file of --resume.
Status KeepFindings(const std::string& path, const TensorFindings& findings, BlameRecord& record) {
  record.unexposed = findings.unexposed;
  record.first_nonfinite = findings.first_nonfinite;
  return SaveResumeFile(path, record);
}

Result<KnownTensors> Resume(const SearchSubject& subject, size_t layers, TensorFindings& findings,
                            BlameRecord& record) {
  const std::string& path = subject.plan.resume;
  if (path.empty()) return KnownTensors();
  Logger& logger = subject.context.logger;
  record.resume_key = ResumeKey(subject, record.runners);
  VERNIER_ASSIGN_OR_RETURN(std::optional<BlameRecord> known,
                           LoadResumeFile(path, record.resume_key, subject.unprobed.feeds.size()));
  if (!known) {
    logger.Info("Findings are saved in '" + path + "'");
    // Rather now than after a long search.
    VERNIER_TRY(SaveResumeFile(path, record));
    return KnownTensors();
  }
  const size_t so_far = known->layers.size();
  logger.Info("Going on from '" + path +
              "': " + (so_far < layers ? std::to_string(so_far) + " of " : "all ") +
              Counted(layers, "layer is", "layers are") + " known");
  return TakeOver(*std::move(known), findings, record);
}

void DropKnown(const OnnxGraph& graph, const KnownTensors& known, std::vector<uint32_t>& targets) {
  std::erase_if(targets, [&](uint32_t target) {
    const auto outputs = graph.Outputs(graph.nodes[target]);
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](std::string_view name) { return known.contains(std::string(name)); });
  });
}

// One batch on all feeds: its layers, each of the feed with the largest error.
Result<std::vector<BlameLayerRecord>> RunBatch(const BatchSetup& setup,
                                               std::vector<uint32_t> targets,
                                               TensorFindings& findings,
                                               DisturbanceRecord& disturbance) {
  UnprobedRun& unprobed = setup.subject.unprobed;
  LayerBatch batch(setup, std::move(targets), findings);
  std::vector<BlameLayerRecord> layers;
  for (size_t i = 0; i < unprobed.feeds.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(BatchFindings found,
                             batch.Run(unprobed.feeds[i], static_cast<int64_t>(i)));
    const bool shown = disturbance.shown_at.has_value();
    unprobed.outputs.Compare(i, found.outputs, disturbance);
    if (!shown && disturbance.shown_at) disturbance.shown_by = std::move(found.probes);
    MergeWorst(found.layers, layers);
  }
  return layers;
}

}  // namespace

size_t LayerPlan::layers() const {
  size_t sum = 0;
  for (const ProbeBatch& batch : batches) sum += batch.targets.size();
  return sum;
}

LayerPlan PlanLayers(const SearchSubject& subject, const NameSet& visible) {
  const MemoryPlan memory = PlanSessions(subject);
  const ProbeLimits limits{memory.host_bytes, subject.plan.max_gpu_bytes, memory.held_bytes};
  const UnprobedRun& unprobed = subject.unprobed;
  LayerPlan plan{memory, PlanBatches(subject.graph(), visible, DimsOfLargest(unprobed.feeds),
                                     limits, unprobed.fused_away)};
  LogMemory(plan, subject.plan.max_host_bytes, subject.context.logger);
  return plan;
}

Status SearchLayers(const SearchSubject& subject, const ReferenceSource& source, LayerPlan plan,
                    TensorFindings& findings, BlameRecord& record) {
  VERNIER_ASSIGN_OR_RETURN(const KnownTensors known,
                           Resume(subject, plan.layers(), findings, record));
  ThreadPool threads;
  const BatchSetup setup{subject, source, plan.memory, threads};
  const size_t count = plan.batches.size();
  for (size_t i = 0; i < count; ++i) {
    ProbeBatch& batch = plan.batches[i];
    VERNIER_TRY(subject.context.CheckInterrupted());
    DropKnown(subject.graph().graph(), known, batch.targets);
    if (batch.targets.empty()) continue;
    subject.context.logger.Info("Batch " + std::to_string(i + 1) + " of " + std::to_string(count) +
                                ": " + Counted(batch.targets.size(), "layer"));
    record.planned_bytes = std::max(record.planned_bytes, batch.host_bytes);
    VERNIER_ASSIGN_OR_RETURN(
        const std::vector<BlameLayerRecord> layers,
        RunBatch(setup, std::move(batch.targets), findings, record.disturbance));
    record.layers.insert(record.layers.end(), layers.begin(), layers.end());
    if (subject.plan.resume.empty()) continue;
    VERNIER_TRY(subject.sides.saved.CheckIntact());  // what is saved is believed later on
    VERNIER_TRY(KeepFindings(subject.plan.resume, findings, record));
  }
  record.batches = static_cast<int64_t>(count);
  return {};
}

}  // namespace vernier
