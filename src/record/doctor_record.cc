#include "record/doctor_record.h"

#include <algorithm>

#include "record/record_json.h"

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

std::string FormatDoctorJson(const DoctorRecord& record) {
  RecordJson parts = RecordJson::array();
  for (const DoctorPart& part : record.parts) {
    parts.push_back({{"section", part.section},
                     {"name", part.name},
                     {"state", PartStateName(part.state)},
                     {"version", TextJson(part.version)},
                     {"path", TextJson(part.path)},
                     {"why", TextJson(part.why)},
                     {"enables", TextJson(part.enables)},
                     {"command", TextJson(part.command)}});
  }
  const RecordJson document = {{"schema_version", 1},
                               {"version", record.version},
                               {"parts", std::move(parts)},
                               {"faults", record.faults}};
  return DumpJson(document, 2) + "\n";
}

}  // namespace vernier
