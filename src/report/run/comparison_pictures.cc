#include "report/run/comparison_pictures.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "compare/functions/comparison.h"
#include "picture/error_plot.h"
#include "picture/heatmap.h"
#include "picture/picture_file.h"
#include "util/files/atomic_file.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// More windows than these would only cover each other.
constexpr size_t kMostShown = 8;

std::string PathOf(const std::string& folder, const std::string& stem) {
  return (fs::path(folder) / stem).string();
}

}  // namespace

bool ComparisonPictures::Badness::IsWorseThan(const Badness& other) const {
  if (ratio != other.ratio) return ratio > other.ratio;
  if (mismatches != other.mismatches) return mismatches > other.mismatches;
  return largest != other.largest && WorseError(largest, other.largest) == largest;
}

ComparisonPictures::ComparisonPictures(Logger& logger, const RunPlan& plan)
    : logger_(logger), plan_(plan) {
  const PicturePlan& wanted = plan.pictures;
  const auto open = [](Album& album, const std::string& folder, bool show) {
    album.folder = folder;
    album.save = !folder.empty();
    album.show = show;
    album.wanted = album.save || show;
  };
  open(heatmaps_, wanted.heatmaps, wanted.show_heatmaps);
  open(error_plots_, wanted.error_plots, wanted.show_error_plots);
  for (Album* album : {&heatmaps_, &error_plots_}) {
    if (!album->wanted) continue;
    if (!typeface_) typeface_.emplace();
    if (album->save) {
      // Now rather than after an hour of inference.
      Note(CreateDirectories(album->folder));
      continue;
    }
    if (temporary_.empty()) {
      Result<std::string> folder = MakeTemporaryFolder();
      Note(folder.status());
      if (folder.ok()) temporary_ = *std::move(folder);
    }
    album->folder = temporary_;
  }
}

void ComparisonPictures::Note(Status status) {
  if (failure_.ok()) failure_ = std::move(status);
}

bool ComparisonPictures::Drawable(const OutputComparison& output) {
  std::string why;
  if (output.a.dtype() == DType::kString) why = "it holds strings";
  if (output.a.element_count() == 0) why = "it has no elements";
  if (why.empty() && (output.a.bytes().empty() || output.aligned_b.bytes().empty())) {
    why = "its elements are not in memory here";
  }
  if (why.empty()) return true;
  why_nothing_ = "output '" + output.a_name + "': " + why;
  logger_.Warning("No picture of output '" + output.a_name + "': " + why);
  return false;
}

void ComparisonPictures::Start(const IterationComparison& pair, const OutputComparison& output,
                               const SimpleResult& simple) {
  survey_.reset();
  if (!heatmaps_.wanted && !error_plots_.wanted) return;
  if (!failure_.ok() || !Drawable(output)) return;
  owner_ = pair.a_runner + '\n' + pair.b_runner + '\n' + output.a_name;
  const DifferenceSummary& difference = simple.difference;
  const Badness badness = {difference.worst_ratio, difference.mismatches, difference.absolute.max};
  const auto [worst, is_first] = worst_.try_emplace(owner_, badness);
  if (!is_first && !badness.IsWorseThan(worst->second)) {
    logger_.Verbose("The pictures of output '" + output.a_name +
                    "' are still those of an earlier iteration, which is no better");
    return;
  }
  worst->second = badness;
  subject_ = {output.a_name,
              output.b_name,
              pair.a_runner,
              pair.b_runner,
              output.a_dims,
              iteration_,
              difference.mismatches,
              {Elements(output.a),
               Elements(output.aligned_b),
               {simple.atol, simple.rtol, plan_.compare->infinities_compare_equal}}};
  layout_.emplace(output.a_dims);
  Result<ErrorSurvey> survey = SurveyErrors(subject_.source, *layout_);
  Note(survey.status());
  if (survey.ok()) survey_ = *std::move(survey);
}

std::string ComparisonPictures::Claim(const std::string& owner, const std::string& name) {
  const std::string stem = SafeFileStem(name);
  for (int number = 1;; ++number) {
    std::string numbered = number == 1 ? stem : stem + " (" + std::to_string(number) + ")";
    if (stem_owners_.try_emplace(numbered, owner).first->second == owner) return numbered;
  }
}

Status ComparisonPictures::Save(const Album& album, const Figure& figure, const std::string& stem) {
  VERNIER_TRY(SaveFigure(figure, *typeface_, album.folder, stem));
  drawn_ = true;
  return {};
}

// An iteration whose shape differs leaves other names behind.
void ComparisonPictures::ForgetOldFiles(const std::string& owner, std::vector<std::string> files) {
  std::vector<std::string>& old = files_[owner];
  for (const std::string& path : old) {
    if (std::find(files.begin(), files.end(), path) != files.end()) continue;
    std::error_code ignored;
    fs::remove(path + ".svg", ignored);
    fs::remove(path + ".png", ignored);
  }
  old = std::move(files);
}

void ComparisonPictures::DrawErrorPlot() {
  if (!error_plots_.wanted || !ready()) return;
  const LogIndent indent(logger_);
  logger_.Start("Building error metrics plot for " + subject_.output +
                ". This may take a while...");
  const LogIndent deeper(logger_);
  const std::string stem = Claim(owner_, "error_metrics_" + subject_.output);
  const std::string path = PathOf(error_plots_.folder, stem);
  logger_.Info("Saving error metrics plot to: '" + path + ".png' (and .svg)");
  const Result<Figure> figure = vernier::DrawErrorPlot(subject_, *survey_, *typeface_);
  Note(figure.ok() ? Save(error_plots_, *figure, stem) : figure.status());
  ForgetOldFiles(owner_ + "\nplot", {path});
}

Status ComparisonPictures::SaveHeatmaps(ErrorKind kind) {
  const ErrorRange& range = survey_->range(kind);
  const std::string name = HeatmapName(kind, subject_.output, IsLogarithmic(kind, range));
  const std::vector<int64_t> pages = WorstPages(range.page_worst, kMostPages);
  std::vector<std::string> files;
  for (const int64_t page : pages) {
    const std::string stem = Claim(owner_, name + ": " + layout_->PageName(page));
    files.push_back(PathOf(heatmaps_.folder, stem));
    logger_.Info("Saving '" + name + "' heatmap to: '" + files.back() + ".svg' (and .png)");
    VERNIER_ASSIGN_OR_RETURN(const Figure figure,
                             DrawHeatmap(subject_, kind, *layout_, *survey_, page, *typeface_));
    VERNIER_TRY(Save(heatmaps_, figure, stem));
  }
  if (pages.size() < range.page_worst.size()) {
    double worst = 0;
    for (size_t page = 0; page < range.page_worst.size(); ++page) {
      const auto number = static_cast<int64_t>(page);
      if (std::binary_search(pages.begin(), pages.end(), number)) continue;
      worst = WorseError(worst, range.page_worst[page]);
    }
    logger_.Warning("Left out " + std::to_string(range.page_worst.size() - pages.size()) + " of " +
                    std::to_string(range.page_worst.size()) +
                    " pages of this heatmap; no error on them is larger than " + FormatG(worst, 5));
  }
  ForgetOldFiles(owner_ + '\n' + std::to_string(static_cast<int>(kind)), std::move(files));
  return {};
}

void ComparisonPictures::DrawHeatmaps(ErrorKind kind) {
  if (!heatmaps_.wanted || !ready()) return;
  const LogIndent indent(logger_);
  logger_.Start("Building heatmaps for " + HeatmapName(kind, subject_.output, false) +
                ". This may take a while...");
  const LogIndent deeper(logger_);
  Note(SaveHeatmaps(kind));
}

void ComparisonPictures::Show() {
  std::vector<std::string> paths;
  for (const auto& [owner, files] : files_) {
    const bool plot = owner.size() > 5 && owner.substr(owner.size() - 5) == "\nplot";
    if (!(plot ? error_plots_.show : heatmaps_.show)) continue;
    for (const std::string& path : files) paths.push_back(path + ".png");
  }
  if (paths.empty()) return;
  for (size_t i = 0; i < std::min(paths.size(), kMostShown); ++i) {
    if (const Status status = OpenOnDesktop(paths[i]); !status.ok()) {
      // What was asked for is not done, and the folder is known from here alone.
      logger_.Warning("The pictures cannot be shown here: " + status.message() + ". They are in '" +
                      fs::path(paths[i]).parent_path().string() + "'");
      return;
    }
    logger_.Info("Opening '" + paths[i] + "'");
  }
  if (paths.size() > kMostShown) {
    logger_.Info("Not opened are " + std::to_string(paths.size() - kMostShown) +
                 " more pictures in '" + fs::path(paths.back()).parent_path().string() + "'");
  }
}

Status ComparisonPictures::Finish(bool well) {
  if (!failure_.ok()) return std::move(failure_).Annotate("a picture was not saved");
  Show();
  // Goes only while it is empty.
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
  if (drawn_ || (!heatmaps_.wanted && !error_plots_.wanted)) return {};
  const std::string sentence = "No picture was made: " + why_nothing_;
  const bool asked_to_save = heatmaps_.save || error_plots_.save;
  if (well && asked_to_save && !plan_.lenient) return IoError(sentence);
  logger_.Warning(sentence);
  return {};
}

}  // namespace vernier
