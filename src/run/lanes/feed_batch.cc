#include "run/lanes/feed_batch.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "io/bytes/checksum.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::string OfIteration(int64_t iteration) { return " of iteration " + std::to_string(iteration); }

std::string NameOf(const std::string& kind, const std::string& name) {
  return kind + " '" + name + "'";
}

bool FillsBytes(const Tensor& tensor) {
  return tensor.dtype() == DType::kString ||
         tensor.element_count() * BitsOf(tensor.dtype()) % 8 == 0;
}

// What the first of the feeds is like.
Result<int64_t> RowsOfFirst(const FeedBatch& batch) {
  std::optional<int64_t> rows;
  for (const auto& [name, tensor] : batch.feeds.front()) {
    const std::string which = NameOf("input", name) + OfIteration(batch.first);
    if (tensor.dims().empty()) {
      return InvalidArgument(which + " is a scalar, which has no first dimension");
    }
    const int64_t first = tensor.dims().front();
    if (rows && *rows != first) {
      const NamedTensor& other = batch.feeds.front().front();
      return InvalidArgument(which + " has the shape " + FormatDims(tensor.dims()) + ", and '" +
                             other.name + "' " + FormatDims(other.tensor.dims()) +
                             ": all inputs of a feed need the same first dimension");
    }
    rows = first;
    if (batch.feeds.size() > 1 && !FillsBytes(tensor)) {
      return InvalidArgument(which +
                             " has an odd number of 4-bit elements: two feeds would share a byte");
    }
  }
  return rows.value_or(0);
}

Status CheckAlike(const FeedBatch& batch, size_t place) {
  const TensorMap& first = batch.feeds.front();
  const TensorMap& feed = batch.feeds[place];
  const int64_t iteration = batch.first + static_cast<int64_t>(place);
  for (const auto& [name, tensor] : first) {
    const Tensor* const other = Find(feed, name);
    const std::string which = NameOf("input", name);
    if (other == nullptr) {
      return InvalidArgument(which + " is absent in iteration " + std::to_string(iteration));
    }
    if (other->dims() != tensor.dims()) {
      return InvalidArgument(
          which + " has the shape " + FormatDims(tensor.dims()) + " in iteration " +
          std::to_string(batch.first) + " and " + FormatDims(other->dims()) + " in iteration " +
          std::to_string(iteration) + ": feeds of one inference need equal shapes");
    }
    if (other->dtype() != tensor.dtype()) {
      return InvalidArgument(which + " is " + std::string(DTypeName(tensor.dtype())) +
                             " in iteration " + std::to_string(batch.first) + " and " +
                             std::string(DTypeName(other->dtype())) + " in iteration " +
                             std::to_string(iteration));
    }
  }
  if (feed.size() == first.size()) return {};
  return InvalidArgument("iteration " + std::to_string(iteration) + " has " +
                         std::to_string(feed.size()) + " inputs, and iteration " +
                         std::to_string(batch.first) + " " + std::to_string(first.size()));
}

Dims RowsTogether(Dims dims, size_t count) {
  dims.front() *= static_cast<int64_t>(count);
  return dims;
}

Result<Tensor> JoinStrings(const FeedBatch& batch, const std::string& name) {
  std::vector<std::string> values;
  for (const TensorMap& feed : batch.feeds) {
    const Tensor& tensor = *Find(feed, name);
    for (int64_t i = 0; i < tensor.element_count(); ++i) values.emplace_back(tensor.StringAt(i));
  }
  return Tensor::FromStrings(
      RowsTogether(Find(batch.feeds.front(), name)->dims(), batch.feeds.size()), values);
}

// Where the bytes of all feeds are copied to, once.
Status CopyFeeds(const FeedBatch& batch, const std::string& name, std::span<std::byte> place) {
  for (const TensorMap& feed : batch.feeds) {
    const std::span<const std::byte> bytes = Find(feed, name)->bytes();
    if (bytes.size() > place.size()) return Internal("the bytes of a batch do not fit");
    if (!bytes.empty()) std::memcpy(place.data(), bytes.data(), bytes.size());
    place = place.subspan(bytes.size());
  }
  return {};
}

std::optional<Dim> FirstDim(const TensorInfo& info) {
  if (!info.shape || info.shape->empty()) return std::nullopt;
  return info.shape->front();
}

Status CheckFree(const std::string& kind, const TensorInfo& info) {
  if (!info.shape) return {};
  const std::string which = NameOf(kind, info.name) + " has the shape " + FormatShape(info.shape);
  if (info.shape->empty()) return InvalidArgument(which + ", and no first dimension");
  if (info.shape->front().dynamic()) return {};
  return InvalidArgument(which + ", whose first dimension is fixed");
}

Result<Tensor> RowsOf(const NamedTensor& output, int64_t place, int64_t count, int64_t rows) {
  const Tensor& whole = output.tensor;
  Dims dims = whole.dims();
  dims.front() = rows;
  const int64_t elements = whole.element_count() / count;
  if (whole.dtype() == DType::kString) {
    std::vector<std::string> values;
    for (int64_t i = 0; i < elements; ++i) {
      values.emplace_back(whole.StringAt(place * elements + i));
    }
    return Tensor::FromStrings(std::move(dims), values);
  }
  if (count > 1 && elements * BitsOf(whole.dtype()) % 8 != 0) {
    return InvalidArgument(NameOf("output", output.name) + " has the shape " +
                           FormatDims(whole.dims()) +
                           " and 4-bit elements: two feeds would share a byte");
  }
  const size_t size = whole.bytes().size() / static_cast<size_t>(count);
  return Tensor::Wrap(whole.dtype(), std::move(dims),
                      whole.bytes().subspan(static_cast<size_t>(place) * size, size),
                      std::make_shared<Tensor>(whole));
}

}  // namespace

Result<int64_t> RowsOfFeeds(const FeedBatch& batch) {
  VERNIER_ASSIGN_OR_RETURN(const int64_t rows, RowsOfFirst(batch));
  for (size_t i = 1; i < batch.feeds.size(); ++i) VERNIER_TRY(CheckAlike(batch, i));
  return rows;
}

Result<TensorBlock> EncodeBatch(const FeedBatch& batch, LentMemory* lent) {
  const size_t count = batch.feeds.size();
  if (count == 1) return EncodeTensors(batch.feeds.front(), lent);
  TensorBlockBuilder builder;
  builder.Borrow(lent);
  std::vector<Tensor> texts;
  texts.reserve(batch.feeds.front().size());  // the builder refers to their bytes
  for (const NamedTensor& input : batch.feeds.front()) {
    const Tensor& tensor = input.tensor;
    const Dims dims = RowsTogether(tensor.dims(), count);
    if (tensor.dtype() == DType::kString) {
      VERNIER_ASSIGN_OR_RETURN(Tensor joined, JoinStrings(batch, input.name));
      texts.push_back(std::move(joined));
      builder.Add(input.name, DType::kString, dims, texts.back().bytes());
      continue;
    }
    builder.AddFilled(input.name, tensor.dtype(), dims, tensor.bytes().size() * count,
                      [&batch, &input](std::span<std::byte> place) {
                        return CopyFeeds(batch, input.name, place);
                      });
  }
  return builder.Finish();
}

Result<InputHashes> HashBatch(const FeedBatch& batch) {
  InputHashes hashes;
  for (const NamedTensor& input : batch.feeds.front()) {
    Checksum checksum;
    if (batch.feeds.size() > 1 && input.tensor.dtype() == DType::kString) {
      VERNIER_ASSIGN_OR_RETURN(const Tensor joined, JoinStrings(batch, input.name));
      checksum.Add(joined.bytes());
    } else {
      for (const TensorMap& feed : batch.feeds) checksum.Add(Find(feed, input.name)->bytes());
    }
    hashes.emplace_back(input.name, checksum.value());
  }
  return hashes;
}

Status CheckBatchSession(const SessionDescription& session) {
  if (session.keeps_state) {
    return InvalidArgument("the model keeps state inside, which is reset before each inference");
  }
  if (!session.nested_inputs.empty()) {
    return InvalidArgument(NameOf("input", session.nested_inputs.front()) +
                           " is a sequence, a map or optional, no tensor");
  }
  if (!session.nested_outputs.empty()) {
    return InvalidArgument(NameOf("output", session.nested_outputs.front()) +
                           " is a sequence, a map or optional, no tensor");
  }
  for (const TensorInfo& input : session.inputs) VERNIER_TRY(CheckFree("input", input));
  for (const TensorInfo& output : session.outputs) VERNIER_TRY(CheckFree("output", output));
  return {};
}

bool DeclaresRows(const SessionDescription& session) {
  std::set<std::string> names;
  for (const TensorInfo& input : session.inputs) {
    if (const std::optional<Dim> first = FirstDim(input)) names.insert(first->symbol);
  }
  names.erase("");
  return !session.outputs.empty() &&
         std::ranges::all_of(session.outputs, [&](const TensorInfo& output) {
           const std::optional<Dim> first = FirstDim(output);
           return first && first->dynamic() && names.contains(first->symbol);
         });
}

Status CheckRows(const TensorMap& outputs, int64_t count, int64_t rows) {
  for (const auto& [name, tensor] : outputs) {
    if (!tensor.dims().empty() && tensor.dims().front() == count * rows) continue;
    return InvalidArgument(NameOf("output", name) + " has the shape " + FormatDims(tensor.dims()) +
                           " for " + Counted(count, "feed") + " of " + Counted(rows, "row") +
                           ": its first dimension is not the batch");
  }
  return {};
}

Result<std::vector<Worker::Outcome>> DivideOutcome(const Worker::Outcome& whole, int64_t count,
                                                   int64_t rows) {
  VERNIER_TRY(CheckRows(whole.outputs.tensors, count, rows));
  std::vector<Worker::Outcome> parts(static_cast<size_t>(count));
  for (size_t i = 0; i < parts.size(); ++i) {
    Worker::Outcome& part = parts[i];
    part.inference_seconds = whole.inference_seconds / static_cast<double>(count);
    part.received = whole.received;
    part.outputs.skipped = whole.outputs.skipped;
    for (const NamedTensor& output : whole.outputs.tensors) {
      VERNIER_ASSIGN_OR_RETURN(Tensor own, RowsOf(output, static_cast<int64_t>(i), count, rows));
      part.outputs.tensors.push_back({output.name, std::move(own)});
    }
  }
  return parts;
}

}  // namespace vernier
