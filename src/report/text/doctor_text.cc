#include "report/text/doctor_text.h"

#include <algorithm>
#include <string_view>

#include "util/text/first_line.h"

namespace vernier {
namespace {

struct GroupHeading {
  std::string_view section, title;
};
constexpr GroupHeading kHeadings[] = {{"program", "Program"},
                                      {"backends", "Backends"},
                                      {"python", "Python"},
                                      {"gpu", "GPU"},
                                      {"system", "System"}};
constexpr std::string_view kMargin = "      ";

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

std::string FormatPart(const DoctorPart& part, size_t width) {
  std::string line = "  " + Padded(part.name, width) + Padded(PartStateName(part.state), 9);
  if (part.state != PartState::kUsable) {
    line += part.version;
  } else {
    line += part.path.empty() ? part.version : Padded(part.version, 14) + part.path;
  }
  while (line.ends_with(' ')) line.pop_back();
  std::string text = line + "\n";
  if (part.state == PartState::kUsable) return text;
  const std::string margin(kMargin);
  if (!part.why.empty()) text += margin + std::string(FirstLine(part.why)) + "\n";
  if (!part.enables.empty()) text += margin + "for: " + part.enables + "\n";
  if (!part.command.empty()) text += margin + "get: " + part.command + "\n";
  return text;
}

size_t Count(const DoctorRecord& record, PartState state) {
  return static_cast<size_t>(
      std::count_if(record.parts.begin(), record.parts.end(),
                    [&](const DoctorPart& part) { return part.state == state; }));
}

}  // namespace

std::string FormatDoctorText(const DoctorRecord& record) {
  size_t width = 0;
  for (const DoctorPart& part : record.parts) width = std::max(width, part.name.size() + 2);
  std::string text = "vernier " + record.version + "\n";
  for (const GroupHeading& heading : kHeadings) {
    text += "\n" + std::string(heading.title) + "\n";
    for (const DoctorPart& part : record.parts) {
      if (part.section == heading.section) text += FormatPart(part, width);
    }
  }
  text += "\n" + std::to_string(Count(record, PartState::kUsable)) + " usable, " +
          std::to_string(Count(record, PartState::kMissing)) + " missing, " +
          std::to_string(Count(record, PartState::kUnusable)) + " unusable\n";
  for (const std::string& fault : record.faults) text += "problem: " + fault + "\n";
  if (record.faults.empty()) text += "ready: models can be run and compared here\n";
  return text;
}

}  // namespace vernier
