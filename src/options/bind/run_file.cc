#include "options/bind/run_file.h"

#include <algorithm>
#include <memory>
#include <string>

#include "backend/known/python_program.h"
#include "io/results/shard_file_name.h"
#include "model/onnx/model_type.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/table/groups.h"
#include "run/runner/runner_kinds.h"
#include "run/runner/script_runner.h"
#include "session/plan/plan_files.h"
#include "util/files/atomic_file.h"
#include "util/files/mapped_file.h"
#include "util/text/close_matches.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

// A larger one would name millions of outputs.
constexpr uint64_t kLargestRunFile = uint64_t{1} << 28;

bool IsBesideTheRun(const OptionRow& row) {
  return SetsField<&RunCall::plan_file>(row) || SetsField<&RunCall::save_plan_file>(row) ||
         LoggingGroup().Has(row.dest);
}

// Before anything starts: an unknown type would be passed over, and the name of a backend
// be looked for only when its turn comes.
Status CheckRunFileNames(const RunPlan& plan) {
  for (size_t i = 0; i < plan.runners.size(); ++i) {
    const RunnerPlan& runner = plan.runners[i];
    const std::string place = "'runners[" + std::to_string(i) + "].";
    const bool is_python = IsPythonBackend(runner.backend) || IsPythonScript(runner.backend) ||
                           IsProgramPath(runner.backend);
    if (!runner.backend.empty() && !is_python) {
      VERNIER_TRY(CheckBackendName(runner.backend, plan.execution.backend_dirs)
                      .Annotate(place + "backend'"));
    }
    const std::string& type = runner.model.type;
    if (type.empty() || ModelTypeFromName(type)) continue;
    const std::span<const std::string_view> names = ModelTypeNames();
    return InvalidArgument(place + "model.type': there is no model type '" + type + "'" +
                           DidYouMean(type, names) + " (choose from " + Joined(names) + ")");
  }
  return {};
}

}  // namespace

Result<RunPlan> LoadRunFile(const ParsedArgs& args) {
  const std::string path = *ReadField<&RunCall::plan_file>(args);
  for (const GivenOption& given : args.given()) {
    if (IsBesideTheRun(*given.row)) continue;
    const std::string what =
        given.row->IsPositional() ? "'" + given.values.front() + "'" : std::string(given.flag);
    return InvalidArgument("--run-file: '" + path + "' decides everything about the run: leave " +
                           what + " out, or edit the file");
  }
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const std::span<const std::byte> bytes = file->bytes();
  if (bytes.size() > kLargestRunFile) {
    return Malformed("'" + path + "' is too large for the file of a run");
  }
  Result<RunPlan> plan =
      ReadPlan(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), path);
  VERNIER_TRY(file->CheckIntact());
  if (!plan.ok()) return plan;
  VERNIER_TRY(CheckRunFileNames(*plan).Annotate("'" + path + "'"));
  const FileRead itself[] = {{path, "--run-file"}};
  VERNIER_TRY(CheckPlanFiles(*plan, itself, ReadField<&LogWords::file>(args).value_or("")));
  return plan;
}

Status SaveRunFile(const ParsedArgs& args, const RunPlan& plan) {
  const std::optional<std::string> path = ReadField<&RunCall::save_plan_file>(args);
  if (!path) return {};
  return WriteFileAtomically(PathOfShard(*path, plan.shard), ToJson(plan));
}

}  // namespace vernier
