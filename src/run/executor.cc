#include "run/executor.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/comparison/comparison_run.h"
#include "run/comparison/lpips_measure.h"
#include "run/comparison/output_names.h"
#include "run/live/live_inference.h"
#include "run/live/live_runs.h"
#include "run/live/live_sizes.h"
#include "run/live/output_room.h"
#include "run/live/tensor_release.h"
#include "run/run_scripts.h"
#include "run/saved/loaded_side.h"
#include "run/saved/output_savers.h"
#include "run/saved/output_spill.h"
#include "run/saved/row_writer.h"
#include "run/saved/saved_progress.h"
#include "run/saved/self_comparisons.h"
#include "run/steps/step_feeds.h"
#include "util/no_log.h"
#include "util/number_text.h"

namespace vernier {
namespace {

class Execution {
 public:
  Execution(const RunPlan& plan, Logger& logger, RunObserver& observer,
            const std::atomic<int>& interrupted, const CallerObjects* caller)
      : plan_(plan),
        logger_(logger),
        observer_(observer),
        interrupted_(interrupted),
        live_(plan_, interrupted, logger, caller),
        bounds_(plan_.compare),
        inference_(plan_, live_, bounds_, observer, logger) {
    live_.WaitWith([&observer](std::optional<double> seconds) { observer.Waiting(seconds); });
  }

  RunOutcome Run() {
    const auto start = std::chrono::steady_clock::now();
    const LogArea area(logger_, log_area::kComparator);
    Status status = RunAll();
    if (status.ok()) status = comparisons_->CompareKept().status();
    aborted_ = !status.ok();
    if (aborted_) Report(status);
    CheckLoaded();
    Conclude();
    outcome_.record.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(outcome_);
  }

 private:
  // What cannot be worked around: one critical line, and what was finished is still published.
  void Report(const Status& status) {
    if (status.code() == StatusCode::kCancelled) {
      outcome_.faults.signal = interrupted_.load();
      logger_.Error(status.message());
    } else {
      const bool unsaved = status.code() == StatusCode::kIo;
      writer_failed_ |= unsaved;
      const std::string stays = unsaved && savers_ ? savers_->WhatStays() : "";
      logger_.Critical(status.message() + stays);
      outcome_.faults.Add(status);
    }
    outcome_.record.error = status.message();
  }

  // What was compared with a file that has changed is not believed.
  void CheckLoaded() {
    if (!loaded_) return;
    const Status status = loaded_->CheckIntact();
    if (status.ok()) return;
    if (comparisons_) comparisons_->Disbelieve(live_.size());
    if (rows_ != nullptr) std::exchange(rows_, nullptr)->Discard();
    aborted_ = true;
    Report(status);
  }

  Status RunAll() {
    std::vector<std::string> names = live_.names();
    VERNIER_ASSIGN_OR_RETURN(LoadedSide loaded, LoadedSide::Open(plan_, names, logger_));
    loaded_.emplace(std::move(loaded));
    for (const LoadedRuns::Run& run : loaded_->runs()) names.push_back(run.name);
    VERNIER_ASSIGN_OR_RETURN(
        ComparisonRun comparisons,
        ComparisonRun::Create(plan_, std::move(names), live_.any_marked(), observer_));
    comparisons_.emplace(std::move(comparisons));
    if (!plan_.save.rows.empty()) VERNIER_TRY(OpenRows());
    comparisons_->Use(live_.devices());
    comparisons_->Use(lpips_);
    VERNIER_ASSIGN_OR_RETURN(const StepStates* const steps, live_.MakeSteps());
    comparisons_->Use(steps);
    // Its interpreter starts while the frameworks load.
    if (RunScripts::Wanted(plan_)) VERNIER_TRY(live_.ScriptWorker().status());
    if (plan_.noise_floor && plan_.runners.empty()) {
      return InvalidArgument(
          "--noise-floor: saved outputs cannot be made again; it needs a runner");
    }
    if (bounds_.wanted()) comparisons_->UseBounds(bounds_, live_);
    if (plan_.runners.empty()) return CompareLoaded();
    FeedStream::Announce(plan_, logger_);
    return plan_.execution.sequential ? RunSequential() : RunStreaming();
  }

  Status OpenRows() {
    if (!comparisons_->has_pairs()) {
      return InvalidArgument(
          "--save-rows: rows are of pairs, and there is only one side to compare");
    }
    VERNIER_ASSIGN_OR_RETURN(rows_, RowWriter::Create(plan_.save.rows, logger_));
    comparisons_->Use(*rows_, loaded_->PairLabels(comparisons_->pairs()));
    return {};
  }

  Status OpenScripts() {
    if (!RunScripts::Wanted(plan_)) return {};
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, live_.ScriptWorker());
    VERNIER_ASSIGN_OR_RETURN(scripts_, RunScripts::Open(plan_, worker, logger_));
    comparisons_->Use({scripts_.comparison(), scripts_.postprocessing()});
    live_.CalibrateWith({scripts_.feeds(), scripts_.draws()});
    return {};
  }

  // In lenient mode the comparison warns of unknown names, as Polygraphy does.
  Status CheckNames() {
    VERNIER_TRY(live_.CheckMaps());
    if (plan_.lenient) return {};
    std::vector<std::string> outputs;
    for (size_t i = 0; i < live_.size(); ++i) {
      // Its outputs are not known.
      if (!live_[i].alive() || live_[i].session().outputs.empty()) return {};
      for (const TensorInfo& output : live_[i].session().outputs) outputs.push_back(output.name);
    }
    for (size_t i = 0; i < loaded_->runs().size(); ++i) {
      if (loaded_->runs()[i].iterations == 0) continue;
      VERNIER_ASSIGN_OR_RETURN(const IterationResult first, loaded_->Peek(i));
      for (const NamedTensor& output : first.outputs) outputs.push_back(output.name);
    }
    return CheckOutputNames(plan_, outputs);
  }

  Status CompareLoaded() {
    VERNIER_TRY(CheckNames());
    VERNIER_TRY(OpenScripts());
    for (int64_t i = 0;; ++i) {
      VERNIER_TRY(CheckInterrupted());
      IterationOutputs outputs;
      VERNIER_ASSIGN_OR_RETURN(const bool complete, loaded_->Append(i, outputs));
      if (!complete) return {};
      if (rows_ != nullptr) rows_->NoteFeed(i, loaded_->FeedOf(i));
      VERNIER_ASSIGN_OR_RETURN(const bool go_on, comparisons_->Compare(i, outputs));
      if (!go_on) return {};
    }
  }

  Status RunStreaming() {
    live_.Start();
    VERNIER_TRY(OpenScripts());
    for (size_t i = 0; i < live_.size(); ++i) VERNIER_TRY(live_.Open(i));
    VERNIER_TRY(CheckNames());
    VERNIER_TRY(OpenFeedsAndSavers());
    if (feeds_ == nullptr) return {};
    for (size_t i = 0; i < live_.size(); ++i) VERNIER_TRY(WarmUp(i));
    bool comparing = true;
    // Where loaded outputs run out, what is to be saved is still made.
    for (int64_t i = 0; comparing || (savers_->saves() && !comparisons_->stopped()); ++i) {
      VERNIER_TRY(CheckInterrupted());
      released_.Wait();
      VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, feeds_->Next());
      if (!feed || !live_.any_alive()) break;
      // Not Once: it would keep the text of every iteration.
      logger_.Info("Streaming iteration " + std::to_string(i) + "\n---- Inference Input(s) ----\n" +
                   FormatTensorTable(*feed));
      VERNIER_TRY(savers_->AddFeed(i, *feed, feeds_->steps()));
      observer_.FeedMade(i, *feed);
      VERNIER_TRY(CheckOutputRoom(live_, *feed));
      live_.Meanwhile({[this] { return feeds_->Prepare(); }, [this] { feeds_->PrepareOneMore(); }});
      VERNIER_ASSIGN_OR_RETURN(IterationOutputs outputs, inference_.InferAll(*feed, i));
      ++live_iterations_;
      live_.ForgetFeed();
      released_.Add(*std::move(feed));
      if (comparing) {
        if (rows_ != nullptr) rows_->NoteFeed(i, savers_->FeedHash());
        VERNIER_ASSIGN_OR_RETURN(comparing, CompareIteration(i, outputs));
      }
      Release(outputs);
      VERNIER_TRY(savers_->Settle());
      observer_.Progress(i + 1, feeds_->expected().value_or(0));
    }
    return {};
  }

  void Release(IterationOutputs& outputs) {
    // What a worker holds on a device is let go of where workers are asked: on this thread.
    if (live_.outputs_may_stay_on_device()) return;
    for (std::optional<IterationResult>& side : outputs) {
      if (side) released_.Add(std::move(side->outputs));
    }
  }

  Result<bool> CompareIteration(int64_t iteration, IterationOutputs& outputs) {
    VERNIER_ASSIGN_OR_RETURN(const bool complete, loaded_->Append(iteration, outputs));
    if (!complete) return false;
    return comparisons_->Compare(iteration, outputs);
  }

  Status RunSequential() {
    VERNIER_TRY(OpenScripts());
    // The workers wait for their turn: only one framework holds memory at a time.
    VERNIER_ASSIGN_OR_RETURN(spill_, OutputSpill::Create(live_.size()));
    for (size_t i = 0; i < live_.size(); ++i) {
      live_.StartOne(i);
      VERNIER_TRY(live_.Open(i));
      if (live_[i].alive()) VERNIER_TRY(RunOneToTheEnd(i));
      live_.Close(i);
    }
    VERNIER_TRY(CheckNames());
    for (int64_t i = 0; i < live_iterations_; ++i) {
      VERNIER_TRY(CheckInterrupted());
      VERNIER_ASSIGN_OR_RETURN(IterationOutputs outputs, spill_->Read(i));
      VERNIER_ASSIGN_OR_RETURN(const bool go_on, CompareIteration(i, outputs));
      if (!go_on) break;
    }
    return {};
  }

  Status RunOneToTheEnd(size_t index) {
    LiveRunner& runner = live_[index];
    feeds_.reset();  // the same feeds again, from the beginning
    VERNIER_TRY(OpenFeedsAndSavers());
    VERNIER_TRY(WarmUp(index));
    if (!runner.alive()) return {};
    for (int64_t i = 0;; ++i) {
      VERNIER_TRY(CheckInterrupted());
      VERNIER_ASSIGN_OR_RETURN(const std::optional<TensorMap> feed, feeds_->Next());
      if (!feed) break;
      logger_.Once(Severity::kInfo, PadName(runner.name()) + "\n---- Inference Input(s) ----\n" +
                                        FormatTensorTable(*feed));
      VERNIER_TRY(savers_->AddFeed(i, *feed, feeds_->steps()));
      observer_.FeedMade(i, *feed);
      if (rows_ != nullptr) rows_->NoteFeed(i, savers_->FeedHash());
      VERNIER_ASSIGN_OR_RETURN(const std::optional<IterationResult> result,
                               inference_.InferOne(index, *feed, i));
      if (!result) return {};
      VERNIER_TRY(spill_->Append(index, *result));
      VERNIER_TRY(savers_->Settle());
      live_iterations_ = std::max(live_iterations_, i + 1);
    }
    const double total_ms = runner.total_seconds() * 1e3;
    const auto count = static_cast<double>(runner.iterations());
    logger_.Finish(PadName(runner.name()) + " | Completed " + std::to_string(runner.iterations()) +
                   " iteration(s) in " + FormatG(total_ms, 4) + " ms | Average inference time: " +
                   FormatG(count > 0 ? total_ms / count : 0, 4) + " ms.");
    return {};
  }

  Status WarmUp(size_t index) {
    if (plan_.execution.warm_up <= 0 || !live_[index].alive()) return {};
    const std::string runs = std::to_string(plan_.execution.warm_up) + " warm-up run(s)";
    logger_.Start(PadName(live_[index].name()) + " | Running " + runs);
    VERNIER_ASSIGN_OR_RETURN(const std::optional<TensorMap> feed, feeds_->Next());
    if (!feed) {
      logger_.Warning(runs +
                      " were requested, but data loader did not supply any data. Skipping warm-up "
                      "run(s)");
    }
    for (int64_t i = 0; feed && i < plan_.execution.warm_up; ++i) {
      VERNIER_ASSIGN_OR_RETURN(const auto ignored, live_.Infer(index, *feed, -1 - i));
      if (!ignored) return RewindFeeds();
    }
    live_[index].ForgetLatencies();
    logger_.Finish(PadName(live_[index].name()) + " | Finished " + runs);
    return RewindFeeds();
  }

  // Warming up must not use a feed up, also where it killed its runner.
  Status RewindFeeds() {
    bool wanted = false;
    for (size_t i = 0; i < live_.size(); ++i) wanted |= live_[i].opened();
    if (!wanted) return {};
    feeds_.reset();
    return OpenFeedsAndSavers();
  }

  // Sequential runs are validated at the end, all of them, as in Polygraphy.
  Status ValidateSpilled() {
    comparisons_->ValidationStarted();
    bool valid = true;
    for (int64_t i = 0; i < live_iterations_; ++i) {
      VERNIER_ASSIGN_OR_RETURN(IterationOutputs outputs, spill_->Read(i));
      VERNIER_TRY(comparisons_->Postprocess(i, outputs));
      valid &= comparisons_->ValidateAll(outputs, outcome_.record.rejections);
    }
    observer_.ValidationFinished(valid);
    if (!valid) outcome_.faults.mismatch = true;
    return {};
  }

  // Feeds are made for the first runner that is there; without any there is nothing to feed.
  Status OpenFeedsAndSavers() {
    if (feeds_ != nullptr || !live_.any_alive()) return {};
    VERNIER_ASSIGN_OR_RETURN(
        const std::vector<TensorInfo> inputs,
        live_.InputsToFeed(scripts_.feeds() != nullptr, plan_.inputs.shape_words));
    VERNIER_ASSIGN_OR_RETURN(feeds_, OpenFeeds(plan_, inputs, logger_));
    if (savers_) return {};
    VERNIER_TRY(OpenSavers());
    VERNIER_ASSIGN_OR_RETURN(const bool changed, SettleSizes(inputs));
    if (!changed) return {};
    VERNIER_ASSIGN_OR_RETURN(feeds_, OpenFeeds(plan_, inputs, logger_));
    return {};
  }

  Result<std::unique_ptr<FeedStream>> OpenFeeds(const RunPlan& plan,
                                                std::span<const TensorInfo> inputs,
                                                Logger& logger) {
    return OpenStepFeeds(plan, inputs, {scripts_.feeds(), scripts_.draws()}, live_.steps(), logger);
  }

  Status OpenSavers() {
    if (plan_.save.resume) {
      VERNIER_ASSIGN_OR_RETURN(progress_, SavedProgress::Find(plan_.save, live_.names(), logger_));
      if (progress_ != nullptr) live_.GoOnFrom(*progress_);
    }
    VERNIER_ASSIGN_OR_RETURN(OutputSavers savers, OutputSavers::Create(plan_.save, live_.names(),
                                                                       progress_.get(), logger_));
    savers_.emplace(std::move(savers));
    inference_.SaveTo(*savers_);
    return {};
  }

  // Before the model is said to fail with sizes that nobody gave. Whether others were found.
  Result<bool> SettleSizes(std::span<const TensorInfo> inputs) {
    const auto draw = [&](const RunPlan& sized) -> Result<TensorMap> {
      NoLog unheard;
      VERNIER_ASSIGN_OR_RETURN(const auto feeds, OpenFeeds(sized, inputs, unheard));
      VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, feeds->Next());
      if (!feed) return Malformed("there is nothing to run");
      return *std::move(feed);
    };
    const int64_t iteration = plan_.execution.warm_up > 0 ? -1 : 0;
    VERNIER_ASSIGN_OR_RETURN(
        FoundSizes found, vernier::SettleSizes(plan_, inputs, {live_, logger_, iteration, draw}));
    if (found.some_refused && plan_.strict) {
      outcome_.faults.backend = true;
      outcome_.record.faults.push_back("a runner failed (--strict): " + found.note);
    }
    if (found.dims.empty()) return false;
    plan_.inputs.found_dims = std::move(found.dims);
    return true;
  }

  void Publish() {
    const bool failed = aborted_ || outcome_.faults.any();
    const Status status = savers_->Finish(live_.CommonIterations(), failed);
    if (!status.ok()) Report(status);
    outcome_.record.saved = savers_->saved();
  }

  Status CheckInterrupted() const {
    if (interrupted_.load() == 0) return {};
    return Cancelled("interrupted; what was finished before is saved");
  }

  void Conclude() {
    released_.Wait();
    inference_.End();
    for (size_t i = 0; i < live_.size(); ++i) {
      live_.Close(i);
      outcome_.faults.Add(live_[i].failure());
    }
    if (interrupted_.load() != 0) outcome_.faults.signal = interrupted_.load();
    if (savers_) {
      if (const Status status = savers_->Settle(); !status.ok()) Report(status);
    }
    if (savers_ && !writer_failed_) Publish();
    if (rows_ != nullptr && !writer_failed_) {
      if (const Status done = rows_->Publish(outcome_.record.saved); !done.ok()) Report(done);
    }
    outcome_.record.runners = live_.Records();
    outcome_.record.notes = live_.notes();
    if (progress_ != nullptr) {
      for (std::string& note : progress_->Notes()) {
        outcome_.record.notes.push_back(std::move(note));
      }
    }
    NoteWhatWasLeftOut();
    outcome_.record.averaged = plan_.compare.check_average;
    if (!comparisons_) return;
    std::vector<int64_t> lengths;
    for (size_t i = 0; i < live_.size(); ++i) lengths.push_back(live_[i].iterations());
    for (const LoadedRuns::Run& run : loaded_->runs()) lengths.push_back(run.iterations);
    const Coverage coverage = aborted_ ? Coverage::kIgnored : Coverage::kJudged;
    RunRecord& record = outcome_.record;
    comparisons_->Finish(lengths, coverage, outcome_.faults, record);
    loaded_->NameFiles(comparisons_->pairs(), record.pairs);
    NoteSelfComparisons(*loaded_, comparisons_->pairs(), plan_.strict, outcome_);
    NoteLostOutputs();
    if (plan_.strict) RejectVacuous(record.pairs);
    if (plan_.validate && spill_ != nullptr && !aborted_) {
      if (const Status status = ValidateSpilled(); !status.ok()) Report(status);
    }
  }

  // That what was run agreed says nothing of what was not.
  void NoteWhatWasLeftOut() {
    const bool interrupted = outcome_.faults.signal != 0;
    if ((!aborted_ && !interrupted) || feeds_ == nullptr) return;
    const std::optional<int64_t> asked = feeds_->expected();
    if (!asked || live_iterations_ >= *asked) return;
    outcome_.record.faults.push_back(
        std::string(interrupted ? "the run was interrupted" : "the run ended") + " in iteration " +
        std::to_string(live_iterations_) + " of " + std::to_string(*asked));
  }

  // No side hands them out, and that the rest agrees says nothing of them.
  void NoteLostOutputs() {
    if (plan_.lenient || live_.any_marked() || !comparisons_->has_pairs()) return;
    std::set<std::string> known;
    for (size_t i = 0; i < live_.size(); ++i) {
      for (const SkippedOutput& output : live_[i].lost()) {
        if (!known.insert(output.name).second) continue;
        outcome_.faults.incomplete = true;
        outcome_.record.faults.push_back("output '" + output.name + "' was not compared: it is " +
                                         output.why + " (--lenient accepts that)");
      }
    }
  }

  RunPlan plan_;  // with the sizes that are found
  Logger& logger_;
  RunObserver& observer_;
  const std::atomic<int>& interrupted_;
  RunOutcome outcome_;
  LiveRuns live_;
  PairErrorBounds bounds_;
  LiveInference inference_;
  std::optional<LoadedSide> loaded_;
  std::optional<ComparisonRun> comparisons_;
  RunScripts scripts_;
  LpipsMeasure lpips_{[this] { return live_.ScriptWorker(); }};
  std::unique_ptr<FeedStream> feeds_;
  std::unique_ptr<SavedProgress> progress_;
  std::optional<OutputSavers> savers_;
  TensorRelease released_;
  std::unique_ptr<OutputSpill> spill_;
  std::unique_ptr<RowWriter> rows_;
  int64_t live_iterations_ = 0;
  bool aborted_ = false;
  bool writer_failed_ = false;
};

}  // namespace

RunOutcome ExecuteRun(const RunPlan& plan, Logger& logger, RunObserver& observer,
                      const std::atomic<int>& interrupted, const CallerObjects* caller) {
  return Execution(plan, logger, observer, interrupted, caller).Run();
}

}  // namespace vernier
