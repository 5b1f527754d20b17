// How runners are measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vernier/run_record.h"

namespace vernier {

struct ProfileOptions {
  /// Sets of input shapes, each as the words of --input-shapes: "NAME:[1,3,224,224]". At least one
  /// set; an empty one has the shapes that the model declares.
  std::vector<std::vector<std::string>> shapes = std::vector<std::vector<std::string>>(1);
  int64_t runs = 0;     ///< measured inferences; 0: as many as fit into `seconds`, at least ten
  double seconds = 3;   ///< of measuring, for each runner and set of shapes
  int64_t warm_up = 5;  ///< inferences before
  bool layers = true;   ///< measure single layers too, in a session of their own
  /// Called after each point with all results so far, in case the process dies.
  std::function<void(const RunRecord&)> keep = {};
};

}  // namespace vernier
