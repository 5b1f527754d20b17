#include "inputs/random_feeds.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "inputs/memory_room.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

void WriteNotes(const std::vector<FeedNote>& notes, Logger& logger) {
  for (const FeedNote& note : notes) {
    if (note.once) {
      logger.Once(note.severity, note.text);
    } else {
      logger.Log(note.severity, note.text);
    }
  }
}

// Polygraphy's remark on shapes for an input that does not exist.
std::string UnmatchedShapeText(const std::string& key, std::span<const std::string> inputs) {
  if (key.find_first_of("*?[]!") != std::string::npos) {
    return "Input tensor wildcard: " + key +
           " | Metadata was provided, but none of the matched inputs exist in one or more runners.";
  }
  std::string text =
      "Input tensor: " + key +
      " | Metadata was provided, but the input does not exist in one or more runners.";
  const std::string wanted = ToLower(key);
  for (const std::string& input : inputs) {
    const std::string candidate = ToLower(input);
    if (candidate.find(wanted) != std::string::npos ||
        wanted.find(candidate) != std::string::npos) {
      return text + "\nMaybe you meant to set: " + input + "?";
    }
  }
  return text;
}

// Python prints sets in no fixed order; ours is the order of the command line and the model.
std::string FormatSet(std::span<const std::string> items) {
  std::string text = FormatPythonList(items);
  text.front() = '{';
  text.back() = '}';
  return text;
}

Status UnknownName(const std::string& flag, const std::string& name,
                   std::span<const std::string> inputs) {
  if (name.empty()) {
    const std::string input = inputs.empty() ? "NAME" : inputs.front();
    return Malformed(flag + ": a shape is for an input; write its name before it, as in " + input +
                     ":[2,3]; the model's inputs are " + FormatPythonList(inputs));
  }
  return Malformed(flag + ": no input is called '" + name + "'; the model's inputs are " +
                   FormatPythonList(inputs));
}

bool HasFixedShape(const TensorInfo& input) {
  return input.shape && std::ranges::none_of(*input.shape, &Dim::dynamic);
}

Status CheckRoomFor(std::span<const std::optional<uint64_t>> sizes, bool fixed) {
  uint64_t total = 0;
  for (const std::optional<uint64_t>& size : sizes) {
    const uint64_t left = std::numeric_limits<uint64_t>::max() - total;
    total += std::min(size.value_or(0), left);
  }
  return CheckMemoryRoom(total, "the inputs", fixed);
}

/// The inputs of a large feed, side by side in memory that other processes can map.
class FeedMemory {
 public:
  /// `sizes` of the inputs in bytes, nullopt for texts. Nothing is placed where the feed is small,
  /// holds texts, or where there is no such memory: then the inputs lie wherever there is room.
  explicit FeedMemory(std::span<const std::optional<uint64_t>> sizes) {
    constexpr uint64_t kWorthPlacing = uint64_t{1} << 20;
    uint64_t total = 0;
    for (const std::optional<uint64_t>& size : sizes) {
      if (!size || *size > std::numeric_limits<uint64_t>::max() / 2 - total) return;
      total += Rounded(*size);
    }
    if (total < kWorthPlacing) return;
    const Result<std::shared_ptr<SharedMemory>> memory = SharedMemory::Create();
    if (!memory.ok()) return;
    const Result<std::span<std::byte>> place = (*memory)->Reserve(static_cast<size_t>(total));
    if (!place.ok() || !(*memory)->MakeHugePages(*place).ok()) return;
    memory_ = *memory;
    rest_ = *place;
  }

  /// The place of the next input.
  std::optional<TensorPlace> Next(std::optional<uint64_t> size) {
    if (memory_ == nullptr) return std::nullopt;
    const TensorPlace place{memory_, rest_.first(static_cast<size_t>(*size))};
    rest_ = rest_.subspan(static_cast<size_t>(Rounded(*size)));
    return place;
  }

  /// After this the inputs can be read.
  Status Seal() { return memory_ != nullptr ? memory_->Seal() : Status(); }

 private:
  static uint64_t Rounded(uint64_t size) { return (size + 63) / 64 * 64; }

  std::shared_ptr<SharedMemory> memory_;
  std::span<std::byte> rest_;
};

}  // namespace

Result<RandomFeeds> RandomFeeds::Create(RandomFeedOptions options, std::vector<TensorInfo> inputs) {
  RandomFeeds feeds;
  feeds.options_ = std::move(options);
  std::vector<ShapeSpec>& shapes = feeds.options_.shapes;
  if (feeds.options_.strictness == Strictness::kPolygraphy) shapes = KeepLastShapes(shapes);
  VERNIER_TRY(feeds.ResolveInputs(std::move(inputs)));
  VERNIER_TRY(feeds.CheckNames());
  return feeds;
}

Status RandomFeeds::ResolveInputs(std::vector<TensorInfo> inputs) {
  for (TensorInfo& info : inputs) {
    std::vector<const ShapeSpec*> specs;
    if (const ShapeSpec* first = FirstShapeFor(options_.shapes, info.name)) {
      for (const ShapeSpec& spec : options_.shapes) {
        if (spec.name == first->name) specs.push_back(&spec);
      }
    } else {
      specs.push_back(nullptr);
    }
    Input input{std::move(info), {}};
    for (const ShapeSpec* spec : specs) {
      VERNIER_ASSIGN_OR_RETURN(FeedShape shape,
                               ResolveFeedShape(input.info, spec, options_.strictness));
      input.shapes.push_back(std::move(shape));
      if (spec == nullptr || !spec->dtype || *spec->dtype == input.info.dtype) continue;
      return Malformed("--input-shapes: input '" + input.info.name + "' is " +
                       std::string(DTypeName(input.info.dtype)) + " in the model, not " +
                       std::string(DTypeName(*spec->dtype)));
    }
    inputs_.push_back(std::move(input));
  }
  return {};
}

Status RandomFeeds::CheckNames() {
  const bool strict = options_.strictness == Strictness::kStrict;
  std::vector<std::string> names;
  for (const Input& input : inputs_) names.push_back(input.info.name);

  std::vector<std::string> seen;
  for (const ShapeSpec& spec : options_.shapes) {
    const auto matches = [&](const std::string& input) { return MeansInput(spec.name, input); };
    const bool repeated = std::find(seen.begin(), seen.end(), spec.name) != seen.end();
    if (repeated || std::any_of(names.begin(), names.end(), matches)) continue;
    if (strict) return UnknownName("--input-shapes", spec.name, names);
    seen.push_back(spec.name);
    notes_before_.push_back({.text = UnmatchedShapeText(spec.name, names)});
  }

  std::vector<std::string> requested = names;
  requested.emplace_back();
  std::vector<std::string> given;
  std::vector<std::string> extra;
  for (const NamedRange& range : options_.ranges) {
    given.push_back(range.name);
    const bool known = std::find(requested.begin(), requested.end(), range.name) != requested.end();
    if (!known) extra.push_back(range.name);
  }
  if (extra.empty()) return {};
  if (strict) return UnknownName("--val-range", extra.front(), names);
  notes_after_.push_back({.text = "Extra items in val_range: " + FormatSet(extra) +
                                  ".\nNote: items requested were: " + FormatSet(requested) +
                                  ", but all items are: " + FormatSet(given)});
  return {};
}

Result<TensorMap> RandomFeeds::Make(int64_t iteration, Logger& logger) const {
  int64_t seed = 0;
  const bool overflow = __builtin_add_overflow(options_.seed, iteration, &seed);
  const std::vector<std::optional<uint64_t>> sizes = SizesOf(iteration);
  const bool fixed =
      std::ranges::all_of(inputs_, [](const Input& input) { return HasFixedShape(input.info); });
  VERNIER_TRY(CheckRoomFor(sizes, fixed));
  if (!overflow && options_.drawer != nullptr) return MakeElsewhere(seed, iteration, logger);
  if (overflow || seed < 0 || seed > std::numeric_limits<uint32_t>::max()) {
    return InvalidArgument("--seed: expected seed + iteration between 0 and 2**32 - 1, got " +
                           std::to_string(options_.seed) + " + " + std::to_string(iteration));
  }
  logger.Verbose("Generating data using numpy seed: " + std::to_string(seed));
  NumpyRandom random(static_cast<uint32_t>(seed));
  WriteNotes(notes_before_, logger);
  FeedMemory memory(sizes);
  TensorMap feed;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const std::optional<TensorPlace> place = memory.Next(sizes[i]);
    Result<Tensor> tensor = MakeInput(input, iteration, random, logger, place ? &*place : nullptr);
    if (!tensor.ok()) return std::move(tensor).Annotate("input '" + input.info.name + "'").status();
    feed.push_back({input.info.name, *std::move(tensor)});
  }
  VERNIER_TRY(memory.Seal());
  WriteNotes(notes_after_, logger);
  return feed;
}

// In bytes; nullopt for texts, and for what no memory has room for.
std::vector<std::optional<uint64_t>> RandomFeeds::SizesOf(int64_t iteration) const {
  std::vector<std::optional<uint64_t>> sizes;
  for (const Input& input : inputs_) {
    const FeedShape& shape = ShapeOf(input, iteration);
    const auto count = shape.values ? std::optional(static_cast<int64_t>(shape.values->size()))
                                    : ElementCount(shape.dims);
    sizes.push_back(count ? ByteSize(input.info.dtype, static_cast<uint64_t>(*count))
                          : std::nullopt);
  }
  return sizes;
}

const FeedShape& RandomFeeds::ShapeOf(const Input& input, int64_t iteration) {
  return input.shapes[static_cast<size_t>(iteration) % input.shapes.size()];
}

Result<TensorMap> RandomFeeds::MakeElsewhere(int64_t seed, int64_t iteration,
                                             Logger& logger) const {
  logger.Verbose("Generating data using numpy seed: " + std::to_string(seed));
  WriteNotes(notes_before_, logger);
  TensorMap feed;
  std::vector<DrawRequest> requests;
  std::vector<size_t> places;
  for (const Input& input : inputs_) {
    const FeedShape& shape = ShapeOf(input, iteration);
    WriteNotes(shape.notes, logger);
    feed.push_back({input.info.name, Tensor()});
    if (shape.values) {
      VERNIER_ASSIGN_OR_RETURN(feed.back().tensor, IntegerTensor(input.info.dtype, *shape.values));
      continue;
    }
    places.push_back(feed.size() - 1);
    Result<ValueRange> range = Announce(input, logger);
    if (!range.ok()) return std::move(range).Annotate("input '" + input.info.name + "'").status();
    requests.push_back({input.info.name, input.info.dtype, shape.dims, *range});
  }
  VERNIER_ASSIGN_OR_RETURN(TensorMap drawn, options_.drawer->Draw(seed, requests));
  for (size_t i = 0; i < places.size(); ++i) {
    feed[places[i]].tensor = std::move(drawn[i].tensor);
  }
  WriteNotes(notes_after_, logger);
  return feed;
}

// The range that an input is drawn from, which is logged once.
Result<ValueRange> RandomFeeds::Announce(const Input& input, Logger& logger) const {
  const ValueRange range = RangeFor(options_.ranges, input.info.name);
  if (options_.strictness == Strictness::kStrict) {
    VERNIER_TRY(CheckFloatRange(input.info.dtype, range));
  }
  logger.Once(Severity::kVerbose, "Input tensor: " + input.info.name +
                                      " | Generating input data in range: " +
                                      FormatDrawnRange(input.info.dtype, range));
  return range;
}

Result<Tensor> RandomFeeds::MakeInput(const Input& input, int64_t iteration, NumpyRandom& random,
                                      Logger& logger, const TensorPlace* place) const {
  const FeedShape& shape = ShapeOf(input, iteration);
  const DType dtype = input.info.dtype;
  WriteNotes(shape.notes, logger);
  if (shape.values) {
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, IntegerTensor(dtype, *shape.values));
    return place != nullptr ? MoveTo(*place, tensor) : Result<Tensor>(std::move(tensor));
  }
  const auto sample = std::find_if(options_.samples.begin(), options_.samples.end(),
                                   [&](const NamedSample& s) { return s.name == input.info.name; });
  if (sample != options_.samples.end()) {
    VERNIER_ASSIGN_OR_RETURN(Tensor drawn, sample->values.Draw(dtype, shape.dims, random));
    return place != nullptr ? MoveTo(*place, drawn) : Result<Tensor>(std::move(drawn));
  }
  VERNIER_ASSIGN_OR_RETURN(const ValueRange range, Announce(input, logger));
  Result<Tensor> tensor = DrawTensor(dtype, shape.dims, range, random, place);
  if (tensor.ok() || tensor.status().code() != StatusCode::kInternal) return tensor;
  return Malformed("shape " + FormatDims(shape.dims) + " does not fit into memory (" +
                   tensor.status().message() + "); give a smaller one with --input-shapes");
}

}  // namespace vernier
