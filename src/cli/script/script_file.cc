#include "cli/script/script_file.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/script/package_script.h"
#include "cli/script/python_script.h"
#include "options/bind/shell_command.h"
#include "util/files/atomic_file.h"

namespace vernier {
namespace {

// For Polygraphy's API where that can say all of it, else for the Python package, and why then.
Result<std::string> WritePython(const RunPlan& plan, const ParsedArgs& args,
                                const Invocation& invocation, std::string& why) {
  Result<std::string> script = WritePythonScript(plan, args, invocation);
  if (script.status().code() != StatusCode::kUnimplemented) return script;
  why = script.status().message();
  script = WritePackageScript(args, invocation);
  if (script.ok()) return script;
  return Status(script.status().code(), "--gen-script: " + script.status().message() +
                                            "; --gen-script FILE.sh writes the command itself");
}

}  // namespace

Status GenerateScript(const std::string& path, const RunPlan& plan, const ParsedArgs& args,
                      const Invocation& invocation, Logger& logger) {
  namespace fs = std::filesystem;
  std::string script, why;
  if (fs::path(path).extension() == ".sh") {
    script = WriteShellScript(invocation);
  } else {
    VERNIER_ASSIGN_OR_RETURN(script, WritePython(plan, args, invocation, why));
  }
  if (path == "-") {
    const bool written = std::fwrite(script.data(), 1, script.size(), stdout) == script.size() &&
                         std::fflush(stdout) == 0;
    return written ? Status() : IoError("the script could not be printed");
  }
  VERNIER_TRY(WriteFileAtomically(path, script));
  std::error_code error;
  constexpr fs::perms kExecute =
      fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(path, kExecute, fs::perm_options::add, error);
  if (error) return IoError("'" + path + "' cannot be made executable: " + error.message());
  logger.Info("Writing script to: " + path);
  if (!why.empty()) logger.Info("It is for the Python package vernier: " + why);
  return {};
}

}  // namespace vernier
