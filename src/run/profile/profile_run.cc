#include "run/profile/profile_run.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "run/feeds/feed_stream.h"
#include "run/live/inference_scheduler.h"
#include "run/live/live_sizes.h"
#include "run/live/pair_error_bounds.h"
#include "run/profile/latency_statistics.h"
#include "run/profile/layer_times.h"
#include "run/profile/profile_accuracy.h"
#include "run/profile/profile_feed.h"
#include "run/profile/profile_notes.h"
#include "util/log/no_log.h"
#include "util/text/first_line.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kFewestRuns = 10;
constexpr int64_t kMostRuns = 100'000;
// Enough for a mean; layers are measured with a clock of microseconds anyway.
constexpr int64_t kLayerRuns = 10;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One set of shapes: what the first runner made of it, and the rules for the others.
struct ShapeSet {
  std::string words;           // as they were given
  std::vector<DimSize> found;  // where the model does not run with sizes of 1
  std::optional<ProfiledReference> reference;
  std::unique_ptr<PairErrorBounds> bounds;
};

// A runner that is open alone.
struct OpenRunner {
  RunPlan plan;  // of this runner
  std::unique_ptr<InferenceScheduler> live;
};

class Profiling {
 public:
  Profiling(const RunPlan& plan, const ProfileOptions& options, Logger& logger,
            const std::atomic<int>& interrupted)
      : plan_(plan), options_(options), logger_(logger), interrupted_(interrupted) {
    for (const std::vector<std::string>& words : options.shapes) {
      ShapeSet& set = sets_.emplace_back();
      for (const std::string& word : words) set.words += (set.words.empty() ? "" : " ") + word;
      set.bounds = std::make_unique<PairErrorBounds>(plan.compare);
    }
    outcome_.record.profile.emplace();
  }

  RunOutcome Run() {
    const auto start = Clock::now();
    const LogArea area(logger_, log_area::kComparator);
    if (const Status status = RunAll(); !status.ok()) {
      outcome_.record.error = status.message();
      if (status.code() == StatusCode::kCancelled) {
        outcome_.faults.signal = interrupted_.load();
      } else {
        logger_.Critical(status.message());
        outcome_.faults.Add(status);
      }
    }
    SortBySet(profile().points, sets_.size());
    for (const std::string& note : NotesOnTimes(profile())) AddNote(note);
    outcome_.record.seconds = Since(start);
    return std::move(outcome_);
  }

 private:
  ProfileRecord& profile() { return *outcome_.record.profile; }

  Status RunAll() {
    for (size_t i = 0; i < plan_.runners.size();) {
      VERNIER_ASSIGN_OR_RETURN(const bool measured, MeasureRunner(i));
      if (!measured) ForgetMeasurements();
      i = measured ? i + 1 : 0;
    }
    return {};
  }

  void ForgetMeasurements() {
    for (ShapeSet& set : sets_) {
      set.reference.reset();
      set.bounds = std::make_unique<PairErrorBounds>(plan_.compare);
    }
    profile().points.clear();
    profile().runners.clear();
    outcome_.record.runners.clear();
    outcome_.record.faults.clear();
    outcome_.record.rejections.clear();
    const bool failed = outcome_.faults.backend;  // that a runner did is not taken back
    outcome_.faults = {};
    outcome_.faults.backend = failed;
  }

  // False: sizes were found that all runners have to be measured with anew.
  Result<bool> MeasureRunner(size_t index) {
    const RunnerPlan& runner = plan_.runners[index];
    std::unique_ptr<OpenRunner> open;
    bool has_layers = false;
    for (size_t set = 0; set < sets_.size(); ++set) {
      VERNIER_TRY(CheckInterrupted());
      ProfilePoint point;
      point.runner = runner.name;
      point.shapes = sets_[set].words;
      if (open == nullptr) {
        VERNIER_ASSIGN_OR_RETURN(open, Open(runner));
        if (set == 0) Describe(runner, *open->live);
        has_layers |= (*open->live)[0].backend().OptionFor(OptionRole::kLayerTimes) != nullptr;
      }
      VERNIER_ASSIGN_OR_RETURN(const bool measured, MeasurePoint(index, set, *open->live, point));
      if (!measured) {
        Close(open);
        return false;
      }
      if (!(*open->live)[0].alive()) Close(open);
      profile().points.push_back(std::move(point));
      if (options_.keep) options_.keep(outcome_.record);
    }
    if (open != nullptr) Close(open);
    if (options_.layers) VERNIER_TRY(MeasureLayers(runner, has_layers));
    return true;
  }

  Result<std::unique_ptr<OpenRunner>> Open(const RunnerPlan& runner) {
    auto open = std::make_unique<OpenRunner>();
    open->plan = plan_;
    open->plan.runners = {runner};
    open->plan.inputs.found_dims = sets_.front().found;
    // No other runner wants the processor, so a framework's threads may wait as they do by default.
    open->plan.runners[0].alone = true;
    open->live = std::make_unique<InferenceScheduler>(open->plan, interrupted_, logger_);
    open->live->StartOne(0);
    VERNIER_TRY(open->live->Open(0));
    marked_ |= open->live->any_marked();
    return open;
  }

  void Close(std::unique_ptr<OpenRunner>& open) {
    open->live->Close(0);
    for (const std::string& note : open->live->reports().notes()) AddNote(note);
    outcome_.faults.Add((*open->live)[0].failure());
    open.reset();
  }

  void Describe(const RunnerPlan& runner, InferenceScheduler& live) {
    RunnerRecord record = live.Records().front();
    profile().runners.push_back({runner.name, runner.backend, record.framework_version,
                                 record.device, record.precision, record.load_seconds});
    record.latency.reset();
    outcome_.record.runners.push_back(std::move(record));
  }

  static void AddSentence(std::string sentence, std::vector<std::string>& list) {
    const bool known = std::find(list.begin(), list.end(), sentence) != list.end();
    if (!known) list.push_back(std::move(sentence));
  }

  void AddNote(const std::string& note) { AddSentence(note, outcome_.record.notes); }

  RunPlan PlanOf(size_t set) const {
    RunPlan shaped = plan_;
    shaped.inputs.shape_words = options_.shapes[set];
    shaped.inputs.found_dims = sets_[set].found;
    return shaped;
  }

  // Before a runner is said to fail with sizes that were not given.
  // nullopt: a later runner needs other sizes than those before it were measured with.
  Result<std::optional<TensorMap>> SettleFeed(size_t index, size_t set, InferenceScheduler& live) {
    ShapeSet& own = sets_[set];
    bool anew = false;
    if (own.found.empty()) {
      const RunPlan shaped = PlanOf(set);
      VERNIER_ASSIGN_OR_RETURN(const std::vector<TensorInfo> inputs,
                               live.feeds().InputsToFeed(false, shaped.inputs.shape_words));
      NoLog unheard;
      const auto draw = [&](const RunPlan& sized) { return MakeFeed(sized, live, unheard); };
      const SizeSettling trial{live, logger_, static_cast<int64_t>(set), draw};
      VERNIER_ASSIGN_OR_RETURN(const FoundSizes found, SettleSizes(shaped, inputs, trial));
      own.found = found.dims;
      anew = index > 0 && !found.dims.empty();
    }
    Result<TensorMap> feed = MakeFeed(PlanOf(set), live, logger_);
    if (anew && feed.status().code() != StatusCode::kCancelled) return std::optional<TensorMap>();
    if (!feed.ok()) return feed.status();
    return std::optional<TensorMap>(*std::move(feed));
  }

  Result<TensorMap> MakeFeed(const RunPlan& shaped, const InferenceScheduler& live,
                             Logger& logger) const {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<TensorInfo> inputs,
                             live.feeds().InputsToFeed(false, shaped.inputs.shape_words));
    VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<FeedStream> feeds,
                             FeedStream::Open(shaped, inputs, {}, logger));
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, feeds->Next());
    if (!feed) return Malformed("the inputs hold no iteration to measure with");
    return *std::move(feed);
  }

  // Also where the runner fails: the point then says why. False: as MeasureRunner().
  Result<bool> MeasurePoint(size_t index, size_t set, InferenceScheduler& live,
                            ProfilePoint& point) {
    RunnerSession& runner = live[0];
    if (!runner.alive()) {
      point.failure = FirstLine(runner.failure().message());
      return true;
    }
    runner.ForgetTimes();
    (void)runner.TakePeakMemory();
    const Result<std::optional<TensorMap>> settled = SettleFeed(index, set, live);
    if (settled.status().code() == StatusCode::kCancelled) return settled.status();
    if (!settled.ok()) {
      // Shapes that the model does not take: the next ones may fit.
      logger_.Critical(settled.status().message());
      point.failure = FirstLine(settled.status().message());
      outcome_.faults.Add(settled.status());
      return true;
    }
    if (!*settled) return false;
    const TensorMap& feed = **settled;
    point.shapes = ShapesOf(feed);
    point.batch = BatchOf(feed);
    logger_.Start(PadName(runner.name()) + " | Measuring with " + point.shapes);
    if (sets_[set].bounds->wanted()) {
      sets_[set].bounds->AddRunner(index, runner);
      sets_[set].bounds->SetFeed(feed);
    }
    VERNIER_ASSIGN_OR_RETURN(std::optional<IterationResult> first, WarmUp(set, feed, live, point));
    if (first) VERNIER_TRY(Measure(set, feed, live));
    if (!runner.alive()) {
      point.failure = FirstLine(runner.failure().message());
      return true;
    }
    Summarise(runner, point);
    VERNIER_TRY(Judge(index, set, live, *std::move(first), point));
    return true;
  }

  // The outputs of the first inference; nothing when the runner failed.
  Result<std::optional<IterationResult>> WarmUp(size_t set, const TensorMap& feed,
                                                InferenceScheduler& live, ProfilePoint& point) {
    std::optional<IterationResult> first;
    for (int64_t i = 0; i < std::max<int64_t>(1, options_.warm_up); ++i) {
      VERNIER_TRY(CheckInterrupted());
      VERNIER_ASSIGN_OR_RETURN(std::optional<IterationResult> result,
                               live.Infer(0, feed, static_cast<int64_t>(set)));
      if (!result) return result;
      if (i == 0) first = std::move(result);
    }
    point.warm_ups = live[0].iterations();
    point.first_seconds = live[0].times().latencies().front();
    point.warm_up_seconds = live[0].times().total_seconds();
    live[0].ForgetTimes();
    return first;
  }

  Status Measure(size_t set, const TensorMap& feed, InferenceScheduler& live) {
    const auto start = Clock::now();
    const auto wanted = [&](int64_t done) {
      if (options_.runs > 0) return done < options_.runs;
      return done < kFewestRuns || (Since(start) < options_.seconds && done < kMostRuns);
    };
    for (int64_t done = 0; wanted(done); ++done) {
      VERNIER_TRY(CheckInterrupted());
      VERNIER_ASSIGN_OR_RETURN(const std::optional<IterationResult> result,
                               live.Infer(0, feed, static_cast<int64_t>(set)));
      if (!result) return {};
    }
    return {};
  }

  void Summarise(RunnerSession& runner, ProfilePoint& point) {
    point.latency = SummariseTimes(runner.times().latencies());
    const double each = point.latency.mean;
    point.per_second = each > 0 ? static_cast<double>(point.batch.value_or(1)) / each : 0;
    point.peak_memory = runner.TakePeakMemory();
    if (point.latency.max == 0) AddNote(runner.name() + " reports no times of its inferences");
    logger_.Finish(PadName(runner.name()) + " | Median " + FormatG(point.latency.median * 1e3, 4) +
                   " ms in " + Counted(point.latency.count, "inference"));
  }

  Status Judge(size_t index, size_t set, InferenceScheduler& live, IterationResult result,
               ProfilePoint& point) {
    ProfileAccuracy& accuracy = point.accuracy;
    if (index == 0) {
      accuracy.why = "the reference";
      sets_[set].reference = {std::move(result), LostOutputsOf(live)};
      return {};
    }
    const std::optional<ProfiledReference>& reference = sets_[set].reference;
    if (!reference) {
      accuracy.why = "there is nothing to compare with: " + plan_.runners[0].name + " failed";
      outcome_.faults.incomplete = true;
      return {};
    }
    PairErrorBounds* const bounds = sets_[set].bounds->wanted() ? sets_[set].bounds.get() : nullptr;
    VERNIER_ASSIGN_OR_RETURN(
        ProfiledVerdict verdict,
        JudgeProfiled(plan_, {index, marked_, bounds, live}, *reference, std::move(result)));
    accuracy = std::move(verdict.accuracy);
    outcome_.faults.Add(verdict.faults);
    for (const std::string& note : verdict.notes) AddNote(note);
    for (std::string& why : verdict.incomplete) AddSentence(std::move(why), outcome_.record.faults);
    for (std::string& why : verdict.rejections)
      AddSentence(std::move(why), outcome_.record.rejections);
    return {};
  }

  // In sessions of their own: measuring layers makes inferences slower.
  Status MeasureLayers(const RunnerPlan& runner, bool has_layers) {
    for (ProfilePoint& point : profile().points) {
      if (point.runner != runner.name || !point.failure.empty()) continue;
      if (!has_layers) {
        point.layers_missing = "vernier cannot get them from " + runner.backend;
        continue;
      }
      VERNIER_TRY(CheckInterrupted());
      VERNIER_TRY(MeasureLayersOf(runner, point));
    }
    return {};
  }

  // The first inference warms up. How many are measured: none where the runner failed.
  Result<int64_t> RunForLayers(const TensorMap& feed, InferenceScheduler& live) {
    const int64_t most = options_.runs > 0 ? std::min(options_.runs, kLayerRuns) : kLayerRuns;
    VERNIER_TRY(live.Infer(0, feed, 0).status());
    const auto start = Clock::now();
    int64_t done = 0;
    while (live[0].alive() && done < most && (done == 0 || Since(start) < options_.seconds)) {
      VERNIER_TRY(CheckInterrupted());
      VERNIER_TRY(live.Infer(0, feed, 0).status());
      ++done;
    }
    return done;
  }

  Status MeasureLayersOf(const RunnerPlan& runner, ProfilePoint& point) {
    logger_.Start(PadName(runner.name) + " | Measuring layers with " + point.shapes);
    const auto start = Clock::now();
    VERNIER_ASSIGN_OR_RETURN(const LayerTimesFile file, LayerTimesFile::Create());
    RunnerPlan measured = runner;
    measured.layer_times = file.path();
    VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<OpenRunner> open, Open(measured));
    const size_t set = SetOf(profile().points, point);
    int64_t inferences = 0;
    if ((*open->live)[0].alive()) {
      VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, MakeFeed(PlanOf(set), *open->live, logger_));
      VERNIER_ASSIGN_OR_RETURN(inferences, RunForLayers(feed, *open->live));
    }
    const Status failure = (*open->live)[0].failure();
    open->live->Close(0);
    if (!failure.ok()) {
      point.layers_missing =
          "the runner failed while layers were measured: " + FirstLine(failure.message());
      return {};
    }
    point.layers = file.Read();
    if (point.layers.empty()) point.layers_missing = WhyNoLayers(runner.backend);
    logger_.Finish(PadName(runner.name) + " | Layers measured in " +
                   Counted(static_cast<size_t>(inferences), "inference") + ", " +
                   FormatG(Since(start), 2) + " s; --no-layer-times leaves them out");
    return {};
  }

  Status CheckInterrupted() const {
    if (interrupted_.load() == 0) return {};
    return Cancelled("interrupted; what was measured before is there");
  }

  const RunPlan& plan_;
  const ProfileOptions& options_;
  Logger& logger_;
  const std::atomic<int>& interrupted_;
  RunOutcome outcome_;
  std::deque<ShapeSet> sets_;
  bool marked_ = false;
};

}  // namespace

RunOutcome ExecuteProfile(const RunPlan& plan, const ProfileOptions& options, Logger& logger,
                          const std::atomic<int>& interrupted) {
  return Profiling(plan, options, logger, interrupted).Run();
}

}  // namespace vernier
