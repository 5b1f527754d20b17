#include "blame/search/disturbing_probes.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "util/text/number_text.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

// Opening a model may take minutes.
constexpr int kMostTrials = 64;
constexpr size_t kLargestSet = 8;
constexpr int kMostNeighbours = 16;

// Counts the trials, and knows which outcome is the effect that is searched.
class EffectTrials {
 public:
  /// `passes`: with all probes the outputs pass.
  EffectTrials(const ProbeTrial& trial, bool passes) : trial_(trial), passes_(passes) {}

  bool spent() const { return count_ >= kMostTrials; }

  Result<bool> HasEffect(const std::vector<std::string>& probes) {
    ++count_;
    VERNIER_ASSIGN_OR_RETURN(const double error, trial_(probes));
    return (error <= 1) == passes_;
  }

 private:
  const ProbeTrial& trial_;
  const bool passes_;
  int count_ = 0;
};

// Adds the last probe of the shortest prefix that has the effect together with what is known to be
// needed, until those suffice. Effects that more probes would undo are not found. Empty when the
// set would be too large, or the trials are spent.
Result<std::vector<std::string>> FindSmallest(EffectTrials& trials,
                                              std::vector<std::string> probes) {
  std::vector<std::string> needed;
  // Once the trials are spent, anything.
  const auto has_effect = [&](std::span<const std::string> more) -> Result<bool> {
    if (trials.spent()) return true;
    std::vector<std::string> set(more.begin(), more.end());
    set.insert(set.end(), needed.begin(), needed.end());
    return trials.HasEffect(set);
  };
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool enough, has_effect({}));
    if (trials.spent()) return std::vector<std::string>();
    if (enough) break;
    if (probes.empty() || needed.size() >= kLargestSet) return std::vector<std::string>();
    size_t low = 1, high = probes.size();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      VERNIER_ASSIGN_OR_RETURN(const bool effect, has_effect(std::span(probes).first(middle)));
      if (effect) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    needed.push_back(probes[high - 1]);
    probes.resize(high - 1);
  }
  std::reverse(needed.begin(), needed.end());
  return needed;
}

// Tensors that a node reads which makes this one, or makes which reads it.
std::vector<std::string> Neighbours(const BlameGraph& graph, const std::string& name) {
  std::vector<std::string> names;
  const auto add = [&](std::span<const std::string_view> from) {
    for (const std::string_view one : from) {
      if (graph.IsMade(one) && !graph.IsConstant(one)) names.emplace_back(one);
    }
  };
  for (const OnnxNode& node : graph.graph().nodes) {
    const auto inputs = graph.graph().Inputs(node);
    const auto outputs = graph.graph().Outputs(node);
    const bool makes = std::find(outputs.begin(), outputs.end(), name) != outputs.end();
    const bool reads = std::find(inputs.begin(), inputs.end(), name) != inputs.end();
    if (makes) add(inputs);
    if (reads) add(outputs);
  }
  return names;
}

// Where one probe has the effect, its neighbours may have it too.
Result<std::vector<std::string>> WithNeighbours(const BlameGraph& graph, EffectTrials& trials,
                                                const std::vector<std::string>& needed) {
  std::vector<std::string> open = needed, inside = needed, tried = needed;
  const bool grows = needed.size() == 1;
  for (int count = 0; grows && !open.empty() && count < kMostNeighbours;) {
    const std::string name = open.back();
    open.pop_back();
    for (const std::string& next : Neighbours(graph, name)) {
      if (std::find(tried.begin(), tried.end(), next) != tried.end()) continue;
      tried.push_back(next);
      if (++count > kMostNeighbours) break;
      VERNIER_ASSIGN_OR_RETURN(const bool effect, trials.HasEffect({next}));
      if (!effect) continue;
      inside.push_back(next);
      open.push_back(next);
    }
  }
  return inside;
}

// The nodes that make or read these tensors, in order.
std::vector<std::string> NodesAround(const BlameGraph& graph,
                                     const std::vector<std::string>& tensors) {
  const auto has_any = [&](std::span<const std::string_view> names) {
    return std::any_of(tensors.begin(), tensors.end(), [&](const std::string& tensor) {
      return std::find(names.begin(), names.end(), tensor) != names.end();
    });
  };
  std::vector<std::string> names;
  for (const uint32_t index : graph.order()) {
    const OnnxNode& node = graph.graph().nodes[index];
    const bool near = has_any(graph.graph().Inputs(node)) || has_any(graph.graph().Outputs(node));
    if (near) names.push_back(graph.NodeName(index));
  }
  return names;
}

// The record has all of them.
std::string List(const std::vector<std::string>& names) {
  constexpr size_t kMostNamed = 8;
  return JoinedUpTo(names, kMostNamed, [](const std::string& name) { return "'" + name + "'"; });
}

}  // namespace

Status SearchDisturbance(const BlameGraph& graph, const std::vector<std::string>& probes,
                         const ProbeTrial& trial, DisturbanceRecord& record) {
  const bool cures = record.plain_error > 1;
  EffectTrials trials(trial, cures);
  record.effect = cures ? "cures" : "causes";
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> needed, FindSmallest(trials, probes));
  if (needed.empty()) {
    record.finding = "Probing changed the result: without probes the outputs are " +
                     FormatG(record.plain_error, 3) +
                     " times their error bound, with all of them " +
                     FormatG(record.probed_error, 3) +
                     ". No small set of tensors was found that causes the difference.";
    return {};
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> inside,
                           WithNeighbours(graph, trials, needed));
  record.probes = std::move(needed);
  record.region = NodesAround(graph, inside);
  const std::string what = List(record.probes);
  record.finding = "Probing changed the result: without probes the outputs are " +
                   FormatG(record.plain_error, 3) + " times their error bound, with " + what +
                   " exposed they " + (cures ? "pass" : "fail") + ". The fault is in how " +
                   List(record.region) + " work together.";
  return {};
}

void DescribeMovement(DisturbanceRecord& record) {
  if (!record.changed) {
    record.finding = record.moved > 0 ? "Probes moved the outputs by " + FormatG(record.moved, 3) +
                                            " times their error bound: not more than rounding."
                                      : "Probes did not change the outputs.";
    return;
  }
  record.finding = "Probing changed the result: the outputs moved by " + FormatG(record.moved, 3) +
                   " times their error bound (" + FormatG(record.plain_error, 3) +
                   " times over without probes, " + FormatG(record.probed_error, 3) +
                   " with them). The layers' errors are those of the probed model.";
}

}  // namespace vernier
