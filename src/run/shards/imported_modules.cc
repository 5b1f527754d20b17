#include "run/shards/imported_modules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostModules = 4096;
constexpr std::string_view kBlanks = " \t\r\f;";

// The next word of a statement; commas and parentheses are words of their own.
std::string_view TakeWord(std::string_view& text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  constexpr std::string_view kAlone = ",()";
  const size_t end = kAlone.find(text.front()) != std::string_view::npos
                         ? 1
                         : std::min(text.find_first_of(" \t\r\f;,()#"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// "b" of "import b.c as d, e", and of "from b import c"; "m" of "from .m import x", and of
// "from . import m".
void AddNamed(std::string_view statement, std::set<std::string>& names) {
  const auto add = [&](std::string_view word) {
    word.remove_prefix(std::min(word.find_first_not_of('.'), word.size()));
    if (!word.empty()) names.emplace(word.substr(0, word.find('.')));
  };
  const std::string_view keyword = TakeWord(statement);
  if (keyword != "import" && keyword != "from") return;
  const std::string_view first = TakeWord(statement);
  add(first);
  const bool of_folder = first.find_first_not_of('.') == std::string_view::npos;
  if (keyword == "from" && !of_folder) return;
  bool is_name = false;  // the name of a module comes next
  for (std::string_view word = TakeWord(statement); !word.empty() && word.front() != '#';
       word = TakeWord(statement)) {
    if (is_name && word != "(") add(word);
    is_name = word == "," || word == "(" || (keyword == "from" && word == "import");
  }
}

std::set<std::string> NamesImportedBy(const std::string& script) {
  std::set<std::string> names;
  std::ifstream file(script);
  for (std::string line; std::getline(file, line);) {
    // Several statements of a line, also behind a colon: "try: import a".
    for (std::string_view rest = line; !rest.empty();) {
      const size_t end = std::min(rest.find_first_of(";:"), rest.size());
      AddNamed(rest.substr(0, end), names);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return names;
}

std::vector<std::string> FilesOfPackage(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".py") files.push_back(entry->path().string());
    if (files.size() >= kMostModules) break;
  }
  return files;
}

}  // namespace

std::vector<std::string> FindImportedModules(const std::string& script) {
  const fs::path folder = fs::path(script).parent_path();
  std::set<std::string> found, looked_for;
  std::vector<std::string> to_read = {script};
  while (!to_read.empty() && found.size() < kMostModules) {
    const std::string next = std::move(to_read.back());
    to_read.pop_back();
    for (const std::string& name : NamesImportedBy(next)) {
      if (!looked_for.insert(name).second) continue;
      std::error_code ignored;
      const fs::path package = folder / name, module = folder / (name + ".py");
      std::vector<std::string> files;
      if (fs::is_directory(package, ignored)) files = FilesOfPackage(package);
      if (files.empty() && fs::is_regular_file(module, ignored)) files = {module.string()};
      for (std::string& file : files) {
        if (file != script && found.insert(file).second) to_read.push_back(std::move(file));
      }
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace vernier
