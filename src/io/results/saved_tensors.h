// Any file of saved tensors, whichever format and whether inputs or outputs, as runs of iterations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/results/results_reader.h"
#include "vernier/status.h"

namespace vernier {

enum class SavedKind : uint8_t { kInputs, kOutputs };

struct SavedTensors {
  /// kInputs: one run without a name. Files that do not say what they hold (an npz of another
  /// program, an .npy or .pb file) count as inputs.
  SavedKind kind = SavedKind::kInputs;
  std::unique_ptr<ResultsReader> reader;
  /// ONNX test data: tensors are known by their order (NameByPosition).
  bool positional = false;
};

/// Opens Polygraphy's JSON (a file or a folder of iterations), .npz, .safetensors, .npy, .pb, or a
/// folder of ONNX test data: `input_<n>.pb` and `output_<n>.pb` files, or `test_data_set_<n>`
/// folders of those, each an iteration. Of test data that hold both, `preferred` are read. Tensors
/// are decoded by Read, one iteration at a time. kMalformed, naming the path, when it is missing,
/// damaged or something else; a folder is judged by its first file. `access` is that to .npz
/// and .safetensors files.
Result<SavedTensors> OpenSavedTensors(const std::string& path, SavedKind preferred,
                                      ArchiveAccess access = ArchiveAccess::kRead);

/// Looks at the beginning of a JSON file only: saved outputs are an object with a type or the list
/// "lst", anything else is taken for inputs. kMalformed when the file cannot be read.
Result<SavedKind> SniffJsonKind(const std::string& path);

/// Whether a JSON file begins like accuracy results; false when it cannot be read.
bool LooksLikeAccuracyResults(const std::string& path);

}  // namespace vernier
