#include "blame/search/disturbing_probes.h"

#include <algorithm>

#include "util/number_text.h"

namespace vernier {
namespace {

// Opening a model may take minutes.
constexpr int kMostTrials = 64;
constexpr size_t kLargestSet = 8;
constexpr int kMostNeighbours = 16;

class DisturbanceSearch {
 public:
  DisturbanceSearch(const BlameGraph& graph, const ProbeTrial& trial, bool passes)
      : graph_(graph), trial_(trial), passes_(passes) {}

  // Adds the last probe of the shortest prefix that has the effect together with what is known to
  // be needed, until those suffice. Effects that more probes would undo are not found. False when
  // the set would be too large, or the trials are spent.
  Result<bool> FindSmallest(std::vector<std::string> probes) {
    while (true) {
      VERNIER_ASSIGN_OR_RETURN(const bool enough, HasEffect({}));
      if (trials_ >= kMostTrials) return false;
      if (enough) break;
      if (probes.empty() || needed_.size() >= kLargestSet) return false;
      size_t low = 1, high = probes.size();
      while (low < high) {
        const size_t middle = (low + high) / 2;
        VERNIER_ASSIGN_OR_RETURN(const bool effect, HasEffect(std::span(probes).first(middle)));
        if (effect) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      needed_.push_back(probes[high - 1]);
      probes.resize(high - 1);
    }
    std::reverse(needed_.begin(), needed_.end());
    return !needed_.empty();
  }

  // Where one probe has the effect, its neighbours may have it too: the region is as large as that.
  Status FindRegion() {
    std::vector<std::string> open = needed_;
    std::vector<std::string> inside = needed_;
    std::vector<std::string> tried = needed_;
    const bool grows = needed_.size() == 1;
    for (int trials = 0; grows && !open.empty() && trials < kMostNeighbours;) {
      const std::string name = open.back();
      open.pop_back();
      for (const std::string& next : Neighbours(name)) {
        if (std::find(tried.begin(), tried.end(), next) != tried.end()) continue;
        tried.push_back(next);
        if (++trials > kMostNeighbours) break;
        const std::vector<std::string> only = {next};
        VERNIER_ASSIGN_OR_RETURN(const double error, Try(only));
        if ((error <= 1) != passes_) continue;
        inside.push_back(next);
        open.push_back(next);
      }
    }
    for (const std::string& name : inside) AddNodesAround(name);
    return {};
  }

  const std::vector<std::string>& needed() const { return needed_; }

  std::vector<std::string> Region() {
    std::vector<std::string> names;
    for (const uint32_t node : graph_.order()) {
      const bool in = std::find(region_.begin(), region_.end(), node) != region_.end();
      if (in) names.push_back(graph_.NodeName(node));
    }
    return names;
  }

 private:
  Result<double> Try(const std::vector<std::string>& probes) {
    ++trials_;
    return trial_(probes);
  }

  // Once the trials are spent, anything: callers look at their number.
  Result<bool> HasEffect(std::span<const std::string> more) {
    if (trials_ >= kMostTrials) return true;
    std::vector<std::string> probes(more.begin(), more.end());
    probes.insert(probes.end(), needed_.begin(), needed_.end());
    VERNIER_ASSIGN_OR_RETURN(const double error, Try(probes));
    return (error <= 1) == passes_;
  }

  std::vector<std::string> Neighbours(const std::string& name) const {
    std::vector<std::string> names;
    for (const OnnxNode& node : graph_.graph().nodes) {
      const auto inputs = graph_.graph().Inputs(node);
      const auto outputs = graph_.graph().Outputs(node);
      const bool makes = std::find(outputs.begin(), outputs.end(), name) != outputs.end();
      const bool reads = std::find(inputs.begin(), inputs.end(), name) != inputs.end();
      if (makes) Add(inputs, names);
      if (reads) Add(outputs, names);
    }
    return names;
  }

  void Add(std::span<const std::string_view> from, std::vector<std::string>& names) const {
    for (const std::string_view name : from) {
      if (graph_.IsMade(name) && !graph_.IsConstant(name)) names.emplace_back(name);
    }
  }

  void AddNodesAround(const std::string& name) {
    const auto& nodes = graph_.graph().nodes;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const auto inputs = graph_.graph().Inputs(nodes[i]);
      const auto outputs = graph_.graph().Outputs(nodes[i]);
      const bool near = std::find(inputs.begin(), inputs.end(), name) != inputs.end() ||
                        std::find(outputs.begin(), outputs.end(), name) != outputs.end();
      if (near) region_.push_back(i);
    }
  }

  const BlameGraph& graph_;
  const ProbeTrial& trial_;
  const bool passes_;
  int trials_ = 0;
  std::vector<std::string> needed_;
  std::vector<uint32_t> region_;
};

std::string List(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

}  // namespace

Status SearchDisturbance(const BlameGraph& graph, const std::vector<std::string>& probes,
                         const ProbeTrial& trial, DisturbanceRecord& record) {
  const bool cures = record.plain_error > 1;
  DisturbanceSearch search(graph, trial, cures);
  record.effect = cures ? "cures" : "causes";
  VERNIER_ASSIGN_OR_RETURN(const bool found, search.FindSmallest(probes));
  if (!found) {
    record.finding = "Probing changed the result: without probes the outputs are " +
                     FormatG(record.plain_error, 3) +
                     " times their error bound, with all of them " +
                     FormatG(record.probed_error, 3) +
                     ". No small set of tensors was found that makes the difference.";
    return {};
  }
  VERNIER_TRY(search.FindRegion());
  record.probes = search.needed();
  record.region = search.Region();
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
