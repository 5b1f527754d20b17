// Parts of inputs that earlier runs left behind, for --resume.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "io/results/results_reader.h"
#include "vernier/tensor.h"

namespace vernier {

/// A run with --resume makes all inputs again, so parts of them are of no use any more once they
/// are saved: those of the same command, which shows from what they hold. One feed of each is in
/// memory at a time.
class ObsoleteInputParts {
 public:
  /// Opens what is beside `path`, where inputs are saved; parts in use, this run's own for one, are
  /// left alone. Not every file system knows what is in use: of parts without a feed, only `moved`
  /// is taken, the folder that this run has renamed; empty when there was none.
  ObsoleteInputParts(const std::string& path, const std::string& moved);

  /// To be called with each feed of the run, in order.
  void Compare(const TensorMap& feed);

  /// Removes the parts all feeds of which came in the run as well, bit by bit, unless they have
  /// grown since. Only for when those have been published.
  void Remove();

 private:
  struct Parts {
    std::string path;
    std::unique_ptr<ResultsReader> reader;  // of one runner; null where there is nothing to read
    size_t compared = 0;
    size_t feeds() const { return reader->runs().front().iterations; }
    bool finished() const { return reader == nullptr || compared == feeds(); }
    bool unchanged() const;
  };

  std::vector<Parts> parts_;  // in which no feed was another
};

}  // namespace vernier
