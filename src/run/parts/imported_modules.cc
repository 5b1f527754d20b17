#include "run/parts/imported_modules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostModules = 4096;
constexpr size_t kMostOfStatement = size_t{64} << 10;
constexpr std::string_view kBlanks = " \t\r\f";
constexpr std::string_view kAlone = ",()";  // words of their own

bool IsAmong(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

std::string_view TakeWord(std::string_view& text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  size_t end = 1;
  if (!IsAmong(text.front(), kAlone)) {
    const auto ends = [](char c) { return IsAmong(c, kBlanks) || IsAmong(c, kAlone) || c == '#'; };
    end = static_cast<size_t>(std::ranges::find_if(text, ends) - text.begin());
  }
  end = std::max<size_t>(end, 1);  // '#'
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// What of an import statement is to be read before the next line, which it goes on in: behind a
// backslash, and inside parentheses. Empty: it ends here, or is none.
std::string ToGoOn(std::string_view statement) {
  std::string_view code = statement.substr(0, statement.find('#'));
  code = code.substr(0, code.find_last_not_of(kBlanks) + 1);
  std::string_view words = code;
  const std::string_view keyword = TakeWord(words);
  if ((keyword != "import" && keyword != "from") || code.size() > kMostOfStatement) return "";
  if (code.ends_with('\\')) return std::string(code.substr(0, code.size() - 1)) + " ";
  TakeWord(words);  // the module
  const bool opens = keyword == "from" && TakeWord(words) == "import" && TakeWord(words) == "(";
  return opens && words.find(')') == std::string_view::npos ? std::string(code) + " " : "";
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
  std::string begun;  // of a statement that goes on
  for (std::string line; std::getline(file, line);) {
    line = std::exchange(begun, "") + line;
    // Several statements of a line, also behind a colon: "try: import a".
    for (std::string_view rest = line; !rest.empty();) {
      const size_t end = std::min(rest.find_first_of(";:"), rest.size());
      begun = ToGoOn(rest.substr(0, end));
      if (!begun.empty()) break;  // behind a parenthesis that is open there are comments alone
      AddNamed(rest.substr(0, end), names);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  AddNamed(begun, names);
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
