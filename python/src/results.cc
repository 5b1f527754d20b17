// Saved outputs and inputs.
#include <filesystem>

#include "bindings.h"
#include "gil.h"
#include "io/bytes/directory_listing.h"
#include "io/results/feed_writer.h"
#include "io/results/file_kind.h"
#include "io/results/results_reader.h"
#include "io/results/results_writer.h"
#include "io/results/saved_tensors.h"
#include "named_tensors.h"
#include "status_error.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

Result<std::unique_ptr<ResultsReader>> OpenAny(const std::string& path, bool inputs) {
  const bool folder = IsDirectory(path);
  if (!folder && !inputs) {
    const Result<FileKind> kind = DetectFileKind(path);
    if (!kind.ok()) return kind.status();
    // Inputs in JSON are refused, in Polygraphy's words.
    const bool results =
        *kind == FileKind::kNpz || *kind == FileKind::kSafetensors || *kind == FileKind::kJson;
    if (results) return ResultsReader::Open(path, ArchiveAccess::kMapWherePossible);
  }
  VERNIER_ASSIGN_OR_RETURN(
      SavedTensors saved,
      OpenSavedTensors(path, inputs ? SavedKind::kInputs : SavedKind::kOutputs));
  return std::move(saved.reader);
}

std::unique_ptr<ResultsReader> OpenResults(const std::string& path, bool inputs) {
  const GilRelease release;
  return Check(OpenAny(path, inputs));
}

std::vector<std::pair<std::string, size_t>> RunsOf(const ResultsReader& reader) {
  std::vector<std::pair<std::string, size_t>> runs;
  for (const SavedRun& run : reader.runs()) runs.emplace_back(run.name, run.iterations);
  return runs;
}

IterationTuple ReadIteration(ResultsReader& reader, size_t run, size_t iteration) {
  const GilRelease release;
  return FromResult(Check(reader.Read(run, iteration)));
}

std::unique_ptr<ResultsWriter> CreateWriter(const std::string& path,
                                            std::vector<std::string> runners) {
  return Check(ResultsWriter::Create(path, std::move(runners)));
}

void AppendResult(ResultsWriter& writer, size_t runner, IterationTuple iteration) {
  const GilRelease release;
  Check(writer.Append(runner, ToResult(std::move(iteration))));
}

// Every runner keeps all of its iterations.
void Publish(ResultsWriter& writer, size_t longest) {
  const GilRelease release;
  Check(writer.Publish(longest));
}

void AppendFeed(FeedWriter& writer, NamedTensors feed) {
  const GilRelease release;
  Check(writer.Append(ToMap(std::move(feed))));
}

}  // namespace

void BindResults(nb::module_& module) {
  nb::class_<ResultsReader>(module, "ResultsReader")
      .def("runs", &RunsOf)
      .def("read", &ReadIteration, nb::arg("run"), nb::arg("iteration"))
      .def("check_intact", [](const ResultsReader& reader) { Check(reader.CheckIntact()); });
  module.def("open_results", &OpenResults, nb::arg("path"), nb::arg("inputs"));
  nb::class_<ResultsWriter>(module, "ResultsWriter")
      .def("append", &AppendResult)
      .def("publish", &Publish)
      .def("discard", &ResultsWriter::Discard);
  module.def("create_results", &CreateWriter, nb::arg("path"), nb::arg("runners"));
  nb::class_<FeedWriter>(module, "FeedWriter")
      .def("append", &AppendFeed)
      .def("finish", [](FeedWriter& w) { Check(w.Finish()); });
  module.def("create_feeds",
             [](const std::string& path) { return Check(FeedWriter::Create(path)); });
}

}  // namespace vernier::python
