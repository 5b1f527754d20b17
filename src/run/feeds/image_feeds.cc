#include "run/feeds/image_feeds.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "io/bytes/directory_listing.h"
#include "util/text/first_line.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Those of skipped images that a note has.
constexpr size_t kNamesInNote = 8;

// Of a folder: what FeedReader would read.
bool IsFeedName(std::string_view name) {
  return name.ends_with(".json") || name.ends_with(".pb") || name.starts_with("test_data_set_");
}

// What a folder holds, as paths; looked up once, for that may be very much.
struct FolderContent {
  std::vector<std::string> images, folders;
  bool has_feeds = false;

  /// Else what FeedReader would read of it counts.
  bool GivesImages(bool preprocess) const { return !images.empty() && (preprocess || !has_feeds); }
};

Result<FolderContent> LookInto(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<DirectoryEntry> entries, ReadDirectory(path));
  FolderContent content;
  content.images = PathsIn(path, entries, IsImageName);
  for (const DirectoryEntry& entry : entries) {
    content.has_feeds |= IsFeedName(entry.name);
    if (!entry.folder) continue;
    content.folders.push_back((std::filesystem::path(path) / entry.name).string());
  }
  std::erase_if(content.images, [&](const std::string& image) {
    return std::ranges::find(content.folders, image) != content.folders.end();
  });
  return content;
}

// The folders in it; 'PATH/*/*' would name what else is in these as well.
std::string EveryImageIn(const std::string& path) {
  return "'" + (std::filesystem::path(path) / "*" / "").string() + "'";
}

bool IsImageFile(const std::string& path) { return IsImageName(path) && !IsDirectory(path); }

// The folders in a folder that hold images themselves.
std::vector<std::string> FoldersOfImages(const FolderContent& content) {
  std::vector<std::string> folders;
  for (const std::string& folder : content.folders) {
    const Result<std::vector<std::string>> images = ListDirectory(folder, IsImageName);
    if (images.ok() && std::ranges::any_of(*images, IsImageFile)) folders.push_back(folder);
  }
  return folders;
}

// Images of classes are often in folders of a folder, which a pattern names.
Status CheckNoFoldersOfImages(const std::string& path, const FolderContent& content) {
  if (content.has_feeds) return {};
  if (!FoldersOfImages(content).empty()) {
    return Malformed("--load-inputs: '" + path + "' holds no images, and its folders do: give " +
                     EveryImageIn(path));
  }
  FilesPassedOver others;
  others.AddFolder(path);
  if (others.images() == 0) return {};
  return Malformed("--load-inputs: '" + path +
                   "' holds no image that can be read (.png, .jpg, .jpeg), but " +
                   others.ByEnding() + ", as '" + others.example() + "': convert or rename them");
}

// An image that two patterns name is one sample: intervals take samples as independent.
class EachOnce {
 public:
  /// Whether it was not there before.
  bool Add(const std::string& path) { return seen_.insert(NormalOf(path)).second; }
  bool Has(const std::string& path) const { return seen_.contains(NormalOf(path)); }

 private:
  static std::string NormalOf(const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  }

  std::set<std::string> seen_;
};

// The folders in a folder whose images are not among those that are fed.
std::vector<std::string> FoldersNotTaken(const FolderContent& content, const EachOnce& fed) {
  std::vector<std::string> folders = FoldersOfImages(content);
  std::erase_if(folders, [&](const std::string& folder) {
    const Result<std::vector<std::string>> own = ListDirectory(folder, IsImageName);
    return !own.ok() ||
           std::ranges::any_of(*own, [&](const std::string& image) { return fed.Has(image); });
  });
  return folders;
}

// One that says that it has channels comes before those that only might.
Result<TensorInfo> InputForImages(std::span<const TensorInfo> inputs) {
  std::vector<const TensorInfo*> candidates, sure;
  std::string names;
  for (const TensorInfo& input : inputs) {
    names += (names.empty() ? "'" : ", '") + input.name + "' " + FormatShape(input.shape);
    if (!TakesImage(input)) continue;
    candidates.push_back(&input);
    const auto is_three = [](const Dim& dim) { return dim.value == 3; };
    if (std::ranges::any_of(*input.shape, is_three)) sure.push_back(&input);
  }
  if (candidates.size() == 1) return *candidates.front();
  if (sure.size() == 1) return *sure.front();
  if (inputs.empty()) {
    return InvalidArgument(
        "--load-inputs: images are fitted to the inputs of the first runner, which does not"
        " declare them; load tensors instead, or use --data-loader-script");
  }
  return InvalidArgument("--load-inputs: " + std::string(candidates.empty() ? "none" : "several") +
                         " of the inputs " + names +
                         " take images ([N, C, H, W] and the like): load tensors instead, or use "
                         "--data-loader-script");
}

struct RemarkText {
  ImageRemark remark;
  std::string_view text;
};
constexpr std::array kRemarks = {
    RemarkText{kPaletteImage, "has a palette, and is converted to RGB"},
    RemarkText{kSixteenBitImage, "has 16 bits a value, of which the upper 8 are used"},
    RemarkText{kAlphaImage, "has transparency, which is dropped"},
    RemarkText{kTurnedImage, "is marked as rotated (EXIF), and is used as it is stored"},
    RemarkText{kCmykImage, "has printing colours (CMYK), and is converted to RGB"}};

}  // namespace

Result<std::vector<std::string>> FindImages(const InputPlan& plan) {
  std::vector<std::string> images;
  std::string other;
  EachOnce once;
  for (const std::string& pattern : plan.load_paths) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> fitting, ExpandPattern(pattern));
    for (const std::string& path : fitting) {
      std::vector<std::string> found = {path};
      if (IsDirectory(path)) {
        VERNIER_ASSIGN_OR_RETURN(FolderContent content, LookInto(path));
        const bool images = content.GivesImages(!plan.preprocess.empty());
        if (!images) VERNIER_TRY(CheckNoFoldersOfImages(path, content));
        if (images) found = std::move(content.images);
        // As of a class without images: what else is in it is a note's.
        if (!images && path != pattern && !content.has_feeds && !IsImageName(path)) continue;
      }
      for (const std::string& file : found) {
        if (IsImageFile(file)) {
          if (once.Add(file)) images.push_back(file);
        } else if (other.empty()) {
          other = file;
        }
      }
    }
  }
  if (images.empty() && !plan.preprocess.empty()) {
    return Malformed("--preprocess: --load-inputs names no image (.png, .jpg, .jpeg), got '" +
                     plan.load_paths.front() + "'");
  }
  if (images.empty() || other.empty()) return images;
  const bool folder = IsDirectory(other);
  return InvalidArgument(
      "--load-inputs: '" + other +
      (folder ? "' is a folder without images" : "' is not an image (.png, .jpg, .jpeg)") +
      ", and '" + images.front() +
      (folder ? "' is an image: leave the folder out, or name it in another run"
              : "' is one: load them in two runs"));
}

std::string DescribeFoldersLeftOut(const InputPlan& plan) {
  const Result<std::vector<std::string>> taken = FindImages(plan);
  if (!taken.ok() || taken->empty()) return "";
  EachOnce once;
  for (const std::string& image : *taken) once.Add(image);
  std::vector<std::string> all;
  std::string parent;
  for (const std::string& pattern : plan.load_paths) {
    const Result<std::vector<std::string>> fitting = ExpandPattern(pattern);
    if (!fitting.ok()) return "";
    for (const std::string& path : *fitting) {
      if (!IsDirectory(path)) continue;
      const Result<FolderContent> content = LookInto(path);
      const bool given = content.ok() && content->GivesImages(!plan.preprocess.empty());
      if (!given || std::ranges::none_of(content->images, IsImageFile)) continue;
      std::vector<std::string> folders = FoldersNotTaken(*content, once);
      if (all.empty()) parent = path;
      std::ranges::move(folders, std::back_inserter(all));
    }
  }
  if (all.empty()) return "";
  return "--load-inputs: the images in " +
         (all.size() == 1 ? "the folder '" + all.front() + "'"
                          : std::to_string(all.size()) + " folders, as '" + all.front() + "',") +
         " are left out, since '" + parent + "' holds images itself: give " + EveryImageIn(parent) +
         " for them, or a pattern of files for the others alone";
}

FilesPassedOver FindPassedOver(const InputPlan& plan) {
  FilesPassedOver others;
  const Result<std::vector<std::string>> taken = FindImages(plan);
  if (!taken.ok() || taken->empty()) return others;
  EachOnce once;
  for (const std::string& pattern : plan.load_paths) {
    const Result<std::vector<std::string>> fitting = ExpandPattern(pattern);
    if (!fitting.ok()) continue;
    for (const std::string& path : *fitting) {
      if (IsDirectory(path) && once.Add(path)) others.AddFolder(path);
    }
  }
  return others;
}

std::string DescribeSkipped(std::span<const SkippedImage> skipped, int64_t files) {
  if (skipped.empty()) return "";
  std::string text = std::to_string(skipped.size()) + " of " + std::to_string(files) +
                     " images could not be read and were skipped: ";
  for (size_t i = 0; i < std::min(skipped.size(), kNamesInNote); ++i) {
    text += (i > 0 ? ", '" : "'") + skipped[i].path + "'";
  }
  return text + (skipped.size() > kNamesInNote ? ", ..." : "");
}

Status NoneCanBeRead(int64_t files, const std::string& first) {
  return Malformed("--load-inputs: none of the " + std::to_string(files) +
                   " image(s) can be read, the first is '" + first + "'");
}

ImageFeeds::ImageFeeds(const RunPlan& plan, std::vector<std::string> files, Logger& logger)
    : files_(std::move(files)),
      logger_(logger),
      timeout_s_(plan.execution.timeout_s),
      strict_(plan.strict),
      shard_(plan.shard) {
  request_.most_pixels = plan.inputs.max_image_pixels;
}

Result<std::unique_ptr<ImageFeeds>> ImageFeeds::Open(const RunPlan& plan,
                                                     std::vector<std::string> files,
                                                     std::span<const TensorInfo> inputs,
                                                     Logger& logger) {
  std::unique_ptr<ImageFeeds> feeds(new ImageFeeds(plan, std::move(files), logger));
  PreprocessWords words;
  if (!plan.inputs.preprocess.empty()) {
    VERNIER_ASSIGN_OR_RETURN(words, ParsePreprocess(plan.inputs.preprocess));
  }
  VERNIER_ASSIGN_OR_RETURN(const TensorInfo input, InputForImages(inputs));
  VERNIER_ASSIGN_OR_RETURN(feeds->request_.recipe, FitToInput(words, input));
  feeds->input_ = input.name;
  const bool as_they_are = words.scale == 1 && words.mean.empty() && words.std_dev.empty();
  logger.Once(Severity::kInfo,
              "Input tensor: " + input.name + " | Gets " + std::to_string(feeds->files_.size()) +
                  " image(s), one in each iteration, as " + DescribeRecipe(feeds->request_.recipe) +
                  (as_they_are ? ", with values from 0 to 255" : ""));
  return feeds;
}

Result<ReadImage> ImageFeeds::Read(const std::string& path) {
  // Never set: an image is read, or its time is up, before an interruption would wait for long.
  static const std::atomic<int> kNotInterrupted = 0;
  if (worker_ == nullptr || !worker_->death().ok()) {
    worker_ = nullptr;
    WorkerOptions options;
    options.timeout_s = timeout_s_;
    options.interrupted = &kNotInterrupted;
    VERNIER_ASSIGN_OR_RETURN(auto worker, Worker::Start(std::move(options), logger_));
    VERNIER_TRY(worker->AwaitLoad().status());
    worker_ = std::move(worker);
  }
  request_.path = path;
  return ReadImageIn(*worker_, request_);
}

Result<std::optional<TensorMap>> ImageFeeds::Next() {
  while (HasMore()) {
    const int64_t place = shard_.IndexOf(next_++, files());
    const std::string& path = files_[static_cast<size_t>(place)];
    Result<ReadImage> image = Read(path);
    if (image.ok()) {
      TellRemarks(path, image->remarks);
      names_.push_back(path);
      places_.push_back(place);
      sizes_.push_back(image->size);
      TensorMap feed;
      feed.push_back({input_, std::move(image->tensor)});
      return std::optional<TensorMap>(std::move(feed));
    }
    const bool is_of_image = image.status().code() == StatusCode::kMalformed ||
                             (worker_ != nullptr && !worker_->death().ok());
    if (!is_of_image) return std::move(image).Annotate("--load-inputs: '" + path + "'").status();
    VERNIER_TRY(Skip(place, image.status()));
  }
  if (names_.empty() && !shard_.wanted()) return NoneCanBeRead(files(), files_.front());
  if (!skipped_.empty()) logger_.Once(Severity::kWarning, "--load-inputs: " + NoteOfSkipped());
  return std::optional<TensorMap>();
}

Status ImageFeeds::Skip(int64_t place, const Status& why) {
  const std::string& path = files_[static_cast<size_t>(place)];
  const bool killed = worker_ != nullptr && !worker_->death().ok();
  const std::string text =
      "--load-inputs: '" + path + "': " + (killed ? "the decoder " : "") + FirstLine(why.message());
  if (strict_) return Malformed(text + " (--strict ends the run)");
  logger_.Once(Severity::kWarning, text + "; it is skipped");
  skipped_.push_back({place, path});
  return {};
}

std::string ImageFeeds::NoteOfSkipped() const {
  return DescribeSkipped(skipped_, shard_.CountOf(files()));
}

void ImageFeeds::ForgetReadAhead(int64_t used, bool reached) {
  if (reached) return;
  const auto kept = static_cast<size_t>(std::clamp<int64_t>(used, 0, std::ssize(names_)));
  names_.resize(kept);
  places_.resize(kept);
  const int64_t last = places_.empty() ? -1 : places_.back();
  std::erase_if(skipped_, [last](const SkippedImage& image) { return image.place > last; });
}

void ImageFeeds::TellRemarks(const std::string& path, uint8_t remarks) {
  for (const auto& [remark, text] : kRemarks) {
    if ((remarks & ~told_ & remark) == 0) continue;
    logger_.Info("--load-inputs: '" + path + "' " + std::string(text) +
                 ", as every other such image (said once)");
  }
  told_ |= remarks;
}

}  // namespace vernier
