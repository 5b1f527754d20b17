#include "record/schema/record_fields.h"
#include "record/schema/record_visit.h"
#include "vernier/blame_record.h"

namespace vernier {
namespace {

using Json = RecordJson;

Result<RunRecord> ReadBlame(const Json& json, const std::string& what) {
  Result<BlameRecord> blame = BlameFromParsed(json);
  if (blame.ok()) return RecordOf(*std::move(blame));
  return Malformed("'" + what + "' is not a record of blame: " + blame.status().message());
}

}  // namespace

Result<RunRecord> ReadRecord(const std::string& text, const std::string& what) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("schema_version")) {
    return Malformed(
        "'" + what +
        "' is not a record: it is what --save-record, --save-profile or --save-blame writes");
  }
  if (json.contains("culprits")) return ReadBlame(json, what);
  std::string error;
  const RecordFields fields(json, "", &error);
  const int64_t version = fields.Integer("schema_version");
  if (error.empty() && version > kRecordSchemaVersion) {
    return Malformed("'" + what + "' has schema version " + std::to_string(version) +
                     "; this vernier reads up to " + std::to_string(kRecordSchemaVersion));
  }
  // The records of other commands have versions too, and would read as runs of nothing.
  if (error.empty() && !json.contains("pairs")) {
    return Malformed("'" + what + "' is not the record of a run, which --save-record writes");
  }
  RunRecord record;
  FieldReader reader(fields);
  ListFields(reader, record);
  if (!error.empty()) return Malformed("'" + what + "': " + error);
  if (!json.contains("blame")) return record;
  VERNIER_ASSIGN_OR_RETURN(const RunRecord blamed, ReadBlame(json["blame"], what));
  record.blame = blamed.blame;
  return record;
}

}  // namespace vernier
