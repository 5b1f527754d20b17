// What `vernier doctor` found, as plain data and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vernier {

enum class PartState : uint8_t {
  kUsable,
  kMissing,   ///< it is not here; nothing is wrong with that
  kUnusable,  ///< it is here, and cannot be used
};

/// "usable", "missing", "unusable".
const char* PartStateName(PartState state);

/// Something that this program uses, or would use.
struct DoctorPart {
  std::string section;  ///< "program", "backends", "python", "gpu" or "system"
  std::string name;     ///< what --require takes: "onnxruntime", "numpy"
  PartState state = PartState::kUsable;
  std::string version = {};  ///< or an amount: "12.3 GiB free"; may be empty
  std::string path = {};
  std::string why = {};      ///< empty where it is usable
  std::string enables = {};  ///< what it is for
  std::string command = {};  ///< gets it; empty where there is nothing to get
};

struct DoctorRecord {
  std::string version;  ///< this program's
  std::vector<DoctorPart> parts = {};
  std::vector<std::string> faults = {};  ///< why the exit code is 5: sentences

  /// The first part of that name, or of that section and name ("python/torch"); or nullptr.
  const DoctorPart* Find(const std::string& name) const;
};

/// A document with a last line break. Keys: schema_version, version, parts, faults. Empty texts of
/// a part are null.
std::string FormatDoctorJson(const DoctorRecord& record);

}  // namespace vernier
