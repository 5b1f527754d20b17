#include "debug/reducing.h"

#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/edit/onnx_extract.h"
#include "report/models/model_text.h"
#include "surgeon/reduction.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

class Reducing {
 public:
  Reducing(const ReduceDebugPlan& plan, EditableModel& model, DebugSession& session, Logger& log)
      : plan_(plan),
        model_(model),
        session_(session),
        log_(log),
        whole_(model.now()),
        fingerprints_(whole_) {}

  Result<ReduceRecord> Run() {
    if (LiveRun* live = session_.check().live()) live->RunsPartsOf(NamesOfOutputs());
    VERNIER_ASSIGN_OR_RETURN(const bool passes, session_.Passes({[&](const std::string& path) {
                                                                   model_.Become(whole_);
                                                                   return Save(
                                                                       path, Durability::kRenamed);
                                                                 },
                                                                 FingerprintOf({})}));
    if (passes && plan_.keep_good) {
      log_.Warning("The check passes for the whole model: there is nothing to reduce");
      session_.Finish();
      VERNIER_TRY(SaveWhole());
      return RecordOf(AllNodes());
    }
    if (passes) {
      return NotFound(
          "the check passes for the whole model: there is nothing to reduce; it must fail by its "
          "exit code, --fail-code or --fail-regex");
    }
    ReductionOptions options;
    options.reduce_inputs = plan_.reduce_inputs;
    options.reduce_outputs = plan_.reduce_outputs;
    options.width = session_.jobs();
    options.bisect = plan_.bisect;
    VERNIER_ASSIGN_OR_RETURN(const Reduction reduction,
                             ReduceNodes(whole_, options, [&](std::span<const NodeSet> parts) {
                               return FirstFailing(parts);
                             }));
    session_.Finish();
    VERNIER_TRY(Report(reduction));
    return RecordOf(reduction.bad);
  }

 private:
  Status Save(const std::string& path, Durability durability) {
    SaveOnnxOptions options = plan_.save;
    options.durability = durability;
    return model_.Save(path, std::move(options));
  }

  Status Take(const NodeSet& nodes) {
    VERNIER_ASSIGN_OR_RETURN(OnnxModel part, PartOfNodes(whole_, nodes));
    model_.Become(std::move(part));
    return {};
  }

  std::vector<std::string> NamesOfOutputs() const {
    std::vector<std::string> names;
    for (const OnnxValue& output : whole_.graph().outputs) names.emplace_back(output.name);
    return names;
  }

  std::string FingerprintOf(const NodeSet& nodes) const {
    std::vector<std::string_view> parts;
    for (const uint32_t index : nodes) parts.push_back(whole_.graph().nodes[index].bytes);
    return fingerprints_.Of(std::move(parts));
  }

  Result<std::optional<size_t>> FirstFailing(std::span<const NodeSet> parts) {
    std::vector<DebugTrial> trials;
    for (const NodeSet& nodes : parts) {
      trials.push_back({[this, &nodes](const std::string& path) -> Status {
                          log_.Verbose("Trying " + Counted(nodes.size(), "node"));
                          VERNIER_TRY(Take(nodes));
                          return Save(path, Durability::kRenamed);
                        },
                        FingerprintOf(nodes)});
    }
    return session_.FirstThat(trials, false);
  }

  Status SaveAs(const std::string& path, const NodeSet& nodes, const std::string& heading) {
    VERNIER_TRY(Take(nodes));
    LogModel(heading, model_.now(), log_);
    if (path.empty()) return {};
    log_.Info("Saving ONNX model to: " + path);
    return Save(path, Durability::kSynced);
  }

  NodeSet AllNodes() const {
    NodeSet all(whole_.graph().nodes.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  // Polygraphy takes the whole model for the smallest that fails.
  Status SaveWhole() { return SaveAs(plan_.output, AllNodes(), "Minimum Bad Model:"); }

  ReduceRecord RecordOf(const NodeSet& failing) const {
    const std::vector<OnnxNode>& nodes = whole_.graph().nodes;
    ReduceRecord record;
    for (const uint32_t index : failing) {
      record.failing.push_back({std::string(nodes[index].op_type), std::string(nodes[index].name)});
    }
    record.nodes = static_cast<int64_t>(nodes.size());
    record.checks = session_.iterations();
    return record;
  }

  Status Report(const Reduction& reduction) {
    std::string names;
    for (const uint32_t index : reduction.bad) {
      const OnnxNode& node = whole_.graph().nodes[index];
      names += (names.empty() ? "" : ", ") + std::string(node.op_type) +
               (node.name.empty() ? "" : " '" + std::string(node.name) + "'");
    }
    VERNIER_TRY(SaveAs(plan_.output, reduction.bad, "Minimum Bad Model:"));
    if (!reduction.good.empty()) {
      VERNIER_TRY(SaveAs(plan_.min_good, reduction.good, "Minimum Good Model:"));
    } else if (!plan_.min_good.empty()) {
      log_.Warning(
          "Could not find a minimal model close in size to the reduced model that does "
          "not cause a failure.");
    }
    const size_t bad = reduction.bad.size();
    log_.Finish(CountedOf(bad, whole_.graph().nodes.size(), "node") +
                Verb(bad, " still fails: ", " still fail: ") + names);
    return {};
  }

  const ReduceDebugPlan& plan_;
  EditableModel& model_;
  DebugSession& session_;
  Logger& log_;
  const OnnxModel whole_;
  const Fingerprints fingerprints_;
};

}  // namespace

Result<ReduceRecord> DebugReduce(const ReduceDebugPlan& plan, EditableModel& model,
                                 DebugSession& session, Logger& log) {
  return Reducing(plan, model, session, log).Run();
}

}  // namespace vernier
