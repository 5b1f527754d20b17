#include "run/feeds/feed_stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "run/feeds/feed_plan.h"
#include "run/feeds/shard_names.h"
#include "util/values/counted.h"

namespace vernier {
namespace {

// Of a feed that is made before its turn, and may be sent then: it is there twice for a while.
constexpr size_t kMostAhead = size_t{8} << 20;

size_t SizeOf(const TensorMap& feed) {
  size_t size = 0;
  for (const NamedTensor& input : feed) size += input.tensor.bytes().size();
  return size;
}

}  // namespace

Result<std::unique_ptr<FeedStream>> FeedStream::Open(const RunPlan& plan,
                                                     std::span<const TensorInfo> inputs,
                                                     const PythonFeeds& python, Logger& logger) {
  std::unique_ptr<FeedStream> stream(new FeedStream(logger));
  stream->may_be_empty_ = plan.lenient || plan.shard.wanted();
  stream->shard_ = plan.ShardOfFeeds();
  if (python.script != nullptr) {
    VERNIER_TRY(stream->OpenScript(plan, inputs, *python.script));
    return stream;
  }
  if (!plan.inputs.load_paths.empty()) {
    VERNIER_TRY(stream->OpenLoaded(plan, inputs));
    return stream;
  }
  const Strictness strictness = plan.lenient ? Strictness::kPolygraphy : Strictness::kStrict;
  RandomFeedOptions options;
  options.seed = plan.inputs.seed;
  options.iterations = plan.inputs.iterations.value_or(1);
  options.strictness = strictness;
  options.drawer = python.drawer;
  VERNIER_ASSIGN_OR_RETURN(options.ranges, ParseValueRanges(plan.inputs.range_words));
  VERNIER_ASSIGN_OR_RETURN(options.shapes, ParseShapeSpecs(plan.inputs.shape_words, strictness));
  VERNIER_TRY(AddFeedSources(plan, inputs, options, logger));
  VERNIER_ASSIGN_OR_RETURN(RandomFeeds feeds,
                           RandomFeeds::Create(std::move(options), {inputs.begin(), inputs.end()}));
  stream->random_.emplace(std::move(feeds));
  stream->total_ = stream->random_->count();
  stream->drawn_elsewhere_ = python.drawer != nullptr;
  return stream;
}

// Of a shard only its own feeds are made, where each can be asked for.
Status FeedStream::OpenScript(const RunPlan& plan, std::span<const TensorInfo> inputs,
                              ScriptFeeds& script) {
  script_ = &script;
  inputs_.assign(inputs.begin(), inputs.end());
  if (!plan.shard.wanted()) return {};
  VERNIER_ASSIGN_OR_RETURN(total_, script.CountAhead(inputs_));
  if (total_) return {};
  passes_over_ = true;
  total_ = plan.inputs.iterations;
  if (!total_ && plan.shard.rule == ShardRule::kContiguous) {
    return InvalidArgument(
        "--shard: the data loader script returns nothing that has feeds by index (a list, or an "
        "object with __len__ and __getitem__ and no __iter__), so their number is not known: give "
        "it with --iterations, or --shard-by stride (every shard then goes through feeds of the "
        "others)");
  }
  logger_.Once(Severity::kWarning,
               "--shard: the data loader script generates the feeds of all shards in every shard,"
               " and those of other shards are skipped: an object with __len__ and __getitem__"
               " would generate only its own");
  return {};
}

Status FeedStream::OpenLoaded(const RunPlan& plan, std::span<const TensorInfo> inputs) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> images, FindImages(plan.inputs));
  if (!images.empty()) {
    if (plan.shard.wanted()) total_ = std::ssize(images);
    VERNIER_ASSIGN_OR_RETURN(images_, ImageFeeds::Open(plan, std::move(images), inputs, logger_));
    return {};
  }
  for (const TensorInfo& input : inputs) input_names_.push_back(input.name);
  if (!plan.lenient) VERNIER_TRY(CheckListedShards(plan.inputs.load_paths));
  VERNIER_ASSIGN_OR_RETURN(reader_, FeedReader::Open(plan.inputs.load_paths));
  if (plan.shard.wanted()) {
    VERNIER_ASSIGN_OR_RETURN(total_, reader_->CountAll());
  }
  return {};
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

// Of feeds that are passed over --iterations says how many there are, and the last shard whether
// that is true.
Result<std::optional<TensorMap>> FeedStream::GivenByScript() {
  const bool ends = total_ && next_ >= shard_.CountOf(*total_);
  if (ends && !passes_over_) VERNIER_TRY(script_->CheckCount(inputs_));
  if (ends && (!passes_over_ || shard_.number < shard_.count)) return std::optional<TensorMap>();
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed,
                           script_->Read(ends ? *total_ : IndexOf(next_), inputs_));
  if (const std::string less = feed ? "" : DescribeShortfall(); shard_.wanted() && !less.empty()) {
    return Malformed("--shard: " + less + ": shards are divided by the number of feeds");
  }
  if (!total_ || feed.has_value() != ends)
    return ends ? std::optional<TensorMap>() : std::move(feed);
  const int64_t made = script_->count().value_or(*total_ + 1);
  return Malformed("--iterations " + std::to_string(*total_) + ": the data loader script gives " +
                   (ends ? "more feeds" : "only " + std::to_string(made)) +
                   ", and shards are divided by that number: give the right one");
}

void FeedStream::KeepFile() {
  constexpr size_t kMostFiles = 4096;  // more than are read ahead
  if (reader_->KnowsTotal()) return;
  if (!files_.empty() && files_.back().second == reader_->current_path()) return;
  files_.emplace_back(next_, reader_->current_path());
  if (files_.size() > kMostFiles) files_.pop_front();
}

std::string FeedStream::FileOf(int64_t place) const {
  if (images_ != nullptr) {
    const std::vector<std::string>& names = images_->names();
    return static_cast<size_t>(place) < names.size() ? names[static_cast<size_t>(place)] : "";
  }
  const auto behind =
      std::ranges::upper_bound(files_, place, {}, [](const auto& known) { return known.first; });
  return behind == files_.begin() ? "" : std::prev(behind)->second;
}

// Of sequences a place is a step.
std::string FeedStream::NameOf(int64_t place) const {
  const int64_t index = steps_ != nullptr ? place : IndexOf(place);
  const std::string file = steps_ != nullptr ? "" : FileOf(place);
  if (file.empty()) return index > 0 ? "iteration " + std::to_string(index) : "";
  return "iteration " + std::to_string(index) + " ('" + file + "')";
}

std::string FeedStream::DescribeShortfall() const {
  const std::optional<int64_t> promised = script_ != nullptr ? script_->promised() : std::nullopt;
  if (!promised) return "";
  return "what the data loader script returned has the length " + std::to_string(*promised) +
         ", and gave " + Counted(static_cast<uint64_t>(script_->count().value_or(0)), "feed");
}

// A feed from a file, a script or the calling program.
Result<std::optional<TensorMap>> FeedStream::Given() {
  if (script_ != nullptr) return GivenByScript();
  if (images_ != nullptr) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, images_->Next());
    if (feed) logger_.Info("Loading input data from " + images_->names().back());
    return feed;
  }
  if (shard_.wanted()) {
    if (next_ >= shard_.CountOf(*total_)) return std::optional<TensorMap>();
    VERNIER_TRY(reader_->Skip(IndexOf(next_) - loaded_));
    loaded_ = IndexOf(next_) + 1;
  }
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, reader_->Next());
  if (feed) KeepFile();
  if (feed && reader_->current_path() != announced_path_) {
    announced_path_ = reader_->current_path();
    logger_.Info("Loading input data from " + announced_path_);
  }
  if (feed && reader_->positional()) {
    const std::string remark = NameByPosition(input_names_, *feed);
    if (!remark.empty()) logger_.Once(Severity::kWarning, "--load-inputs: " + remark);
  }
  return feed;
}

Result<std::optional<TensorMap>> FeedStream::Next() {
  return steps_ ? steps_->Next([this] { return NextWhole(); }) : NextWhole();
}

Result<std::optional<TensorMap>> FeedStream::NextWhole() {
  const LogArea area(logger_, log_area::kDataLoader);
  if (!random_) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, Given());
    const bool none_for_any_shard = shard_.wanted() && total_ == 0;
    if (!feed && next_ == 0 && (!may_be_empty_ || none_for_any_shard)) {
      return Malformed(std::string("there is nothing to run: ") +
                       (script_ != nullptr ? "the data loader gave no feed"
                                           : "the files of loaded inputs hold no feed"));
    }
    ++next_;
    return feed;
  }
  if (next_ >= CountDrawn()) return std::optional<TensorMap>();
  if (prepared_.empty()) {
    VERNIER_ASSIGN_OR_RETURN(TensorMap feed, random_->Make(IndexOf(next_++), logger_));
    last_size_ = SizeOf(feed);
    return std::optional<TensorMap>(std::move(feed));
  }
  Prepared prepared = std::move(prepared_.front());
  prepared_.pop_front();
  prepared.log.WriteTo(logger_);
  VERNIER_ASSIGN_OR_RETURN(TensorMap feed, std::move(prepared.feed));
  ++next_;
  return std::optional<TensorMap>(std::move(feed));
}

void FeedStream::Make(int64_t place) {
  HeldLog log;
  Result<TensorMap> feed = random_->Make(IndexOf(place), log);
  if (feed.ok()) last_size_ = SizeOf(*feed);
  prepared_.push_back({std::move(feed), std::move(log)});
}

const TensorMap* FeedStream::Prepare(size_t behind) {
  if (steps_ != nullptr) return steps_->Prepare(behind);
  if (behind > 0) return nullptr;
  if (prepared_.empty()) {
    const bool wanted = random_ && !drawn_elsewhere_ && next_ > 0 && next_ < CountDrawn() &&
                        last_size_ <= kMostAhead;
    if (!wanted) return nullptr;
    Make(next_);
  }
  return prepared_.front().feed.ok() ? &*prepared_.front().feed : nullptr;
}

void FeedStream::PrepareOneMore() {
  constexpr size_t kMostTwice = size_t{2} << 20;
  const bool wanted = prepared_.size() == 1 && next_ + 1 < CountDrawn() && last_size_ <= kMostTwice;
  if (wanted) Make(next_ + 1);
}

std::optional<int64_t> FeedStream::CountSequences() const {
  if (steps_ == nullptr) return std::nullopt;
  if (random_) return random_->count();
  return reader_ != nullptr ? reader_->Total() : std::nullopt;
}

std::optional<int64_t> FeedStream::CountSteps() const {
  const std::optional<int64_t> sequences = CountSequences();
  const std::optional<int64_t> steps = steps_ ? steps_->steps() : std::nullopt;
  int64_t count = 0;
  const bool known = sequences && steps && !__builtin_mul_overflow(*sequences, *steps, &count);
  return known ? std::optional(count) : std::nullopt;
}

std::optional<int64_t> FeedStream::CountAsked() {
  std::optional<int64_t> known = expected();
  if (known || reader_ == nullptr || steps_ != nullptr) return known;
  const Result<int64_t> counted = reader_->CountAll();
  return counted.ok() ? std::optional(*counted) : std::nullopt;
}

std::optional<int64_t> FeedStream::expected() const {
  if (shard_.wanted() && total_ && images_ == nullptr) return shard_.CountOf(*total_);
  if (!random_) {
    if (steps_ != nullptr) return CountSteps();
    if (images_ != nullptr) return images_->Total();
    return reader_ != nullptr ? reader_->Total() : std::nullopt;
  }
  return steps_ ? CountSteps() : random_->count();
}

}  // namespace vernier
