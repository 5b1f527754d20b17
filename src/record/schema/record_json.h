// Records, their numbers and their texts as JSON values. Only for this folder.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

struct BlameCulprit;
struct BlameRecord;

using RecordJson = nlohmann::ordered_json;

inline constexpr int kRecordSchemaVersion = 1;

/// Non-finite numbers are the strings "nan", "inf" and "-inf".
RecordJson NumberJson(double value);
RecordJson NumberJson(const std::optional<double>& value);

/// Null for empty text.
RecordJson TextJson(const std::string& text);

/// Names come from models: bytes that are not UTF-8 must not stop the record.
std::string DumpJson(const RecordJson& json, int indent);

// Records that have a file of their own and are parts of others, too.
RecordJson BlameJson(const BlameRecord& record);
RecordJson CulpritJson(const BlameCulprit& culprit);
/// kMalformed: the version is another, or a field that every such record has is absent.
Result<BlameRecord> BlameFromParsed(const RecordJson& json);

// Two summaries in the record of a run, by the names of outputs and of runners.
RecordJson ComparisonResults(const RunRecord& record);
RecordJson InferenceResults(const RunRecord& record);

}  // namespace vernier
