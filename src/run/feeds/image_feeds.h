// Feeds from image files: each image is one, for the input of a model that takes images.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/worker/image_messages.h"
#include "backend/worker/worker.h"
#include "run/feeds/files_passed_over.h"
#include "util/log/log.h"
#include "vernier/row_record.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The images among what --load-inputs names, by their extensions (.png, .jpg, .jpeg): files, those
/// that fit a pattern, and those of a folder, in the order of their names. A folder that also has
/// JSON files or ONNX test data is one of feeds, unless there is a --preprocess. Empty: they are
/// other files. kMalformed for a pattern that nothing fits, for a folder without images whose
/// folders have some, and where --preprocess finds no image; kInvalidArgument for images beside
/// other files. An image that is named twice is there once.
Result<std::vector<std::string>> FindImages(const InputPlan& plan);

/// A sentence about folders full of images in a folder of which only the loose images are taken;
/// empty: there are none.
std::string DescribeFoldersLeftOut(const InputPlan& plan);

/// What the folders hold whose images are taken, and that is not fed.
FilesPassedOver FindPassedOver(const InputPlan& plan);

/// One that could not be read, and its place among all files.
struct SkippedImage {
  int64_t place = 0;
  std::string path;
};

/// How many of `files` images were skipped and which; empty: none.
std::string DescribeSkipped(std::span<const SkippedImage> skipped, int64_t files);
/// That no image could be read, which is an error: the first of `files`.
Status NoneCanBeRead(int64_t files, const std::string& first);

/// Reads them one after the other, of a shard its own. They are decoded in a worker of its own,
/// also with --in-process, which is started with the first, and again if an image kills it. Not
/// thread-safe.
class ImageFeeds {
 public:
  /// `files` as FindImages has them, at least one; `inputs` are those of the first runner.
  /// kInvalidArgument for words of --preprocess, and where none of the inputs, or more than one,
  /// takes images, and as FitToInput.
  static Result<std::unique_ptr<ImageFeeds>> Open(const RunPlan& plan,
                                                  std::vector<std::string> files,
                                                  std::span<const TensorInfo> inputs,
                                                  Logger& logger);

  /// The next image; nullopt after the last. One that is damaged, too large or kills its worker is
  /// skipped with a warning; kMalformed for it with --strict, and at the end where none could be
  /// read, unless it is a shard. kInvalidArgument where its size does not fit.
  Result<std::optional<TensorMap>> Next();

  /// Of the images that Next() gave, in order.
  const std::vector<std::string>& names() const { return names_; }
  /// The place, among all files, of the image that Next() gave as number `given`.
  int64_t PlaceOf(int64_t given) const { return places_[static_cast<size_t>(given)]; }
  int64_t files() const { return static_cast<int64_t>(files_.size()); }
  /// In their order.
  const std::vector<SkippedImage>& skipped() const { return skipped_; }
  /// Of images that were read before their turn, `used` were used, and whether the end was
  /// `reached` in its turn: those behind are as if they had not been read.
  void ForgetReadAhead(int64_t used, bool reached);
  /// The image of an iteration, which Next() has given.
  FedFile FileOf(int64_t iteration) const {
    const auto at = static_cast<size_t>(iteration);
    return {names_[at], places_[at], static_cast<int64_t>(files_.size())};
  }
  /// Likewise: how large they are as files, before --preprocess.
  const std::vector<ImageSize>& sizes() const { return sizes_; }
  /// How each image is processed.
  const ImageRecipe& recipe() const { return request_.recipe; }
  /// How many images were skipped and which, for the record; empty: none.
  std::string NoteOfSkipped() const;

  bool HasMore() const { return next_ < shard_.CountOf(files()); }
  /// Those that were not skipped so far.
  int64_t Total() const { return shard_.CountOf(files()) - static_cast<int64_t>(skipped_.size()); }

 private:
  ImageFeeds(const RunPlan& plan, std::vector<std::string> files, Logger& logger);
  Result<ReadImage> Read(const std::string& path);
  Status Skip(int64_t place, const Status& why);
  void TellRemarks(const std::string& path, uint8_t remarks);

  std::vector<std::string> files_;
  Logger& logger_;
  double timeout_s_;
  bool strict_;
  ImageRequest request_;
  std::string input_;
  std::unique_ptr<Worker> worker_;
  ShardPlan shard_;
  int64_t next_ = 0;  // of its own
  std::vector<std::string> names_;
  std::vector<int64_t> places_;  // of names_, among all files
  std::vector<SkippedImage> skipped_;
  std::vector<ImageSize> sizes_;
  uint8_t told_ = 0;  // of ImageRemark
};

}  // namespace vernier
