#include "run/workers/engine_report.h"

#include <fstream>
#include <iterator>

#include "backend/known/known_backends.h"
#include "util/text/utf8.h"

namespace vernier {

EngineReportFile EngineReportFile::For(const RunnerPlan& runner) {
  EngineReportFile file;
  if (!IsKnownToHave(runner.backend, BackendTrait::kBuildsEngines)) return file;
  Result<ScratchFolder> folder = ScratchFolder::Create();
  if (folder.ok()) file.folder_ = *std::move(folder);
  return file;
}

void EngineReportFile::AddTo(OptionList& options) const {
  if (folder_) options.emplace_back(kEngineReport, folder_->path() + "/engine.json");
}

Result<EngineRecord> EngineReportFile::Read() const {
  if (!folder_) return Unavailable("the plug-in reports nothing about its engine");
  std::ifstream in(folder_->path() + "/engine.json", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.empty()) return Unavailable("the plug-in reported nothing about its engine");
  // Names of layers are bytes of the model, whatever they are.
  return EngineFromReport(ReplaceInvalidUtf8(text));
}

std::optional<EngineBuildRecord> EngineReportFile::ReadBuild() const {
  Result<EngineRecord> engine = Read();
  if (!engine.ok()) return std::nullopt;
  return std::move(engine->build);
}

}  // namespace vernier
