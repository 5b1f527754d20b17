#include "run/workers/skipped_outputs.h"

#include <algorithm>

namespace vernier {

void SkippedOutputs::Add(const TensorMap& outputs, const std::vector<SkippedOutput>& skipped) {
  // An optional may hold a tensor.
  std::erase_if(all_,
                [&](const SkippedOutput& known) { return Find(outputs, known.name) != nullptr; });
  for (const SkippedOutput& output : skipped) {
    for (std::vector<SkippedOutput>* list : {&all_, &lost_}) {
      const bool known = std::ranges::find(*list, output.name, &SkippedOutput::name) != list->end();
      if (!known) list->push_back(output);
    }
  }
}

}  // namespace vernier
