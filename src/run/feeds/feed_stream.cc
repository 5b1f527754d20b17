#include "run/feeds/feed_stream.h"

#include <utility>

#include "inputs/shape_spec.h"
#include "vernier/run_plan.h"

namespace vernier {
namespace {

Result<std::unique_ptr<FeedProducer>> MakeProducer(const RunPlan& plan,
                                                   std::span<const TensorInfo> inputs,
                                                   const PythonFeeds& python, Logger& logger) {
  if (python.script != nullptr) return MakeScriptProducer(plan, inputs, *python.script, logger);
  if (plan.inputs.load_paths.empty())
    return MakeRandomProducer(plan, inputs, python.drawer, logger);
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> images, FindImages(plan.inputs));
  if (images.empty()) return MakeFileProducer(plan, inputs, logger);
  return MakeImageProducer(plan, std::move(images), inputs, logger);
}

}  // namespace

FeedStream::FeedStream(const RunPlan& plan, std::unique_ptr<FeedProducer> producer, Logger& logger)
    : logger_(logger),
      shard_(plan.ShardOfFeeds()),
      may_be_empty_(plan.lenient || plan.shard.wanted()),
      producer_(std::move(producer)) {}

Result<std::unique_ptr<FeedStream>> FeedStream::Open(const RunPlan& plan,
                                                     std::span<const TensorInfo> inputs,
                                                     const PythonFeeds& python, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(auto producer, MakeProducer(plan, inputs, python, logger));
  return std::unique_ptr<FeedStream>(new FeedStream(plan, std::move(producer), logger));
}

void FeedStream::Announce(const RunPlan& plan, Logger& logger) {
  if (!plan.inputs.load_paths.empty() || plan.inputs.script.given()) return;
  if (plan.inputs.shape_words.empty()) return;
  const Strictness strictness = plan.lenient ? Strictness::kPolygraphy : Strictness::kStrict;
  const auto shapes = ParseShapeSpecs(plan.inputs.shape_words, strictness);
  if (!shapes.ok()) return;  // reported where the feeds are opened
  logger.Info("Will generate inference input data according to provided TensorMetadata: " +
              FormatShapeSpecs(plan.lenient ? KeepLastShapes(*shapes) : *shapes));
}

// Of sequences a place is a step.
std::string FeedStream::NameOf(int64_t place) const {
  const int64_t index = steps_ != nullptr ? place : IndexOf(place);
  const std::string file = steps_ != nullptr ? "" : producer_->FileOf(place);
  if (file.empty()) return index > 0 ? "iteration " + std::to_string(index) : "";
  return "iteration " + std::to_string(index) + " ('" + file + "')";
}

Result<std::optional<TensorMap>> FeedStream::Next() {
  return steps_ ? steps_->Next([this] { return NextWhole(); }) : NextWhole();
}

Result<std::optional<TensorMap>> FeedStream::NextWhole() {
  const LogArea area(logger_, log_area::kDataLoader);
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, producer_->Next());
  const bool is_first = !std::exchange(any_, true);
  const bool none_for_any_shard = shard_.wanted() && producer_->total() == 0;
  const std::string why = producer_->WhyNone();
  if (!feed && is_first && !why.empty() && (!may_be_empty_ || none_for_any_shard)) {
    return Malformed("there is nothing to run: " + why);
  }
  return feed;
}

const TensorMap* FeedStream::Prepare(size_t behind) {
  if (steps_ != nullptr) return steps_->Prepare(behind);
  return behind > 0 ? nullptr : producer_->Prepare();
}

void FeedStream::PrepareOneMore() { producer_->PrepareOneMore(); }

std::optional<int64_t> FeedStream::CountSequences() const {
  const bool known = steps_ != nullptr && producer_->images() == nullptr;
  return known ? producer_->Count() : std::nullopt;
}

std::optional<int64_t> FeedStream::CountSteps() const {
  const std::optional<int64_t> sequences = CountSequences();
  const std::optional<int64_t> steps = steps_ ? steps_->steps() : std::nullopt;
  int64_t count = 0;
  const bool known = sequences && steps && !__builtin_mul_overflow(*sequences, *steps, &count);
  return known ? std::optional(count) : std::nullopt;
}

std::optional<int64_t> FeedStream::CountAsked() {
  const std::optional<int64_t> known = expected();
  return known || steps_ != nullptr ? known : producer_->CountAll();
}

std::optional<int64_t> FeedStream::expected() const {
  const bool in_steps = steps_ != nullptr && (!shard_.wanted() || producer_->images() != nullptr);
  return in_steps ? CountSteps() : producer_->CountOwn();
}

}  // namespace vernier
