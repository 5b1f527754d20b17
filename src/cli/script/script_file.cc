#include "cli/script/script_file.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/script/python_script.h"
#include "cli/script/shell_command.h"
#include "util/atomic_file.h"

namespace vernier {

Status GenerateScript(const std::string& path, const RunPlan& plan, const ParsedArgs& args,
                      const Invocation& invocation, Logger& logger) {
  namespace fs = std::filesystem;
  std::string script;
  if (fs::path(path).extension() == ".sh") {
    script = WriteShellScript(invocation);
  } else {
    VERNIER_ASSIGN_OR_RETURN(script, WritePythonScript(plan, args, invocation));
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
  return {};
}

}  // namespace vernier
