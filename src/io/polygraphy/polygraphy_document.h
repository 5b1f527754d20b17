// A JSON file of Polygraphy's, with the structure of its values.
#pragma once

#include <memory>
#include <string>

#include "io/bytes/tensor_pool.h"
#include "io/json/json_tape.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class PolygraphyDocument {
 public:
  /// One pass over the file, without the arrays in it. kMalformed, naming path and byte, when it is
  /// missing or not JSON. Memory stays small for files of any size.
  static Result<std::unique_ptr<PolygraphyDocument>> Open(const std::string& path,
                                                          const JsonCut& cut = {});

  /// The same for a text that is open; `path` is for messages, `pool` for the tensors.
  static Result<std::unique_ptr<PolygraphyDocument>> Open(std::string path, JsonText text,
                                                          std::shared_ptr<TensorPool> pool,
                                                          const JsonCut& cut = {});

  PolygraphyDocument(const PolygraphyDocument&) = delete;
  PolygraphyDocument& operator=(const PolygraphyDocument&) = delete;

  const std::string& path() const { return path_; }
  JsonValue root() const { return tape_.root(); }

  /// What was cut from the document, as one of its own; its tensors use this one's memory again.
  Result<std::unique_ptr<PolygraphyDocument>> OpenCut(JsonValue object) const;

  /// Decodes the tensors of a map of names to arrays. kMalformed names path and tensor.
  Result<TensorMap> DecodeTensors(JsonValue map) const;

  /// The open file; null for a text.
  const InputFile* file() const { return file_.get(); }

  /// `'path': message`, with the code of `status`.
  Status Annotate(Status status) const;

 private:
  PolygraphyDocument(std::string path, JsonTape tape, std::shared_ptr<TensorPool> pool)
      : path_(std::move(path)), tape_(std::move(tape)), pool_(std::move(pool)) {}

  std::string path_;
  std::shared_ptr<const InputFile> file_;
  JsonTape tape_;
  std::shared_ptr<TensorPool> pool_;
};

}  // namespace vernier
