#include "run/saved/output_spill.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace vernier {

Result<std::unique_ptr<OutputSpill>> OutputSpill::Create(size_t runners) {
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  std::unique_ptr<OutputSpill> spill(new OutputSpill());
  for (size_t i = 0; i < runners; ++i) {
    Result<TensorSpill> tensors = TensorSpill::Create(error ? "/tmp" : folder);
    if (!tensors.ok()) {
      return IoError("a temporary file for outputs cannot be made: " + tensors.status().message() +
                     " (set TMPDIR)");
    }
    spill->streams_.push_back({*std::move(tensors), {}});
  }
  return spill;
}

Status OutputSpill::Append(size_t runner, const IterationResult& result) {
  Stream& stream = streams_[runner];
  VERNIER_TRY(stream.tensors.Append(result.outputs).Annotate("temporary outputs (see TMPDIR)"));
  stream.details.push_back({result.runner_name, result.runtime_s});
  return {};
}

Result<IterationOutputs> OutputSpill::Read(int64_t iteration) {
  const auto index = static_cast<size_t>(iteration);
  IterationOutputs outputs;
  for (Stream& stream : streams_) {
    outputs.emplace_back();
    if (index >= stream.tensors.size()) continue;
    VERNIER_ASSIGN_OR_RETURN(TensorMap tensors, stream.tensors.Read(index));
    const Details& details = stream.details[index];
    outputs.back() = IterationResult{details.runner_name, details.runtime_s, std::move(tensors)};
  }
  return outputs;
}

}  // namespace vernier
