// A JSON file of the peer's, mapped, with the structure of its values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/json_tape.h"
#include "util/mapped_file.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class PeerDocument {
 public:
  /// One pass over the file. kMalformed, naming path and byte, when it is missing or not JSON.
  /// Memory stays small for files of any size: pages that were looked at are given back.
  static Result<std::unique_ptr<PeerDocument>> Open(const std::string& path);

  PeerDocument(const PeerDocument&) = delete;
  PeerDocument& operator=(const PeerDocument&) = delete;

  const std::string& path() const { return file_->path(); }
  JsonValue root() const { return tape_.root(); }

  /// Decodes the tensors of a map of names to arrays. kMalformed names path and tensor.
  Result<TensorMap> DecodeTensors(JsonValue map) const;

  /// `'path': message`, with the code of `status`.
  Status Annotate(Status status) const;

 private:
  explicit PeerDocument(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  std::shared_ptr<const MappedFile> file_;
  JsonTape tape_;
};

}  // namespace vernier
