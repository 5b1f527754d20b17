// What a run saves while it goes: inputs, outputs, raw input bytes.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/feed_writer.h"
#include "io/results_writer.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class Savers {
 public:
  /// Creates what the plan asks for. kIo and kInvalidArgument before anything has run.
  static Result<Savers> Create(const SavePlan& plan, std::vector<std::string> runner_names,
                               Logger& logger);

  /// Whether anything is saved at all.
  bool saves() const {
    return inputs_ != nullptr || outputs_ != nullptr || !plan_->input_blobs.empty();
  }

  Status AddFeed(const TensorMap& feed);
  /// Large outputs are written while the run goes on: what became of them is told by Settle.
  Status AddResult(size_t runner, const IterationResult& result);
  /// Waits for what is being written.
  Status Settle();

  /// Publishes the files: of every runner's results, at most the first `iterations`. Parts that
  /// could not be published are kept beside them. Of a run that failed before anything was
  /// finished nothing is published: an older file is worth more than an empty one. Not to be called
  /// after an error of the functions above, nor before Settle: then the old files stay, and so do
  /// the parts.
  Status Finish(size_t iterations, bool run_failed);

  /// Leaves older files as they are and removes what was added. Nothing may be added afterwards.
  void Abandon();

  /// What was saved and where, for records.
  const std::vector<std::pair<std::string, std::string>>& saved() const { return saved_; }

 private:
  Savers(const SavePlan& plan, Logger& logger) : plan_(&plan), logger_(&logger) {}
  Status AddBlobs(const TensorMap& feed);

  const SavePlan* plan_;
  Logger* logger_;
  std::unique_ptr<FeedWriter> inputs_;
  std::unique_ptr<ResultsWriter> outputs_;
  int64_t feeds_ = 0;
  int64_t results_ = 0;
  std::future<Status> pending_;  // after what it writes with
  std::vector<std::pair<std::string, std::string>> saved_;
};

}  // namespace vernier
