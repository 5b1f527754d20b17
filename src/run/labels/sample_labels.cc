#include "run/labels/sample_labels.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "run/feeds/image_feeds.h"
#include "run/labels/label_files.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// How an array's elements are labels: `count` labels of `size` values each.
struct ArrayOfLabels {
  int64_t count = 0;
  int64_t size = 1;
};

// A class of top-K is one number. Of other kinds what lies behind the first axis belongs to one
// sample; `samples`: those of the iteration whose array it is, else 0.
ArrayOfLabels SplitLabels(DecisionKind kind, const Tensor& array, int64_t samples) {
  const Dims& dims = array.dims();
  if (kind == DecisionKind::kTop || dims.size() < 2) return {array.element_count(), 1};
  if (samples == 1 && dims[0] != 1) return {1, array.element_count()};
  return {dims[0], dims[0] == 0 ? 1 : array.element_count() / dims[0]};
}

Result<std::vector<int64_t>> WholeNumbers(const Tensor& array, int64_t first, int64_t count) {
  std::vector<double> numbers(static_cast<size_t>(count));
  const ElementSpan elements = Elements(array);
  std::vector<int64_t> whole;
  whole.reserve(numbers.size());
  for (size_t done = 0; done < numbers.size(); done += kBlockSize) {
    const size_t n = std::min(kBlockSize, numbers.size() - done);
    const double* const block =
        LoadBlock(elements, first + static_cast<int64_t>(done), n, numbers.data() + done);
    for (size_t i = 0; i < n; ++i) {
      constexpr double kMost = 9007199254740992;
      if (std::trunc(block[i]) != block[i] || std::fabs(block[i]) >= kMost) {
        return InvalidArgument("holds " + FormatG(block[i], 6) + ", and no class");
      }
      whole.push_back(static_cast<int64_t>(block[i]));
    }
  }
  return whole;
}

std::vector<double> NumbersOfLabels(const Tensor& array, int64_t first, int64_t count) {
  std::vector<double> numbers(static_cast<size_t>(count));
  const ElementSpan elements = Elements(array);
  for (size_t done = 0; done < numbers.size(); done += kBlockSize) {
    const size_t n = std::min(kBlockSize, numbers.size() - done);
    std::vector<double> scratch(n);
    const double* const block =
        LoadBlock(elements, first + static_cast<int64_t>(done), n, scratch.data());
    std::copy_n(block, n, numbers.begin() + static_cast<std::ptrdiff_t>(done));
  }
  return numbers;
}

}  // namespace

Result<SampleLabels> SampleLabels::Load(const std::string& path) {
  SampleLabels labels;
  labels.name_ = "--labels '" + path + "'";
  const std::string extension = fs::path(path).extension().string();
  LabelLines lines;
  if (extension == ".npy") {
    VERNIER_ASSIGN_OR_RETURN(Tensor array, ReadLabelArray(path));
    labels.arrays_.push_back(std::move(array));
  } else if (extension == ".npz") {
    VERNIER_ASSIGN_OR_RETURN(labels.arrays_, ReadLabelArrays(path));
    labels.by_iteration_ = true;
  } else if (extension == ".jsonl" || extension == ".txt") {
    VERNIER_ASSIGN_OR_RETURN(lines, ReadLabelLines(path, extension == ".jsonl"));
  } else {
    return InvalidArgument(
        "--labels: expected FILE.npy, .npz, .jsonl, .txt or .json, 'folder' or 'loader', got '" +
        path + "'");
  }
  labels.values_ = std::move(lines.values);
  labels.ends_ = std::move(lines.ends);
  labels.truths_ = std::move(lines.truths);
  labels.empty_at_end_ = lines.empty_at_end;
  return labels;
}

SampleLabels SampleLabels::OfFeeds(const std::string& words, std::string key) {
  SampleLabels labels;
  labels.name_ = "--labels " + words;
  labels.by_iteration_ = true;
  labels.key_ = std::move(key);
  return labels;
}

Status SampleLabels::NoteFeed(int64_t iteration, const TensorMap& feed) {
  const Tensor* const fed = key_ ? Find(feed, *key_) : nullptr;
  if (fed == nullptr) return {};
  VERNIER_ASSIGN_OR_RETURN(fed_[iteration], Tensor::Copy(fed->dtype(), fed->dims(), fed->bytes()));
  return {};
}

void SampleLabels::ForgetBefore(int64_t iteration) {
  fed_.erase(fed_.begin(), fed_.lower_bound(iteration));
}

int64_t SampleLabels::PlaceOf(int64_t iteration) const {
  const auto at = static_cast<size_t>(iteration);
  return at < places_.size() ? places_[at] : iteration;
}

Result<std::vector<Label>> SampleLabels::OfArray(DecisionKind kind, const Tensor& array,
                                                 int64_t first, int64_t samples) const {
  const ArrayOfLabels split = SplitLabels(kind, array, by_iteration_ ? samples : 0);
  Dims dims;
  if (split.size > 1) {
    const bool whole = split.count == 1 && array.dims()[0] != 1;
    dims.assign(array.dims().begin() + (whole ? 0 : 1), array.dims().end());
  }
  std::vector<Label> labels;
  for (int64_t i = first; i < std::min(split.count, first + samples); ++i) {
    Label& label = labels.emplace_back();
    label.is_truth = array.dtype() == DType::kBool;
    if (kind == DecisionKind::kRegression) {
      label.numbers = NumbersOfLabels(array, i * split.size, split.size);
      label.dims = dims;
      continue;
    }
    Result<std::vector<int64_t>> values = WholeNumbers(array, i * split.size, split.size);
    if (!values.ok()) {
      return InvalidArgument("label " + std::to_string(i) + " " + values.status().message());
    }
    label.values = *std::move(values);
    label.is_row = split.size > 1;
    label.dims = dims;
  }
  return labels;
}

// Of labels by iteration; null where there are no more.
Result<const Tensor*> SampleLabels::ArrayOf(int64_t iteration) const {
  const auto place = static_cast<size_t>(PlaceOf(iteration));
  if (!key_) return place < arrays_.size() ? &arrays_[place] : nullptr;
  const auto fed = fed_.find(iteration);
  const std::string name = "iteration " + std::to_string(iteration);
  if (fed == fed_.end()) return InvalidArgument(name + " was fed no " + QuotePython(*key_));
  VERNIER_TRY(CheckLabelType(name + ": " + QuotePython(*key_), fed->second));
  return &fed->second;
}

Result<std::vector<Label>> SampleLabels::Of(DecisionKind kind, int64_t iteration, int64_t before,
                                            int64_t samples) const {
  if (!by_iteration_ && !arrays_.empty()) {
    return OfArray(kind, arrays_.front(), before, samples);
  }
  std::vector<Label> labels;
  if (!by_iteration_) {
    for (auto i = static_cast<size_t>(before);
         i < std::min(ends_.size(), static_cast<size_t>(before + samples)); ++i) {
      const auto begin = static_cast<std::ptrdiff_t>(i == 0 ? 0 : ends_[i - 1]);
      const auto end = static_cast<std::ptrdiff_t>(ends_[i]);
      labels.push_back({{values_.begin() + begin, values_.begin() + end}, false, truths_[i]});
      const std::vector<int64_t>& values = labels.back().values;
      labels.back().numbers.assign(values.begin(), values.end());
    }
    return labels;
  }
  int64_t count = 0;
  if (of_images_ && (kind == DecisionKind::kCtc || kind == DecisionKind::kRegression)) {
    return InvalidArgument("folders are classes, and the decision is about " +
                           std::string(kind == DecisionKind::kCtc ? "texts" : "numbers"));
  }
  if (of_images_) {
    const auto known = class_of_iteration_.find(iteration);
    if (known != class_of_iteration_.end()) labels.push_back({{known->second}, false});
    count = static_cast<int64_t>(labels.size());
  } else {
    VERNIER_ASSIGN_OR_RETURN(const Tensor* const array, ArrayOf(iteration));
    if (array != nullptr) count = SplitLabels(kind, *array, samples).count;
    if (array != nullptr && count == samples) {
      return OfArray(kind, *array, 0, samples).Annotate("iteration " + std::to_string(iteration));
    }
  }
  if (count == samples) return labels;
  return InvalidArgument("iteration " + std::to_string(iteration) + " has " +
                         Counted(count, "label") + " for " + Counted(samples, "sample"));
}

std::string SampleLabels::WhereIs(int64_t label) const {
  return ends_.empty() ? "" : " (line " + std::to_string(label + 1) + ")";
}

std::string SampleLabels::WrongCount(DecisionKind kind, int64_t samples, int64_t iterations) const {
  if (of_images_ || key_) return "";
  if (by_iteration_) {
    if (static_cast<size_t>(iterations) == arrays_.size()) return "";
    return "labels of " + Counted(arrays_.size(), "iteration") + " for " +
           std::to_string(iterations);
  }
  // Empty lines at the end are labels only where there are samples for them.
  const int64_t least = arrays_.empty() ? static_cast<int64_t>(ends_.size() - empty_at_end_)
                                        : SplitLabels(kind, arrays_.front(), 0).count;
  const int64_t most = arrays_.empty() ? static_cast<int64_t>(ends_.size()) : least;
  if (least <= samples && samples <= most) return "";
  const int64_t count = samples < least ? least : most;
  return Counted(count, "label") + " for " + Counted(samples, "sample");
}

Result<RunLabels> RunLabels::Open(const DecisionOptions& options, const InputPlan& inputs) {
  const bool loads = !inputs.load_paths.empty() || inputs.script.given();
  for (const LabelsPlan& plan : options.labels) {
    if (loads || !FedLabelKey(plan)) continue;
    return InvalidArgument("--labels " + plan.path +
                           ": no inputs are loaded that could hold labels: add --load-inputs or "
                           "--data-loader-script, or name a file of labels");
  }
  const auto end = options.labels.end();
  if (std::ranges::find(options.labels, kLabelsOfFolders, &LabelsPlan::path) == end) {
    return Open(options, std::vector<std::string>());
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> images, FindImages(inputs));
  if (!images.empty()) return Open(options, images);
  return InvalidArgument(
      "--labels folder: --load-inputs names no images, whose folders would be their classes");
}

Result<RunLabels> RunLabels::Open(const DecisionOptions& options,
                                  const std::vector<std::string>& images) {
  RunLabels run;
  run.options_ = &options;
  if (!options.class_names.empty()) {
    VERNIER_ASSIGN_OR_RETURN(run.class_names_, ClassNames::Load(options.class_names));
  }
  for (const LabelsPlan& plan : options.labels) {
    if (plan.of_boxes()) {
      VERNIER_ASSIGN_OR_RETURN(BoxLabels boxes, BoxLabels::Load(plan.path));
      VERNIER_TRY(boxes.NameClasses(run.class_names_));
      run.boxes_.emplace(run.labels_.size(), std::move(boxes));
      run.labels_.emplace_back();
      continue;
    }
    if (std::optional<std::string> key = FedLabelKey(plan)) {
      run.labels_.push_back(SampleLabels::OfFeeds(plan.path, *std::move(key)));
      continue;
    }
    if (plan.path != kLabelsOfFolders) {
      VERNIER_ASSIGN_OR_RETURN(SampleLabels labels, SampleLabels::Load(plan.path));
      run.labels_.push_back(std::move(labels));
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(SampleLabels labels,
                             SampleLabels::OfFolders(images, run.class_names_));
    run.labels_.push_back(std::move(labels));
  }
  return run;
}

void RunLabels::NoteFile(int64_t iteration, const FedFile& file, bool is_step) {
  for (SampleLabels& labels : labels_) {
    if (!is_step || labels.of_images()) labels.NoteFile(iteration, file);
  }
}

Status RunLabels::NoteFeed(int64_t iteration, const TensorMap& feed) {
  for (SampleLabels& labels : labels_) VERNIER_TRY(labels.NoteFeed(iteration, feed));
  return {};
}

void RunLabels::ForgetBefore(int64_t iteration) {
  for (SampleLabels& labels : labels_) labels.ForgetBefore(iteration);
}

void RunLabels::NoteImage(int64_t iteration, const FedImage& image, const ImageRecipe& recipe) {
  for (auto& [place, boxes] : boxes_) boxes.NoteImage(iteration, image, recipe);
}

std::vector<ShardPlacement> RunLabels::PlacementsOf(int64_t iteration) const {
  std::vector<ShardPlacement> placements;
  for (const auto& [place, boxes] : boxes_) {
    ShardPlacement& made = placements.emplace_back();
    const BoxLabels::Fed* const fed = boxes.FedWith(iteration);
    if (fed != nullptr) made.other_size = fed->other_size;
    if (fed == nullptr || !fed->placement) continue;
    const ImagePlacement& known = *fed->placement;
    made = {true,      known.scale_x,    known.scale_y,   known.left,
            known.top, known.fed.height, known.fed.width, fed->other_size};
  }
  return placements;
}

void RunLabels::NotePlaced(int64_t iteration, const FedFile& file, const ShardImage& image) {
  NoteFile(iteration, file);
  size_t next = 0;
  for (auto& [place, boxes] : boxes_) {
    const ShardPlacement kept =
        next < image.placements.size() ? image.placements[next] : ShardPlacement();
    std::optional<ImagePlacement> placement;
    if (kept.known) {
      placement = ImagePlacement{
          kept.scale_x, kept.scale_y, kept.left, kept.top, {kept.height, kept.width}};
    }
    ++next;
    boxes.NotePlaced(iteration, image.path, placement, kept.other_size);
  }
}

std::vector<std::string> RunLabels::Folders() const {
  std::vector<std::string> names;
  for (const SampleLabels& labels : labels_)
    std::ranges::move(labels.folders(), std::back_inserter(names));
  return names;
}

std::vector<std::string> RunLabels::DescribeClasses() const {
  std::vector<std::string> notes;
  for (const SampleLabels& labels : labels_) {
    std::string note = labels.DescribeClasses();
    if (!note.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

const SampleLabels* RunLabels::For(const DecisionPlan& decision, const std::string& output) const {
  if (options_ == nullptr || !TakesLabels(decision.kind)) return nullptr;
  const LabelsPlan* const found = LabelsFor(*options_, decision.kind, output);
  if (found == nullptr) return nullptr;
  return &labels_[static_cast<size_t>(found - options_->labels.data())];
}

const BoxLabels* RunLabels::BoxesFor(const DecisionPlan& decision,
                                     const std::string& output) const {
  if (options_ == nullptr || decision.kind != DecisionKind::kBoxes) return nullptr;
  const LabelsPlan* const labels = LabelsFor(*options_, decision.kind, output);
  if (labels == nullptr) return nullptr;
  return &boxes_.at(static_cast<size_t>(labels - options_->labels.data()));
}

std::vector<std::string> RunLabels::Doubts() const {
  std::vector<std::string> doubts;
  for (const SampleLabels& labels : labels_) {
    if (std::string doubt = labels.DoubtfulOrder(); !doubt.empty()) doubts.push_back(doubt);
  }
  for (const auto& [place, boxes] : boxes_) {
    if (std::string doubt = boxes.WithoutNames(); !doubt.empty()) doubts.push_back(doubt);
  }
  return doubts;
}

std::vector<std::string> RunLabels::Notes() const {
  std::vector<std::string> notes;
  for (const auto& [place, boxes] : boxes_) {
    for (std::string& note : boxes.Notes()) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace vernier
