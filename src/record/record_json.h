// Numbers and texts of records as JSON values. Only for this folder.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "vernier/run_record.h"

namespace vernier {

using RecordJson = nlohmann::ordered_json;

inline constexpr int kRecordSchemaVersion = 1;

/// Non-finite numbers are the strings "nan", "inf" and "-inf".
RecordJson NumberJson(double value);
RecordJson NumberJson(const std::optional<double>& value);

/// Null for empty text.
RecordJson TextJson(const std::string& text);

/// Names come from models: bytes that are no UTF-8 must not stop the record.
std::string DumpJson(const RecordJson& json, int indent);

}  // namespace vernier
