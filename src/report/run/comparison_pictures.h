// Which comparisons become pictures, and under which names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "picture/slices.h"
#include "picture/subject.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"

namespace vernier {

struct IterationComparison;
struct OutputComparison;
struct SimpleResult;

/// Draws heat maps and error plots of `simple`'s comparisons, with Polygraphy's log lines and file
/// names. Polygraphy overwrites an output's pictures in each iteration; here those of its worst
/// iteration stay. What another pair or output would overwrite gets a number.
class ComparisonPictures {
 public:
  /// Both must outlive the pictures.
  ComparisonPictures(Logger& logger, const RunPlan& plan);

  void IterationStart(int64_t iteration) { iteration_ = iteration; }

  /// Looks at one comparison of differences. The draw calls that follow are about it, and do
  /// nothing unless pictures are wanted and no earlier iteration was worse.
  void Start(const IterationComparison& pair, const OutputComparison& output,
             const SimpleResult& simple);
  void DrawErrorPlot();
  void DrawHeatmaps(ErrorKind kind);

  /// Opens what is to be shown. kIo when a picture could not be saved, or when some were to be
  /// saved and there was nothing to draw; where the run went wrong otherwise (not `well`) or is
  /// lenient, the latter is a warning.
  Status Finish(bool well);

 private:
  /// How bad an iteration of an output is.
  struct Badness {
    double ratio = 0;
    int64_t mismatches = 0;
    double largest = 0;
    bool IsWorseThan(const Badness& other) const;
  };
  /// One folder of pictures.
  struct Album {
    std::string folder;
    bool wanted = false;
    bool save = false;
    bool show = false;
  };

  bool Drawable(const OutputComparison& output);
  void Note(Status status);
  bool ready() const { return survey_.has_value() && failure_.ok(); }
  Status SaveHeatmaps(ErrorKind kind);
  /// A file stem that only `owner` uses; the same one at each call.
  std::string Claim(const std::string& owner, const std::string& name);
  void ForgetOldFiles(const std::string& owner, std::vector<std::string> files);
  Status Save(const Album& album, const Figure& figure, const std::string& stem);
  void Show();

  Logger& logger_;
  const RunPlan& plan_;
  Album heatmaps_;
  Album error_plots_;
  std::string temporary_;
  std::optional<Typeface> typeface_;
  int64_t iteration_ = 0;

  // The comparison at hand.
  PictureSubject subject_;
  std::string owner_;
  std::optional<SliceLayout> layout_;
  std::optional<ErrorSurvey> survey_;

  std::map<std::string, Badness> worst_;                   ///< by owner
  std::map<std::string, std::string> stem_owners_;         ///< by stem
  std::map<std::string, std::vector<std::string>> files_;  ///< by owner and kind, without extension
  std::string why_nothing_ = "no outputs were compared by 'simple'";
  bool drawn_ = false;
  Status failure_;
};

}  // namespace vernier
