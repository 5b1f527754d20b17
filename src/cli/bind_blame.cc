#include "cli/bind_blame.h"

#include <filesystem>

#include "backend/python_program.h"
#include "cli/bind_runners.h"
#include "cli/file_conflicts.h"
#include "run/own_python.h"
#include "util/cast_grammar.h"
#include "util/number_text.h"
#include "util/shell_words.h"

namespace vernier {
namespace {

Result<uint64_t> BytesOf(const ParsedArgs& args, std::string_view dest) {
  if (!args.Has(dest)) return uint64_t{0};
  const std::string flag(args.Flag(dest));
  const std::string word(*args.Value(dest));
  const Result<int64_t> bytes = ParseByteCount(word);
  if (bytes.ok() && *bytes > 0) return static_cast<uint64_t>(*bytes);
  const bool suffixed =
      !word.empty() && std::string_view("KMGkmg").find(word.back()) != std::string_view::npos;
  const std::optional<double> number =
      ParseDouble(suffixed ? word.substr(0, word.size() - 1) : word);
  if (!bytes.ok() && number && *number > 0) {
    return InvalidArgument(flag + ": '" + word + "' is too large: expected less than 2^63 bytes");
  }
  return InvalidArgument(flag + ": expected a size > 0, for example 4G, got '" + word + "'");
}

}  // namespace

Result<BlameOptions> BindBlame(const ParsedArgs& args, const RunPlan& run) {
  VERNIER_TRY(CheckBundlePlace(args));
  BlameOptions options;
  options.reference = TextOf(args, "reference");
  options.save = TextOf(args, "save_blame");
  options.resume = TextOf(args, "resume");
  options.bundle = TextOf(args, "bundle");
  for (const RunnerPlan& runner : run.runners) {
    std::vector<std::string> words = RunnerWords(runner);
    std::string python = OwnPython(runner);
    if (python.empty()) python = run.execution.python;
    if (!python.empty() && IsPythonBackend(runner.backend)) {
      const bool is_path = python.find('/') != std::string::npos;
      words.insert(words.end(),
                   {"--python", is_path ? std::filesystem::absolute(python).string() : python});
    }
    options.runner_words.push_back(JoinForShell(words));
  }
  VERNIER_ASSIGN_OR_RETURN(options.max_host_bytes, BytesOf(args, "max_host_mem"));
  VERNIER_ASSIGN_OR_RETURN(options.max_gpu_bytes, BytesOf(args, "max_gpu_mem"));
  return options;
}

}  // namespace vernier
