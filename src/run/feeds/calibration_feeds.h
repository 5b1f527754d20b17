// Feeds with which a backend chooses int8 scales, made before it opens a model, from the source of
// the run's own feeds.
#pragma once

#include <string>

#include "run/feeds/feed_stream.h"
#include "run/workers/model_source.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Does a runner need calibration, according to its options?
bool AsksForCalibration(const RunnerPlan& runner);

/// A temporary file with feeds, removed with the object. The file is between this program and its
/// own plug-ins and not documented elsewhere: "VNFEEDS1", then for each feed the number of its
/// tensors, then for each tensor the size of its name, the name, vn_tensor's dtype_code and
/// dtype_bits, the rank, the extents, the size in bytes, the bytes. Numbers are 64 bits wide,
/// little endian; names and bytes are filled up to a multiple of 8.
class CalibrationFeeds {
 public:
  CalibrationFeeds() = default;
  CalibrationFeeds(CalibrationFeeds&& other) noexcept;
  CalibrationFeeds& operator=(CalibrationFeeds&&) = delete;
  ~CalibrationFeeds();

  /// Without a file where the runner does not ask, the model is quantised already, or there is a
  /// calibration cache to be read. `python` as in FeedStream. Feeds are made for the opt shapes of
  /// the runner's last optimization profile. Errors as FeedStream and CoerceFeed; kIo.
  static Result<CalibrationFeeds> Make(const RunPlan& plan, const RunnerPlan& runner,
                                       const ModelSource& model, const PythonFeeds& python,
                                       Logger& logger);

  /// What the session has to be given: empty without a file.
  OptionList options() const;

 private:
  std::string path_;
};

}  // namespace vernier
