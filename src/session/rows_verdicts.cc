#include "session/rows_verdicts.h"

#include <algorithm>

#include "util/counted.h"
#include "util/number_text.h"

namespace vernier {

void FailedOutputs::Add(const IterationRow& row) {
  if (row.outputs.empty()) return;
  auto& outputs = pairs_[row.pair];
  for (const OutputRow& output : row.outputs) {
    Counts& counts = outputs[output.output];
    ++counts.rows;
    counts.failed += output.verdict == "failed" ? 1 : 0;
  }
}

std::vector<std::string> FailedOutputs::Sentences(const JudgedOutputs& judged) const {
  std::vector<std::string> sentences;
  for (const auto& [pair, outputs] : pairs_) {
    std::vector<std::string> failed;
    for (const auto& [output, counts] : outputs) {
      if (counts.failed == 0 || judged.contains({pair, output})) continue;
      failed.push_back("output " + QuotePython(output) + " failed in " +
                       CountedOf(counts.failed, counts.rows, "row"));
    }
    const bool by_function = std::ranges::any_of(judged, [&, &name = pair](const auto& one) {
      return one.first == name && !outputs.contains(one.second);
    });
    if (failed.empty() || by_function) continue;
    sentences.push_back(pair + ": decisions alone are checked again, and by their elements " +
                        JoinWords(failed, " and ") + ", which no gate of a decision is about");
  }
  return sentences;
}

}  // namespace vernier
