// Saved outputs in npz and safetensors files.
#pragma once

#include <memory>
#include <string>

#include "io/archive/archive_index.h"
#include "io/archive/tensor_archive.h"
#include "io/results/results_reader.h"
#include "vernier/status.h"

namespace vernier {

/// The runs of an archive, as its index has them.
std::unique_ptr<ResultsReader::Source> MakeArchiveRuns(std::unique_ptr<TensorArchive> archive,
                                                       ArchiveIndex index, ArchiveAccess access);

/// The same; a file without runners in its names is read as runner `custom_runner`.
Result<std::unique_ptr<ResultsReader::Source>> OpenArchiveResults(const std::string& path,
                                                                  ArchiveFormat format,
                                                                  ArchiveAccess access);

}  // namespace vernier
