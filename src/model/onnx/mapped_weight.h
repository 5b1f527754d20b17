// The values of one initializer, for whoever looks at few of them.
#pragma once

#include <memory>
#include <string>

#include "model/onnx/external_data.h"
#include "model/onnx/onnx_model.h"
#include "util/files/mapped_file.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct MappedWeight {
  Tensor values;
  std::shared_ptr<const MappedFile> file;  ///< that they lie in, if it is not the model's own

  /// Whether what was read so far was the file's. kMalformed.
  Status CheckIntact() const { return file ? file->CheckIntact() : Status(); }
};

/// External values are mapped and not read. The model outlives those within. kMalformed for values
/// that do not fit their type and shape, or a file that does not hold them.
Result<MappedWeight> MapWeight(const OnnxModel& model, const OnnxTensor& tensor,
                               const ExternalDataOptions& options);

}  // namespace vernier
