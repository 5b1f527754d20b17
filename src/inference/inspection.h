// What is shown of a model or an engine, beyond what its own file says.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "report/files/report_files.h"
#include "report/models/engine_text.h"
#include "report/models/model_text.h"
#include "util/log/log.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

/// What `inspect model` shows.
struct InspectionPlan {
  bool as_network = false;           ///< what TensorRT's parser makes of an ONNX model
  ModelTextOptions parts;            ///< of the text; those of weights are not for engines
  std::optional<std::string> layer;  ///< only this node, or the one that makes this tensor
  bool unbounded_sizes = false;      ///< tensors whose values determine a size without upper bound
  std::optional<std::string> tensor_ranges;  ///< file of saved outputs, for an engine's layers
  // A page with a drawing, instead of text.
  bool draws = false;
  std::optional<std::string> page;  ///< its file; none: the model's name with .html
  std::optional<std::string> port;  ///< of a server, which there is none: the page is a file
};

/// The statistics of the tensors in a file of saved outputs, by name: those of the first iteration
/// of its first runner; the log has a warning where there are more iterations. kMalformed for a
/// file that cannot be read or has no iteration.
Result<std::map<std::string, TensorRange>> ReadTensorRanges(const std::string& file, Logger& log);

/// Writes the graph of the ONNX model at `path` as a page. `record` says who made it. kMalformed
/// where there is no graph that can be drawn; kIo.
Status SaveGraphPage(const std::string& path, const ReportFile& page, RunRecord record);

}  // namespace vernier
