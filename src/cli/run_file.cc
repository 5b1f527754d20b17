#include "cli/run_file.h"

#include <algorithm>
#include <memory>
#include <string>

#include "cli/options/groups.h"
#include "session/plan_files.h"
#include "util/atomic_file.h"
#include "util/mapped_file.h"

namespace vernier {
namespace {

// A larger one would name millions of outputs.
constexpr uint64_t kLargestRunFile = uint64_t{1} << 28;

bool IsBesideTheRun(const OptionRow& row) {
  const OptionGroup logging = LoggingGroup();
  return row.dest == "run_file" || row.dest == "save_run_file" ||
         std::any_of(logging.rows.begin(), logging.rows.end(),
                     [&](const OptionRow& other) { return other.dest == row.dest; });
}

}  // namespace

Result<RunPlan> LoadRunFile(const ParsedArgs& args) {
  const std::string path(*args.Value("run_file"));
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
  const FileRead itself[] = {{path, "--run-file"}};
  VERNIER_TRY(CheckPlanFiles(*plan, itself));
  return plan;
}

Status SaveRunFile(const ParsedArgs& args, const RunPlan& plan) {
  const auto path = args.Value("save_run_file");
  if (!path) return {};
  return WriteFileAtomically(std::string(*path), ToJson(plan));
}

}  // namespace vernier
