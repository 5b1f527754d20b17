#include "run/saved/flip_feeds.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "io/results/feed_writer.h"
#include "io/results/results_writer.h"

namespace vernier {
namespace {

// What a script or a decoder made is in the memory of its worker.
Result<TensorMap> CopyFlipFeed(const TensorMap& feed) {
  TensorMap copies;
  for (const auto& [name, tensor] : feed) {
    if (tensor.dtype() == DType::kString) {  // never in shared memory
      copies.push_back({name, tensor});
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(Tensor copy,
                             Tensor::Copy(tensor.dtype(), tensor.dims(), tensor.bytes()));
    copies.push_back({name, std::move(copy)});
  }
  return copies;
}

}  // namespace

std::string FlipOutputsPath(const std::string& path) {
  std::filesystem::path outputs(path);
  outputs.replace_extension(".outputs" + outputs.extension().string());
  return outputs.string();
}

Result<IterationOutputs> CopyOutputs(const IterationOutputs& outputs) {
  IterationOutputs copies = outputs;
  for (std::optional<IterationResult>& side : copies) {
    if (!side) continue;
    VERNIER_ASSIGN_OR_RETURN(side->outputs, CopyFlipFeed(side->outputs));
  }
  return copies;
}

Status FlipFeeds::Keep(int64_t iteration, const TensorMap& feed, const IterationOutputs& outputs,
                       std::span<const int64_t> worst, DeviceMeasure* device) {
  const auto is_past = [&](const auto& kept) {
    return std::ranges::find(worst, kept.first) == worst.end();
  };
  std::erase_if(feeds_, is_past);
  std::erase_if(outputs_, is_past);
  if (std::ranges::find(worst, iteration) == worst.end()) return {};
  for (const std::optional<IterationResult>& side : outputs) {
    if (!side || device == nullptr) continue;
    for (const NamedTensor& output : side->outputs) VERNIER_TRY(device->Fetch(output.tensor));
  }
  feeds_[iteration] = feed;
  outputs_[iteration] = outputs;
  return {};
}

std::vector<int64_t> FlipFeeds::iterations(std::span<const int64_t> worst) const {
  std::vector<int64_t> order;
  for (const int64_t iteration : worst) {
    if (feeds_.contains(iteration)) order.push_back(iteration);
  }
  for (const auto& [iteration, feed] : feeds_) {
    if (std::ranges::find(worst, iteration) == worst.end()) order.push_back(iteration);
  }
  return order;
}

Status FlipFeeds::Save(const std::string& path, std::span<const int64_t> order) const {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<FeedWriter> writer, FeedWriter::Create(path));
  for (const int64_t iteration : order) VERNIER_TRY(writer->Append(feeds_.at(iteration)));
  return writer->FinishOrDiscard();
}

Result<FlipInputs> FlipFeeds::Copy(std::span<const int64_t> iterations) const {
  FlipInputs inputs;
  for (const int64_t iteration : iterations) {
    const auto kept = feeds_.find(iteration);
    if (kept == feeds_.end()) continue;
    VERNIER_ASSIGN_OR_RETURN(TensorMap copy, CopyFlipFeed(kept->second));
    inputs.iterations.push_back(iteration);
    inputs.feeds.push_back(std::move(copy));
  }
  return inputs;
}

Status FlipFeeds::SaveOutputs(const std::string& path, const std::vector<std::string>& names,
                              std::span<const int64_t> order,
                              std::vector<std::string>& left_out) const {
  std::vector<size_t> streams;
  std::vector<std::string> saved;
  for (size_t stream = 0; stream < names.size(); ++stream) {
    const bool whole = std::ranges::all_of(outputs_, [&](const auto& kept) {
      return stream < kept.second.size() && kept.second[stream].has_value();
    });
    (whole ? saved : left_out).push_back(names[stream]);
    if (whole) streams.push_back(stream);
  }
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<ResultsWriter> writer,
                           ResultsWriter::Create(path, saved));
  for (const int64_t iteration : order) {
    const IterationOutputs& outputs = outputs_.at(iteration);
    for (size_t i = 0; i < streams.size(); ++i) {
      VERNIER_TRY(writer->Append(i, *outputs[streams[i]]));
    }
  }
  return writer->PublishOrDiscard(order.size());
}

}  // namespace vernier
