#include "run/runner/script_runner.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "util/text/split_words.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// Does a line at the top level bind one of the names that the worker looks for? Found by reading,
// not by running. What a star brings in is not seen here, so it counts as a yes.
bool BindsEntryPoint(const std::string& path) {
  constexpr std::array<std::string_view, 2> kNames = {"load", "infer"};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const bool imports = line.starts_with("from ") && line.find(" import ") != std::string::npos;
    if (imports && line.ends_with("*")) return true;
    for (const std::string_view name : kNames) {
      const std::string text(name);
      const bool defined = line.starts_with("def " + text + "(") ||
                           line.starts_with("class " + text) || line.starts_with(text + " =") ||
                           line.starts_with(text + "=") || line.starts_with("def " + text + " (");
      const bool imported = imports && line.find(text, line.find(" import ")) != std::string::npos;
      if (defined || imported) return true;
    }
  }
  return false;
}

void BindProgram(std::vector<std::string> words, RunnerPlan& runner) {
  runner.session_options.emplace_back("script", "builtin:program");
  for (std::string& word : words) runner.session_options.emplace_back("word", std::move(word));
}

Status BindPython(const std::string& word, RunnerPlan& runner) {
  const size_t end = word.rfind(".py") + 3;
  const std::string path = word.substr(0, end);
  if (!IsFile(path)) return Malformed("there is no file '" + path + "'");
  const bool named = end + 1 < word.size();
  if (!named && !BindsEntryPoint(path)) {
    BindProgram({"{python}", path}, runner);
    return {};
  }
  runner.session_options.emplace_back("script", path);
  if (named) runner.session_options.emplace_back("function", word.substr(end + 1));
  return {};
}

}  // namespace

bool IsPythonScript(std::string_view word) {
  const size_t dot = word.rfind(".py");
  if (dot == std::string_view::npos) return false;
  const std::string_view rest = word.substr(dot + 3);
  return rest.empty() || (rest[0] == ':' && rest.find_first_of(" /") == std::string_view::npos);
}

bool IsProgramPath(std::string_view word) {
  return word.find('/') != std::string_view::npos && IsFile(std::string(word));
}

Status BindModelRunner(const std::string& value, RunnerPlan& runner) {
  runner.backend = "python";
  const bool whole = IsFile(value);
  Result<std::vector<std::string>> split = SplitWords(value);
  if (!whole && !split.ok()) return InvalidArgument(split.status().message());
  std::vector<std::string> words = whole ? std::vector<std::string>{value} : *std::move(split);
  if (words.empty()) {
    return InvalidArgument("expected SCRIPT.py[:FUNCTION] or PROGRAM [ARGUMENTS], got ''");
  }
  if (words.size() == 1 && IsPythonScript(words[0])) return BindPython(words[0], runner);
  std::string& program = words[0];
  if (IsPythonScript(program) && IsFile(program)) {
    words.insert(words.begin(), "{python}");
  } else if (IsFile(program)) {
    program = fs::absolute(program).string();
    if (::access(program.c_str(), X_OK) != 0) {
      return Malformed("'" + program + "' is not a program: it is not executable (chmod +x)");
    }
  } else if (program.find('/') != std::string::npos || words.size() == 1) {
    return Malformed("there is no file '" + program + "'");
  }
  BindProgram(std::move(words), runner);
  return {};
}

std::string ModelRunnerStem(const RunnerPlan& runner) {
  std::string file;
  for (const auto& [key, value] : runner.session_options) {
    const bool names_file = key == "script" || key == "word";
    if (file.empty() && names_file && value != "builtin:program" && value != "{python}") {
      file = value;
    }
  }
  return fs::path(file).stem().string();
}

}  // namespace vernier
