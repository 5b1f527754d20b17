#include "run/saved/output_savers.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "compare/outputs/same_bits.h"
#include "io/results/iteration_directory.h"
#include "io/results/partial_places.h"
#include "run/saved/fed_states.h"
#include "run/saved/result_origin.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInputsInWords = "inference input data";

bool IsSingleFile(const std::string& path) { return fs::path(path).has_extension(); }

// Polygraphy's announcement of a destination.
std::string Announcement(std::string_view what, const std::string& path) {
  return "Saving " + std::string(what) +
         (IsSingleFile(path) ? " to a single file: " : " to a directory of per-iteration files: ") +
         path;
}

}  // namespace

Result<OutputSavers> OutputSavers::Create(const RunPlan& plan,
                                          std::vector<std::string> runner_names,
                                          const PartialOrigin& origin, SavedProgress* progress,
                                          Logger& logger) {
  const SavePlan& save = plan.save;
  OutputSavers savers(plan, progress, logger);
  if (!save.inputs.empty()) VERNIER_TRY(savers.CreateInputs());
  if (!save.outputs.empty()) {
    VERNIER_TRY(savers.CreateOutputs(std::move(runner_names), origin));
  }
  if (!save.input_blobs.empty()) {
    VERNIER_ASSIGN_OR_RETURN(savers.blobs_, InputBlobs::Create(save, logger));
  }
  return savers;
}

Status OutputSavers::CreateInputs() {
  logger_->Info(Announcement(kInputsInWords, plan_->inputs));
  uint64_t kept = 0;
  if (plan_->resume) {
    VERNIER_ASSIGN_OR_RETURN(kept, FindEarlierInputs());
  }
  VERNIER_ASSIGN_OR_RETURN(inputs_, FeedWriter::Create(plan_->inputs, kept));
  if (progress_ == nullptr) {
    WarnOfInputs();
  } else {
    obsolete_input_parts_.emplace(plan_->inputs, inputs_->stale_partial());
  }
  return {};
}

// Of parts that this run has moved, and that are still there.
void OutputSavers::WarnOfInputs() {
  const std::string stale = inputs_->stale_partial();
  if (!stale.empty() && IsThere(stale)) WarnOfParts(plan_->inputs, stale);
}

// What is recovered of a shard must not have its name.
std::string OutputSavers::WayToRecover(const std::string& place) const {
  return "`vernier data recover " + place + (of_shard_ ? " -o FILE" : "") + "` makes a file of it";
}

void OutputSavers::WarnOfParts(const std::string& path, const std::string& stale) {
  logger_->Warning("An earlier run did not finish saving '" + path +
                   "'. What it had saved is now in '" + stale +
                   (of_shard_ ? "', which is removed once this shard has made all of it again."
                              : "'; " + WayToRecover(stale) + "."));
}

// Those of the run that is resumed: how many of them a folder holds, which stay.
Result<uint64_t> OutputSavers::FindEarlierInputs() {
  const std::string& path = plan_->inputs;
  uint64_t count = 0;
  if (ResultsFormatFor(path) == ResultsFormat::kJsonDirectory) {
    VERNIER_ASSIGN_OR_RETURN(count, CountIterations(path, kInputsInWords));
    // A run that was killed may have saved the inputs of one iteration more.
    const int64_t outputs = progress_ == nullptr ? 0 : progress_->most_iterations();
    if (count > static_cast<uint64_t>(outputs) + 1) {
      return Refuse("'" + path + "' holds inputs of " + std::to_string(count) +
                    " iterations, but '" + plan_->outputs + "' outputs of " +
                    std::to_string(outputs) + "; move it away, and all are saved anew");
    }
    if (count == 0) return count;
  } else if (progress_ == nullptr || !IsThere(path)) {
    return count;
  }
  Result<std::unique_ptr<FeedReader>> reader = FeedReader::Open({path});
  if (!reader.ok()) {
    return Refuse(reader.status().message() + "; move '" + path +
                  "' away, and all inputs are saved anew");
  }
  earlier_inputs_ = *std::move(reader);
  return count;
}

Status OutputSavers::Refuse(const std::string& why) {
  return progress_ == nullptr ? Malformed("--resume: " + why) : progress_->Refuse(why);
}

Status OutputSavers::CreateOutputs(std::vector<std::string> runner_names, PartialOrigin origin) {
  logger_->Info(Announcement("inference results", plan_->outputs));
  runners_ = runner_names.size();
  if (progress_ != nullptr) {
    VERNIER_ASSIGN_OR_RETURN(outputs_, ResultsWriter::CreateBeside(
                                           progress_->target(), std::move(runner_names), origin));
    return outputs_->Record(made_with_.AddLines(progress_->made_with()));
  }
  VERNIER_ASSIGN_OR_RETURN(outputs_,
                           ResultsWriter::Create(plan_->outputs, std::move(runner_names), origin));
  const std::string& stale = outputs_->stale_partial();
  if (!stale.empty()) WarnOfParts(plan_->outputs, stale);
  return {};
}

Status OutputSavers::AddFeed(int64_t iteration, const TensorMap& feed, const StepSequence* steps) {
  if (steps == nullptr) return AddNext(iteration, iteration, feed);
  if (outputs_ != nullptr || compared_with_saved_) {
    const auto state = HashOfFedState(steps->states(), feed);
    if (state) fed_states_.push_back(*state);
  }
  const StepPosition& position = steps->position();
  return position.step > 0 ? CheckProgress(iteration)
                           : AddNext(iteration, position.sequence, steps->whole());
}

Status OutputSavers::NoteMadeWith(const std::vector<JournalSource>& sources) {
  if (outputs_ == nullptr) return {};
  if (progress_ != nullptr) VERNIER_TRY(progress_->CheckMadeWith(sources));
  VERNIER_TRY(Settle());
  const std::string lines = made_with_.AddLines(sources);
  return lines.empty() ? Status() : outputs_->Record(lines);
}

Status OutputSavers::CheckProgress(int64_t iteration) {
  return progress_ == nullptr ? Status()
                              : progress_->CheckFeed(iteration, FeedMark(), hasher_.of_steps());
}

Status OutputSavers::AddNext(int64_t iteration, int64_t number, const TensorMap& feed) {
  const bool hashes = outputs_ != nullptr || !plan_->rows.empty() || compared_with_saved_;
  if (hashes || of_shard_) hasher_.Take(feed);
  VERNIER_TRY(CheckProgress(iteration));
  if (number < feeds_) return {};
  if (earlier_inputs_ != nullptr) VERNIER_TRY(CompareWithEarlier(feed));
  if (inputs_ != nullptr) VERNIER_TRY(inputs_->Append(feed));
  if (obsolete_input_parts_) obsolete_input_parts_->Compare(feed);
  if (blobs_) VERNIER_TRY(AddBlobs(feed));
  ++feeds_;
  return {};
}

Status OutputSavers::CompareWithEarlier(const TensorMap& feed) {
  const Result<std::optional<TensorMap>> earlier = earlier_inputs_->Next();
  if (!earlier.ok()) {
    return Refuse(earlier.status().message() + "; move '" + plan_->inputs +
                  "' away, and all inputs are saved anew");
  }
  if (!*earlier) {
    earlier_inputs_ = nullptr;
    return {};
  }
  if (SameBits(**earlier, feed)) return {};
  return Refuse("'" + earlier_inputs_->current_path() + "' holds other inputs than iteration " +
                std::to_string(feeds_) +
                " of this run. Was it another seed, or were other inputs loaded? Move '" +
                plan_->inputs + "' and '" + plan_->outputs + "' away to start over");
}

Status OutputSavers::AddBlobs(const TensorMap& feed) {
  VERNIER_ASSIGN_OR_RETURN(const std::string other, blobs_->Add(feeds_, feed));
  if (other.empty()) return {};
  return Refuse("'" + other + "' holds other bytes than this run's inputs; move '" +
                blobs_->folder() + "' away to start over");
}

Status OutputSavers::NoteSteps(size_t runner, const std::string& feeding) {
  VERNIER_TRY(Settle());
  feedings_[runner] = feeding;
  return outputs_->NoteSteps(runner, feeding);
}

Status OutputSavers::NoteFedStates() {
  for (const auto& [runner, feeding] : feedings_) {
    if (fed_states_.size() != outputs_->finished(runner)) continue;
    VERNIER_TRY(outputs_->NoteSteps(runner, WithFedStates(feeding, fed_states_)));
  }
  return {};
}

Status OutputSavers::AddResult(size_t runner, const IterationResult& result) {
  if (outputs_ == nullptr) return {};
  VERNIER_TRY(Settle());
  ++results_;
  any_output_ |= !result.outputs.empty();
  size_t bytes = 0;
  for (const NamedTensor& output : result.outputs) bytes += output.tensor.bytes().size();
  const uint64_t feed = FeedMark();
  if (bytes < kWorthThread) return outputs_->Append(runner, result, feed);
  // If no thread is available, Settle() does this synchronously.
  pending_ = std::async([writer = outputs_.get(), runner, result, feed]() mutable {
    const IterationResult saved = std::move(result);  // let go here, not where it is waited for
    return writer->Append(runner, saved, feed);
  });
  return {};
}

Status OutputSavers::Settle() { return pending_.valid() ? pending_.get() : Status(); }

std::string OutputSavers::WhatStays() const {
  if (pending_.valid()) pending_.wait();
  const auto left_behind = [this](const std::string& what, const std::string& place) {
    return "; what was saved " + what + "before is in '" + place + "': " + WayToRecover(place);
  };
  const std::string inputs = inputs_ == nullptr ? "" : inputs_->partial_path();
  const std::string of_inputs = inputs.empty() ? "" : left_behind("of the inputs ", inputs);
  if (outputs_ == nullptr || outputs_->published()) return of_inputs;
  size_t most = 0;
  for (size_t i = 0; i < runners_; ++i) most = std::max(most, outputs_->finished(i));
  if (most == 0) return of_inputs;
  return left_behind("", outputs_->partial_path()) +
         ", and the same command with --resume continues from it" + of_inputs;
}

Status OutputSavers::Finish(size_t iterations, bool run_failed) {
  if (progress_ == nullptr) return Publish(iterations, run_failed);
  std::vector<size_t> finished;
  for (size_t i = 0; i < runners_; ++i) finished.push_back(outputs_->finished(i));
  const SavedProgress::End end = progress_->DecideEnd(finished, iterations);
  if (end != SavedProgress::End::kReplaced) return Keep(end, run_failed);
  VERNIER_TRY(Publish(iterations, run_failed));
  progress_->Remove();
  if (obsolete_input_parts_) {
    obsolete_input_parts_->Remove();
    WarnOfInputs();
  }
  return {};
}

Status OutputSavers::Keep(SavedProgress::End end, bool run_failed) {
  if (inputs_ != nullptr) WarnOfInputs();
  std::string sentence =
      "--resume: '" + progress_->place() + "' holds more than this run made, and stays as it is";
  if (end == SavedProgress::End::kKeptWithParts) {
    sentence += ". Iterations that only this run made are in '" + outputs_->partial_path() +
                "': --resume continues from both";
  } else {
    outputs_->Discard();
    if (inputs_ != nullptr) inputs_->Discard();
  }
  outputs_ = nullptr;
  inputs_ = nullptr;
  // What was asked for is there, and more; or only in parts, which a run without faults has to say.
  if (run_failed || IsThere(plan_->outputs)) {
    logger_->Warning(sentence);
    return {};
  }
  return IoError(sentence + "; --resume with all of its iterations makes '" + plan_->outputs +
                 "' of it");
}

Status OutputSavers::Publish(size_t iterations, bool run_failed) {
  Status first;
  const auto finish = [&](std::string_view what, std::string_view key, const std::string& path,
                          auto publish) {
    logger_->Info("Saving " + std::string(what) + " to " + path);
    Status status = publish();
    if (status.ok()) saved_.emplace_back(key, path);
    if (first.ok()) first = std::move(status);
  };
  if (inputs_ != nullptr && !(run_failed && feeds_ == 0)) {
    finish(kInputsInWords, "inputs", plan_->inputs, [&] { return inputs_->Finish(); });
  }
  if (outputs_ != nullptr) VERNIER_TRY(NoteFedStates());
  if (outputs_ != nullptr && results_ > 0 && !any_output_) {
    outputs_->Discard();
    outputs_ = nullptr;
    const std::string why = "--save-outputs: no runner returned an output, '" + plan_->outputs +
                            "' is not saved; does the model declare outputs?";
    if (run_failed) {
      logger_->Warning(why);
    } else if (first.ok()) {
      first = IoError(why);
    }
  } else if (outputs_ != nullptr && !(run_failed && (results_ == 0 || iterations == 0))) {
    finish("inference results", "outputs", plan_->outputs,
           [&] { return outputs_->Publish(iterations); });
  }
  if (blobs_) saved_.emplace_back("input_blobs", blobs_->folder());
  return first;
}

}  // namespace vernier
