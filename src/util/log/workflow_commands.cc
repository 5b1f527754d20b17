#include "util/log/workflow_commands.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "util/text/utf8.h"

namespace vernier {
namespace {

// Begins a command in the older form.
constexpr std::string_view kOldCommand = "##[";

// What a runner trims before it looks for a command: .NET's blanks.
bool IsBlank(uint32_t point) {
  constexpr uint32_t kOthers[] = {' ', 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  return (point >= '\t' && point <= '\r') || (point >= 0x2000 && point <= 0x200A) ||
         std::find(std::begin(kOthers), std::end(kOthers), point) != std::end(kOthers);
}

std::string_view WithoutBlanks(std::string_view line) {
  while (!line.empty()) {
    const Utf8Character character = DecodeUtf8(line);
    if (character.size == 0 || !IsBlank(character.point)) break;
    line.remove_prefix(character.size);
  }
  return line;
}

void AppendWithoutCommand(std::string_view line, std::string& out) {
  const std::string_view rest = WithoutBlanks(line);
  if (rest.starts_with("::")) {
    out.append(line.substr(0, line.size() - rest.size())).append("\\x3a");
    line = rest.substr(1);
  }
  for (size_t at = line.find(kOldCommand); at != std::string_view::npos;
       at = line.find(kOldCommand)) {
    out.append(line.substr(0, at)).append("##\\x5b");
    line.remove_prefix(at + kOldCommand.size());
  }
  out += line;
}

}  // namespace

bool InGitHubWorkflow() {
  const char* inside = std::getenv("GITHUB_ACTIONS");
  return inside != nullptr && std::string_view(inside) == "true";
}

std::string WithoutWorkflowCommands(std::string_view text) {
  std::string out;
  while (true) {
    const size_t end = std::min(text.find_first_of("\n\r"), text.size());
    AppendWithoutCommand(text.substr(0, end), out);
    if (end == text.size()) return out;
    out += text[end];
    text.remove_prefix(end + 1);
  }
}

}  // namespace vernier
