// Saves inputs while they are being made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/results_format.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Writes feeds one after the other in constant memory. A path ending in .npz or .safetensors is
/// written in that format, any other path with an extension as the peer's JSON list; such files
/// appear whole with Finish() and not at all without. A path without an extension is a directory of
/// one JSON file for each feed, each of which appears with its Append().
class FeedWriter {
 public:
  /// What the writer of one format provides.
  class Encoder {
   public:
    virtual ~Encoder() = default;
    virtual Status Append(const TensorMap& feed) = 0;
    virtual Status Finish() = 0;
    virtual void Discard() {}
  };

  /// kIo when the place cannot be written, or is a directory that is not empty. Of a directory,
  /// the first `kept` feeds may be there: they stay, and as many Append()s write nothing.
  static Result<std::unique_ptr<FeedWriter>> Create(const std::string& path, uint64_t kept = 0) {
    return Create(path, ResultsFormatFor(path), kept);
  }
  static Result<std::unique_ptr<FeedWriter>> Create(const std::string& path, ResultsFormat format,
                                                    uint64_t kept = 0);

  /// kIo; after an error Finish() fails too.
  Status Append(const TensorMap& feed);
  Status Finish();

  /// Removes what was written. Nothing may be called afterwards.
  void Discard() { encoder_->Discard(); }

 private:
  explicit FeedWriter(std::unique_ptr<Encoder> encoder) : encoder_(std::move(encoder)) {}

  std::unique_ptr<Encoder> encoder_;
  Status broken_;
};

}  // namespace vernier
