// A model that is being edited: its structure in memory, its weights still in the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/edit/onnx_save.h"
#include "model/onnx/byte_pieces.h"
#include "model/onnx/external_data.h"
#include "model/onnx/onnx_model.h"
#include "model/onnx/wire_patch.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class EditableModel {
 public:
  /// Reads the file and checks the values that it holds (CheckEmbeddedValues); external ones too,
  /// unless `ignore_weights`. kMalformed.
  static Result<EditableModel> Open(const std::string& path, const ExternalDataOptions& external,
                                    bool ignore_weights);

  /// As it is in the file, for summaries.
  const OnnxModel& original() const { return original_; }

  /// As it is now. Large initializers are external here, in files that only this object knows.
  const OnnxModel& now() const { return now_; }
  /// Where its external weights are.
  const ExternalDataOptions& external() const { return external_; }
  void Become(OnnxModel model) { now_ = std::move(model); }

  /// The values of an initializer of now(). kMalformed where they cannot be read, kUnimplemented
  /// for a tensor that the file splits, or whose weights were ignored.
  Result<Tensor> ValuesOf(const OnnxTensor& tensor) const;

  /// A model made of messages of now(), with its weights. They stay external where they were.
  Result<BytePieces> WithWeights(const OnnxModel& part) const;

  /// The large values of now(), as views into the file.
  Result<std::vector<ReplacedValues>> Weights() const;

  /// Writes now() with its weights; `values` are new ones for tensors of now(), `patches` change
  /// the rest of its bytes. The source in `options` is ignored. Errors of SaveOnnx.
  Status Save(const std::string& path, SaveOnnxOptions options,
              std::vector<ReplacedValues> values = {}, std::vector<WirePatch> patches = {}) const;

  /// What CheckExternalData says of now(); nothing where weights are ignored. kMalformed.
  Result<ExternalDataReport> CheckWeights() const;

 private:
  EditableModel(OnnxModel original, OnnxModel now, ExternalDataOptions external, std::string prefix,
                bool ignore_weights);

  OnnxModel original_, now_;
  ExternalDataOptions external_;
  std::string prefix_;
  bool ignore_weights_;
};

}  // namespace vernier
