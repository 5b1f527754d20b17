// What is shown of a model or an engine, beyond what its own file says.
#pragma once

#include <map>
#include <string>

#include "report/files/report_files.h"
#include "report/models/engine_text.h"
#include "util/log.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

/// The statistics of the tensors in a file of saved outputs, by name: those of the first iteration
/// of its first runner; the log has a warning where there are more iterations. kMalformed for a
/// file that cannot be read or has no iteration.
Result<std::map<std::string, TensorRange>> ReadTensorRanges(const std::string& file, Logger& log);

/// Writes the graph of the ONNX model at `path` as a page. `record` says who made it. kMalformed
/// where there is no graph that can be drawn; kIo.
Status SaveGraphPage(const std::string& path, const ReportFile& page, RunRecord record);

}  // namespace vernier
