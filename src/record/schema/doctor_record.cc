#include "record/schema/doctor_record.h"

#include <algorithm>

#include "record/schema/record_visit.h"

namespace vernier {

const char* PartStateName(PartState state) {
  switch (state) {
    case PartState::kUsable:
      return "usable";
    case PartState::kMissing:
      return "missing";
    case PartState::kUnusable:
      return "unusable";
  }
  return "";
}

const DoctorPart* DoctorRecord::Find(const std::string& name) const {
  const auto at = std::find_if(parts.begin(), parts.end(), [&](const DoctorPart& part) {
    return part.name == name || part.section + "/" + part.name == name;
  });
  return at == parts.end() ? nullptr : &*at;
}

template <typename Fields>
void ListFields(Fields& field, const DoctorPart& part) {
  field("section", part.section);
  field("name", part.name);
  field("state", PartStateName(part.state));
  field.Text("version", part.version);
  field.Text("path", part.path);
  field.Text("why", part.why);
  field.Text("enables", part.enables);
  field.Text("command", part.command);
}

template <typename Fields>
void ListFields(Fields& field, const DoctorRecord& record) {
  field("schema_version", 1);
  field("version", record.version);
  field("parts", record.parts);
  field("faults", record.faults);
}

std::string FormatDoctorJson(const DoctorRecord& record) {
  return DumpJson(WriteFields(record), 2) + "\n";
}

}  // namespace vernier
