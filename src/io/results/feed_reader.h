// Saved inputs: what --save-inputs wrote and --load-inputs reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Reads feeds one after the other, one in memory at a time. Not thread-safe.
class FeedReader {
 public:
  /// What the reader of one file provides.
  class Source {
   public:
    virtual ~Source() = default;
    virtual size_t size() const = 0;
    virtual Result<TensorMap> Read(size_t index) = 0;
    /// Tensors are known by their order, as in ONNX test data; names inside are a fallback.
    virtual bool positional() const { return false; }
  };

  /// Chains `paths` in order; of a pattern (ExpandPattern) those that fit it. Each is
  ///  - a JSON file: a list of feeds, or one feed;
  ///  - a .npz, .safetensors, .npy (one tensor, called as the file) or .pb file (an ONNX tensor);
  ///  - a directory of such JSON files, read in the order of their names, or one with ONNX test
  ///    data: `input_<n>.pb` files, or `test_data_set_<n>` directories of those. A set of a model
  ///    without inputs has `output_<n>.pb` files alone, and is an empty feed.
  /// All paths are looked up and the first file is opened here; kMalformed, naming the path, when
  /// one is missing or the first holds no feeds.
  static Result<std::unique_ptr<FeedReader>> Open(std::vector<std::string> paths);

  /// The files, and directories of ONNX test data, that Open() would read for these paths, in
  /// order. Errors as there.
  static Result<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths);

  /// The next feed, its tensors in the file's order; nullopt after the last. kMalformed, naming
  /// the file, when it is damaged or holds something else; saved outputs are distinguished from
  /// inputs.
  Result<std::optional<TensorMap>> Next();

  /// Passes `count` feeds without reading them, or all that are left. Errors as Next() has them of
  /// files that cannot be opened.
  Status Skip(int64_t count);

  /// How many feeds all files hold: those that were not opened yet are, unless an earlier process
  /// has counted them (feed_counts.h). From then on Skip() opens no file that it passes. To be
  /// called before Next(). Errors as Skip().
  Result<int64_t> CountAll();

  /// Whether the feed that Next() gave last is known by the order of its tensors (NameByPosition).
  bool positional() const { return source_ != nullptr && source_->positional(); }

  /// Whether feeds are left, or files that were not opened yet. Reads nothing.
  bool HasMore() const;

  /// How many feeds all files hold, a damaged one included; nullopt while files wait that were not
  /// opened yet. Reads nothing.
  std::optional<int64_t> Total() const;
  /// Whether Total() is known before anything is read.
  bool KnowsTotal() const { return files_.size() <= 1; }

  /// The file that Next() read last, or will read first.
  const std::string& current_path() const { return current_path_; }

 private:
  explicit FeedReader(std::vector<std::string> files) : files_(std::move(files)) {}
  Status OpenFile();

  std::vector<std::string> files_;
  std::vector<size_t> counts_;  // of all files, or empty
  size_t file_ = 0;             // the one after the open one
  std::unique_ptr<Source> source_;
  size_t next_ = 0;
  size_t given_ = 0;  // by all files
  std::string current_path_;
};

/// `input_0.pb` of ONNX test data is the first input, whatever name is inside: gives tensors these
/// names, in order. Where there are not as many, or some are parts of sequences or optionals
/// (part_names.h), they keep their own. The remark, if any, is for a warning: the tensors had the
/// same names in another order.
std::string NameByPosition(std::span<const std::string> names, TensorMap& tensors);

}  // namespace vernier
