#include "run/spill.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace vernier {
namespace {

namespace fs = std::filesystem;

Result<std::string> MakeTemporaryFolder() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  std::string name = (base / "vernier-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    return IoError("a temporary folder for outputs cannot be made in '" + base.string() +
                   "': " + std::strerror(errno) + " (set TMPDIR)");
  }
  return name;
}

}  // namespace

Result<std::unique_ptr<Spill>> Spill::Create(std::vector<std::string> runner_names) {
  VERNIER_ASSIGN_OR_RETURN(std::string folder, MakeTemporaryFolder());
  std::unique_ptr<Spill> spill(new Spill(std::move(folder)));
  for (size_t i = 0; i < runner_names.size(); ++i) {
    Stream& stream = spill->streams_.emplace_back();
    stream.path = (fs::path(spill->folder_) / (std::to_string(i) + ".safetensors")).string();
    VERNIER_ASSIGN_OR_RETURN(stream.writer, ResultsWriter::Create(stream.path, {runner_names[i]}));
  }
  return spill;
}

Spill::~Spill() {
  streams_.clear();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Status Spill::Append(size_t runner, const IterationResult& result) {
  Stream& stream = streams_[runner];
  ++stream.iterations;
  return stream.writer->Append(0, result);
}

Status Spill::Seal() {
  for (Stream& stream : streams_) {
    if (stream.iterations == 0) continue;
    VERNIER_TRY(stream.writer->Publish());
    VERNIER_ASSIGN_OR_RETURN(stream.reader, ResultsReader::Open(stream.path));
  }
  return {};
}

Result<IterationOutputs> Spill::Read(int64_t iteration) {
  IterationOutputs outputs;
  for (Stream& stream : streams_) {
    outputs.emplace_back();
    if (iteration >= stream.iterations) continue;
    VERNIER_ASSIGN_OR_RETURN(IterationResult result,
                             stream.reader->Read(0, static_cast<size_t>(iteration)));
    outputs.back() = std::move(result);
  }
  return outputs;
}

}  // namespace vernier
