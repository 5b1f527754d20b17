#include "data/joining.h"

#include <algorithm>
#include <memory>

#include "data/data_files.h"
#include "io/results/feed_writer.h"
#include "util/process/interruption.h"

namespace vernier {
namespace {

// One stream of iterations: a file of inputs, or one runner of outputs.
struct Stream {
  const DataSource* source;
  size_t run;
  size_t iterations;
};

std::vector<Stream> StreamsOf(const std::vector<DataSource>& sources) {
  std::vector<Stream> streams;
  for (const DataSource& source : sources) {
    const std::vector<SavedRun>& runs = source.tensors.reader->runs();
    for (size_t run = 0; run < runs.size(); ++run) {
      streams.push_back({&source, run, runs[run].iterations});
    }
  }
  return streams;
}

// The longest stream's iterations. Shorter ones leave the last iterations incomplete.
size_t CountIterations(const std::vector<Stream>& streams, Logger& log) {
  size_t longest = 0;
  for (const Stream& stream : streams) {
    if (longest != 0 && longest != stream.iterations) {
      log.Warning(
          "The provided files have different numbers of iterations.\nNote: Inputs currently"
          " contains " +
          std::to_string(longest) + " iterations, but the data in " + stream.source->path +
          " contains " + std::to_string(stream.iterations) +
          " iterations. Some iterations will contain incomplete data. ");
    }
    longest = std::max(longest, stream.iterations);
  }
  return longest;
}

// A name that is there keeps its place and takes the new value, as in a Python dictionary.
void Update(TensorMap& feed, TensorMap tensors, const std::string& path, Logger& log) {
  for (NamedTensor& tensor : tensors) {
    const auto known = std::find_if(feed.begin(), feed.end(), [&](const NamedTensor& other) {
      return other.name == tensor.name;
    });
    if (known == feed.end()) {
      feed.push_back(std::move(tensor));
      continue;
    }
    log.Once(Severity::kWarning,
             "Overwriting input '" + tensor.name + "' while merging data from " + path +
                 ". If you intended to concatenate iterations, consider using `data concat` "
                 "instead.");
    known->tensor = std::move(tensor.tensor);
  }
}

Status AppendAll(const std::vector<Stream>& streams, size_t iterations, FeedWriter& writer,
                 const std::atomic<int>& interrupted, Logger& log) {
  for (size_t i = 0; i < iterations; ++i) {
    VERNIER_TRY(CheckInterrupted(interrupted));
    TensorMap feed;
    for (const Stream& stream : streams) {
      if (i >= stream.iterations) continue;
      VERNIER_ASSIGN_OR_RETURN(IterationResult result,
                               stream.source->tensors.reader->Read(stream.run, i));
      Update(feed, std::move(result.outputs), stream.source->path, log);
    }
    VERNIER_TRY(writer.Append(feed));
  }
  return {};
}

}  // namespace

Status MergeData(const DataJoinPlan& plan, const std::atomic<int>& interrupted, Logger& log) {
  const std::string& output = plan.output;
  if (!plan.may_replace) VERNIER_TRY(CheckNotRead(output, plan.paths));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<DataSource> sources, OpenDataSources(plan.paths));
  const std::vector<Stream> streams = StreamsOf(sources);
  const size_t iterations = CountIterations(streams, log);
  VERNIER_ASSIGN_OR_RETURN(const auto writer, FeedWriter::Create(output, SingleFileFormat(output)));
  const Status status = AppendAll(streams, iterations, *writer, interrupted, log);
  if (status.ok()) {
    log.Info("Saving input file containing " + std::to_string(iterations) + " iteration(s) to " +
             output);
  }
  return PublishOrDiscard(status, *writer);
}

}  // namespace vernier
