#include "options/bind/shell_command.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/version.h"
#include "util/text/shell_words.h"

namespace vernier {
namespace {

std::vector<std::string> WithoutScript(const std::vector<std::string>& words) {
  constexpr std::string_view kFlags[] = {"--gen-script", "--gen"};
  std::vector<std::string> kept;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view name = std::string_view(words[i]).substr(0, words[i].find('='));
    // An abbreviation of --gen-script begins with --gen.
    const bool script = std::any_of(std::begin(kFlags), std::end(kFlags), [&](std::string_view f) {
      return name.size() >= 5 && f.starts_with(name);
    });
    if (!script) {
      kept.push_back(words[i]);
    } else if (words[i].find('=') == std::string::npos) {
      ++i;
    }
  }
  return kept;
}

}  // namespace

std::string CurrentFolder() {
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  return error ? "." : folder;
}

std::string ReproCommand(const Invocation& invocation) {
  std::string command = "cd " + QuoteForBash(CurrentFolder()) + " &&";
  for (const std::string& word : WithoutScript(invocation.words)) {
    command += " " + QuoteForBash(word);
  }
  return command;
}

std::string WriteShellScript(const Invocation& invocation) {
  return "#!/bin/sh\n# Written by vernier " + std::string(kVersion) + ".\ncd " +
         QuoteForShell(CurrentFolder()) + " || exit 3\nexec " +
         JoinForShell(WithoutScript(invocation.words)) + " \"$@\"\n";
}

}  // namespace vernier
