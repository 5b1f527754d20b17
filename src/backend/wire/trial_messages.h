// Inferences under conditions that must not matter, for `check consistency`: the request and what
// was seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/wire/wire.h"
#include "vernier/tensor.h"

namespace vernier {

/// The runner gets copies of the inputs, which it could write to.
struct TrialRequest {
  uint64_t session = 0;
  /// Inputs begin this many bytes after a multiple of 64: 0 to 63, and never within an element.
  uint64_t shift = 0;
  /// With it, memory for outputs is there whatever their size, and holds this byte everywhere.
  std::optional<uint8_t> fill = {};

  void Encode(MessageWriter& out) const;
  static TrialRequest Decode(MessageReader& in);
};

/// An input that is no longer what it was.
struct WrittenInput {
  std::string name;
  uint64_t bytes = 0;  ///< that differ
  uint64_t first = 0;  ///< the first of them
};

struct TrialReport {
  std::vector<WrittenInput> written;
  uint64_t placed = 0;  ///< outputs that the backend requested memory for

  void Encode(MessageWriter& out) const;
  static TrialReport Decode(MessageReader& in);
};

/// Copies of tensors that begin elsewhere in memory and may be written to.
class TrialInputs {
 public:
  /// `shift` as in TrialRequest. `originals` must outlive it. kInternal when memory runs out.
  static Result<TrialInputs> Make(const TensorMap& originals, uint64_t shift);

  const TensorMap& tensors() const { return copies_; }
  std::vector<WrittenInput> FindWritten() const;

 private:
  explicit TrialInputs(const TensorMap& originals) : originals_(&originals) {}

  const TensorMap* originals_;
  TensorMap copies_;
};

/// Where a tensor of that type begins for a shift: at the next whole element.
uint64_t ShiftFor(DType dtype, uint64_t shift);

}  // namespace vernier
