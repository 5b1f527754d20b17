#include "run/savers.h"

#include <cstdio>
#include <filesystem>

#include "util/atomic_file.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// What takes longer to write than a thread to start, by far.
constexpr size_t kWorthThread = size_t{4} << 20;

bool IsSingleFile(const std::string& path) { return fs::path(path).has_extension(); }

// The peer's announcement of a destination.
std::string Announcement(std::string_view what, const std::string& path) {
  return "Saving " + std::string(what) +
         (IsSingleFile(path) ? " to a single file: " : " to a directory of per-iteration files: ") +
         path;
}

// The index that names an iteration's file or folder.
std::string IterationName(int64_t index) {
  char name[24];
  std::snprintf(name, sizeof(name), "%010lld", static_cast<long long>(index));
  return name;
}

}  // namespace

Result<Savers> Savers::Create(const SavePlan& plan, std::vector<std::string> runner_names,
                              Logger& logger) {
  Savers savers(plan, logger);
  if (!plan.inputs.empty()) {
    logger.Info(Announcement("inference input data", plan.inputs));
    VERNIER_ASSIGN_OR_RETURN(
        savers.inputs_,
        FeedWriter::Create(plan.inputs, plan.resume ? FeedWriter::Existing::kReplaced
                                                    : FeedWriter::Existing::kRefused));
  }
  if (!plan.outputs.empty()) {
    logger.Info(Announcement("inference results", plan.outputs));
    VERNIER_ASSIGN_OR_RETURN(savers.outputs_,
                             ResultsWriter::Create(plan.outputs, std::move(runner_names)));
    if (const std::string& stale = savers.outputs_->stale_partial();
        !stale.empty() && !plan.resume) {
      logger.Warning("An earlier run did not finish saving '" + plan.outputs +
                     "'. What it had saved is now in '" + stale + "'; `vernier data recover " +
                     stale + "` makes a file of it.");
    }
  }
  if (!plan.input_blobs.empty()) {
    logger.Info("Saving raw inference input tensors to: " + plan.input_blobs);
    VERNIER_TRY(CreateDirectories(plan.input_blobs));
  }
  return savers;
}

Status Savers::AddFeed(const TensorMap& feed) {
  if (inputs_ != nullptr) VERNIER_TRY(inputs_->Append(feed));
  if (!plan_->input_blobs.empty()) VERNIER_TRY(AddBlobs(feed));
  ++feeds_;
  return {};
}

Status Savers::AddBlobs(const TensorMap& feed) {
  const fs::path folder = fs::path(plan_->input_blobs) / IterationName(feeds_);
  VERNIER_TRY(CreateDirectories(folder.string()));
  for (const auto& [name, tensor] : feed) {
    const fs::path file = (folder / (name + ".bin")).lexically_normal();
    const fs::path relative = file.lexically_relative(folder.lexically_normal());
    if (relative.empty() || *relative.begin() == "..") {
      return InvalidArgument("Cannot save raw input tensor named '" + name +
                             "': the name resolves to a path outside of '" + folder.string() + "'");
    }
    VERNIER_ASSIGN_OR_RETURN(AtomicFile output, AtomicFile::Create(file.string()));
    VERNIER_TRY(output.Write(tensor.bytes()));
    VERNIER_TRY(output.Commit());
  }
  logger_->Verbose("Saved raw inference input tensors to: " + folder.string());
  return {};
}

Status Savers::AddResult(size_t runner, const IterationResult& result) {
  if (outputs_ == nullptr) return {};
  VERNIER_TRY(Settle());
  ++results_;
  size_t bytes = 0;
  for (const NamedTensor& output : result.outputs) bytes += output.tensor.bytes().size();
  if (bytes < kWorthThread) return outputs_->Append(runner, result);
  // Where no thread can be had, Settle() does it.
  pending_ = std::async([writer = outputs_.get(), runner, result]() mutable {
    const IterationResult saved = std::move(result);  // let go here, not where it is waited for
    return writer->Append(runner, saved);
  });
  return {};
}

void Savers::Abandon() {
  (void)Settle();
  inputs_ = nullptr;
  if (outputs_ != nullptr) outputs_->Discard();
  outputs_ = nullptr;
}

Status Savers::Settle() { return pending_.valid() ? pending_.get() : Status(); }

Status Savers::Finish(size_t iterations, bool run_failed) {
  Status first;
  const auto finish = [&](std::string_view what, std::string_view key, const std::string& path,
                          auto publish) {
    logger_->Info("Saving " + std::string(what) + " to " + path);
    Status status = publish();
    if (status.ok()) saved_.emplace_back(key, path);
    if (first.ok()) first = std::move(status);
  };
  if (inputs_ != nullptr && !(run_failed && feeds_ == 0)) {
    finish("inference input data", "inputs", plan_->inputs, [&] { return inputs_->Finish(); });
  }
  if (outputs_ != nullptr && !(run_failed && (results_ == 0 || iterations == 0))) {
    finish("inference results", "outputs", plan_->outputs,
           [&] { return outputs_->Publish(iterations); });
  }
  if (!plan_->input_blobs.empty()) saved_.emplace_back("input_blobs", plan_->input_blobs);
  return first;
}

}  // namespace vernier
