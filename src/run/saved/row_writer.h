// The file of --save-rows, while a run goes on and at its end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/bytes/part_file.h"
#include "util/log/log.h"
#include "vernier/row_record.h"
#include "vernier/status.h"

namespace vernier {

/// Rows are appended as JSON lines to PATH.partial, where a run that is killed leaves those of the
/// iterations that it had finished. Publish() makes that the file, or of a path that ends in ".npz"
/// an archive with an array for each column.
class RowWriter {
 public:
  /// Whether rows can be saved to `path`: it ends in ".jsonl" or ".npz".
  static bool Takes(const std::string& path);

  /// What becomes of the rows that earlier runs left in PATH.partial.
  enum class Earlier : uint8_t {
    kStay,
    /// With --resume, this run makes them again: they are removed once it has published them all.
    kAreMadeAgain,
    kAreOfShard,  ///< which makes them again: RemoveLeftOfShard() removes them
  };

  /// kIo when nothing can be written there. If PATH.partial exists, the next free name is taken,
  /// and the log names what stays: of kAreMadeAgain in Publish(). `logger` must outlive the object.
  static Result<std::unique_ptr<RowWriter>> Create(const std::string& path, Earlier earlier,
                                                   Logger& logger);

  /// MarkFeed() of what an iteration was made from, before its rows. The first that is known stays.
  void NoteFeed(int64_t iteration, std::optional<uint64_t> hash);

  /// The file that an iteration was fed with, before its rows.
  void NoteFile(int64_t iteration, FedFile file);

  /// The row of one iteration of a pair, whose feed it completes. kIo: the part then holds the
  /// whole rows before this one, which the message names, and there is none where there are none.
  Status Add(IterationRow row);

  /// Puts the file, with the number of its rows and `end` in the last one, in its place and adds it
  /// to `saved`: what, where. kIo; what was there before is then as it was, and the lines stay in
  /// the part. Nothing happens where no row was added, or one could not be.
  Status Publish(const RowsEnd& end, std::vector<std::pair<std::string, std::string>>& saved);

  /// No row was added, nor one that could not be written.
  bool empty() const { return !failed_ && part_.size() == 0; }

  /// Without Publish(): what there is stays in the part, which `logger` names.
  void Leave(Logger& logger);

  /// Removes the part: its rows are not to be believed.
  void Discard();

 private:
  RowWriter(std::string path, std::string place, PartFile part)
      : path_(std::move(path)), place_(std::move(place)), part_(std::move(part)) {}
  Status AddEnd(const RowsEnd& end);
  Status PublishArrays(const RowsEnd& end);
  std::vector<std::string> FindMadeAgain() const;

  std::string path_;
  std::string place_;  // of the part
  PartFile part_;
  Logger* resuming_ = nullptr;  // null: what earlier runs left stays
  bool failed_ = false;         // to add a row
  size_t row_count_ = 0;        // that were added
  std::string last_;            // line
  std::vector<std::optional<uint64_t>> feeds_;
  std::map<int64_t, FedFile> files_;  // of iterations whose rows are still to come
};

}  // namespace vernier
