// A long run of bytes put together from parts that are not copied: views into a mapped file, small
// chunks of new bytes, and ranges of external data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/onnx/external_data.h"
#include "model/onnx/float16_values.h"
#include "util/files/atomic_file.h"
#include "vernier/status.h"

namespace vernier {

struct BytePiece {
  std::string_view bytes;
  std::shared_ptr<const void> owner;      ///< of new bytes; null for views
  std::optional<ExternalSlice> external;  ///< instead of bytes
  /// The bytes are float32 and become float16 when they are written; what was lost is counted here.
  std::shared_ptr<Float16Losses> narrowing;

  uint64_t size() const { return source_size() / (narrowing ? 2 : 1); }
  uint64_t source_size() const { return external ? external->size : bytes.size(); }
};

class BytePieces {
 public:
  /// Bytes that outlive the object.
  void AddView(std::string_view bytes);
  void AddOwned(std::string bytes);
  void AddExternal(ExternalSlice slice);
  void Append(const BytePieces& other);

  /// float32 values that are to be float16: bytes that outlive the object, or external ones.
  void AddNarrowedView(std::string_view floats, std::shared_ptr<Float16Losses> losses);
  void AddNarrowedExternal(ExternalSlice floats, std::shared_ptr<Float16Losses> losses);

  uint64_t size() const { return size_; }
  std::span<const BytePiece> pieces() const { return pieces_; }

 private:
  std::vector<BytePiece> pieces_;
  uint64_t size_ = 0;
};

/// Appends the pieces to `file`; external slices come from `folder`. kInternal for an external
/// slice without a folder; otherwise the errors of ExternalFolder and AtomicFile.
Status WritePieces(const BytePieces& pieces, const ExternalFolder* folder, AtomicFile& file);

/// The bytes in memory; external slices come from `folder`. kInternal when there is no memory.
Result<std::vector<std::byte>> ToBytes(const BytePieces& pieces,
                                       const ExternalFolder* folder = nullptr);

/// A sealed memfd with the bytes, for handing to another process; the caller closes it. External
/// slices come from `folder`, as in WritePieces. kIo when the system has no memory for it.
Result<int> ToMemfd(const BytePieces& pieces, const ExternalFolder* folder = nullptr);

}  // namespace vernier
