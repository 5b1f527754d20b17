#include "options/bind/shell_command.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/version.h"
#include "options/bind/plan_words.h"
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

// The file of a run in one line. Only blanks between values begin a line.
std::string OnOneLine(const std::string& json) {
  std::string line;
  for (size_t at = 0; at < json.size();) {
    const size_t end = std::min(json.find('\n', at), json.size());
    line += json.substr(at, end - at);
    at = std::min(json.find_first_not_of("\n ", end), json.size());
  }
  return line;
}

std::string FromFolder(const std::string& command) {
  return "cd " + QuoteForBash(CurrentFolder()) + " && " + command;
}

std::string QuotedWords(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + QuoteForBash(word);
  return text;
}

}  // namespace

std::string CurrentFolder() {
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  return error ? "." : folder;
}

std::string ReproCommand(const Invocation& invocation) {
  return FromFolder(QuotedWords(WithoutScript(invocation.words)));
}

std::string ReproCommand(const RunPlan& plan, const Invocation& invocation) {
  const std::string program = invocation.words.empty() ? "vernier" : invocation.words.front();
  RunPlan again = plan;
  again.command.clear();
  if (invocation.record_is_batchs) again.save.record.clear();
  Result<std::vector<std::string>> words = PlanWords(again, invocation);
  if (words.ok()) {
    words->insert(words->begin(), program);
    return FromFolder(QuotedWords(*words));
  }
  return FromFolder("f=$(mktemp) && printf %s " + QuoteForBash(OnOneLine(ToJson(again))) +
                    " > \"$f\" && " + QuoteForBash(program) + " run --run-file \"$f\"");
}

std::string WriteShellScript(const Invocation& invocation) {
  return "#!/bin/sh\n# Written by vernier " + std::string(kVersion) + ".\ncd " +
         QuoteForShell(CurrentFolder()) + " || exit 3\nexec " +
         JoinForShell(WithoutScript(invocation.words)) + " \"$@\"\n";
}

}  // namespace vernier
