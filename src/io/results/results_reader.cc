#include "io/results/results_reader.h"

#include <utility>

#include "io/bytes/directory_listing.h"
#include "io/results/file_kind.h"
#include "io/results/partial_results.h"
#include "io/results/results_archive.h"
#include "io/results/results_directory.h"
#include "io/results/results_json.h"

namespace vernier {
namespace {

Result<std::unique_ptr<ResultsReader::Source>> OpenSource(const std::string& path,
                                                          ArchiveAccess access) {
  if (IsPartialFolder(path)) {
    return Malformed("'" + path +
                     "' holds parts of outputs that a run did not finish saving; `vernier data "
                     "recover` makes a file of them");
  }
  if (IsDirectory(path)) {
    return OpenResultsDirectory(
        path, [access](const std::string& file) { return OpenSource(file, access); });
  }
  VERNIER_ASSIGN_OR_RETURN(const FileKind kind, DetectFileKind(path));
  switch (kind) {
    case FileKind::kNpz:
      return OpenArchiveResults(path, ArchiveFormat::kNpz, access);
    case FileKind::kSafetensors:
      return OpenArchiveResults(path, ArchiveFormat::kSafetensors, access);
    case FileKind::kJson:
      return OpenJsonResults(path);
    case FileKind::kNpy:
    case FileKind::kProtobuf:
      break;
  }
  return Malformed("'" + path +
                   "' holds one tensor without the name of an output; saved outputs "
                   "are .json, .npz or .safetensors files");
}

}  // namespace

Result<std::unique_ptr<ResultsReader>> ResultsReader::Open(const std::string& path,
                                                           ArchiveAccess access) {
  VERNIER_ASSIGN_OR_RETURN(auto source, OpenSource(path, access));
  return std::unique_ptr<ResultsReader>(new ResultsReader(std::move(source)));
}

Result<IterationResult> ResultsReader::Read(size_t run, size_t iteration) {
  if (run >= runs().size() || iteration >= runs()[run].iterations) {
    return InvalidArgument("saved outputs have no iteration " + std::to_string(iteration) +
                           " of runner " + std::to_string(run));
  }
  return source_->Read(run, iteration);
}

}  // namespace vernier
