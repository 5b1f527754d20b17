// Writing an ONNX model, edited or not, with its weights in the right place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/onnx/external_data.h"
#include "model/onnx/onnx_model.h"
#include "model/onnx/replaced_values.h"
#include "model/onnx/wire_patch.h"
#include "util/files/atomic_file.h"
#include "util/log/log.h"

namespace vernier {

/// From this size on a model cannot hold its weights itself (Polygraphy's threshold).
inline constexpr uint64_t kLargestOnnxFile = 2'000'000'000;

struct SaveOnnxOptions {
  ExternalDataOptions source;   ///< where the model's external data is now
  bool ignore_weights = false;  ///< leave external data as it is: copy none, check none
  /// --save-external-data: where initializers go, relative to the new model's folder; empty: the
  /// model's file name with ".data" appended.
  std::optional<std::string> external_path;
  uint64_t size_threshold = 1024;  ///< smaller initializers stay in the model, see SaveOnnx
  bool one_file = true;            ///< false: a file per tensor
  /// Tensors of the model whose values are others; patches for them must not touch their data.
  std::span<const ReplacedValues> values = {};
  uint64_t largest_file = kLargestOnnxFile;     ///< a model of this size keeps its weights outside
  Logger* log = nullptr;                        ///< reports a data file whose name was not given
  Durability durability = Durability::kSynced;  ///< kRenamed for models that are soon gone again
};

/// Appends the patches that put new values into their tensor. kUnimplemented for a tensor that the
/// file splits.
Status PatchValues(const ReplacedValues& values, std::vector<WirePatch>& patches);

/// The same for a tensor whose values are to be found in another file.
Status PatchExternal(const OnnxTensor& tensor, const ExternalSlice& place,
                     std::vector<WirePatch>& patches);

/// Writes `model` with `patches` applied to `path`. Where the weights go:
/// - without `external_path` external weights are put into the new file, as Polygraphy does. If
/// that
///   would reach `largest_file`, they stay external: in the files that they have where these lie
///   beside the new model already, else in one new file that has the model's name with ".data"
///   appended. A file of that name that is not the old model's is left alone: a number is added.
/// - with `external_path` initializers that are raw data or external are written to that file; of
///   the other tensors external ones are put into the model. As in Polygraphy, whose sizes include
///   the 33 bytes of a Python object, a tensor goes out if its bytes + 33 >= `size_threshold`.
/// Each file appears whole or not at all, the model last. kMalformed for bad external data,
/// kInvalidArgument for an `external_path` that is not below the model's folder, or that would
/// replace weights that the source model needs; kIo for writing,
/// kUnimplemented for tensors that the file splits.
Status SaveOnnx(const OnnxModel& model, std::vector<WirePatch> patches, const std::string& path,
                const SaveOnnxOptions& options);

}  // namespace vernier
