#include "util/log/framework_words.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr size_t kLongestLine = 400;

// "src/inference/core.cpp:84" of a text: up to the end of its digits; empty when there is none.
std::string_view PlaceAtBegin(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view file = text.substr(0, colon);
  const bool is_file = file.find('.') != std::string_view::npos &&
                       file.find_first_of(" \t") == std::string_view::npos;
  if (colon == std::string_view::npos || !is_file) return {};
  const size_t end = std::min(text.find_first_not_of("0123456789", colon + 1), text.size());
  return end > colon + 1 ? text.substr(0, end) : std::string_view();
}

// Cuts a line in front of `begin` where nothing but "PLACE:" follows. False: something else does.
bool CutPlace(std::string_view begin, std::string_view& line) {
  const size_t at = line.rfind(begin);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = line.substr(at + begin.size());
  const std::string_view place = PlaceAtBegin(rest);
  if (place.empty() || rest.substr(place.size()) != ":") return false;
  line = line.substr(0, at);
  return true;
}

// "... Status Message: /onnxruntime_src/x.h:563 void ort::F(int, int) what is wrong"
bool CutSignature(std::string& line) {
  constexpr std::string_view kSources = "/onnxruntime_src/";
  const size_t at = line.find(kSources);
  if (at == std::string::npos) return false;
  const std::string_view place = PlaceAtBegin(std::string_view(line).substr(at));
  if (place.empty()) return false;
  size_t end = at + place.size();
  const size_t open = line.find('(', end);
  const size_t close = line.find(") ", open);
  const bool signature =
      open != std::string::npos && close != std::string::npos &&
      std::string_view(line).substr(end, open - end).find("::") != std::string_view::npos;
  if (signature) end = close + 1;
  line = line.substr(0, at) + std::string(Trim(std::string_view(line).substr(end)));
  return true;
}

// What a line says beside places. True when there were some.
bool CleanLine(std::string& line) {
  std::string_view rest = Trim(line);
  bool found = CutPlace("Exception from ", rest);
  if (CutPlace(" failed at ", rest)) {
    found = true;
    constexpr std::string_view kNothing = "Check 'false'";
    const bool says = !rest.ends_with(kNothing);
    line = says ? std::string(rest) + " failed:"
                : std::string(rest.substr(0, rest.size() - kNothing.size()));
  } else {
    line = std::string(rest);
  }
  found |= CutSignature(line);
  line = std::string(Trim(line));
  return found;
}

void AppendPart(std::string_view part, std::string& text) {
  if (part.empty()) return;
  text += (text.empty() ? "" : " ") + std::string(part);
}

// OpenVINO's log of a conversion ends in a list of what failed, without why: the line in front of
// that list says it. Empty where there is no such log.
std::string_view CauseInLog(const std::vector<std::string>& lines) {
  const auto detail = std::ranges::find_if(
      lines, [](const std::string& line) { return line.ends_with(" with a message:"); });
  const auto summary = std::find(detail, lines.end(), "Summary:");
  return summary == lines.end() || summary - detail < 2 ? std::string_view() : *(summary - 1);
}

}  // namespace

std::string WithoutSourcePlaces(std::string_view message) {
  std::vector<std::string> lines;
  bool found = false;
  for (size_t begin = 0; begin <= message.size();) {
    const size_t end = std::min(message.find('\n', begin), message.size());
    std::string line(message.substr(begin, end - begin));
    found |= CleanLine(line);
    if (!line.empty()) lines.push_back(std::move(line));
    begin = end + 1;
  }
  if (!found || lines.empty()) return std::string(message);
  std::string text;
  for (const std::string& line : lines) AppendPart(line, text);
  if (text.size() <= kLongestLine) return text;
  std::string first = lines.front();
  // Frames that lead there said what was being done in front of them.
  if (lines.size() > 2 && first.ends_with(':')) AppendPart(lines[1], first);
  AppendPart(CauseInLog(lines), first);
  if (lines.size() > 1) AppendPart(lines.back(), first);
  for (const std::string& line : lines) first += "\n" + line;
  return first;
}

}  // namespace vernier
