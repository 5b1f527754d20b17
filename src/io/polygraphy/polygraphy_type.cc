#include "io/polygraphy/polygraphy_type.h"

#include <algorithm>
#include <array>

namespace vernier {
namespace {

using JsonKind = JsonValue::Kind;

constexpr std::string_view kMarker = "polygraphy_class";
constexpr std::string_view kOldPrefix = "__polygraphy_encoded_";
constexpr std::string_view kOldValue = "polygraphy_serialized_json_type";

struct TypeRow {
  std::string_view name;
  std::string_view python_module;
};

constexpr std::string_view kStruct = "polygraphy.comparator.struct";
constexpr std::string_view kCompare = "polygraphy.comparator.compare";
constexpr std::string_view kTactics = "polygraphy.backend.trt.algorithm_selector";

constexpr std::array<TypeRow, 23> kTypes = {{
    {"ndarray", "numpy"},
    {"Tensor", "torch"},
    {"LazyArray", kStruct},
    {"IterationResult", kStruct},
    {"RunResults", kStruct},
    {"AccuracyResult", kStruct},
    {"AccuracyResults", kStruct},
    {"OutputCompareResult", kCompare},
    {"L2Result", kCompare},
    {"CosineSimilarityResult", kCompare},
    {"PsnrResult", kCompare},
    {"SnrResult", kCompare},
    {"PerceptualMetricsResult", kCompare},
    {"SimpleThreshold", kCompare},
    {"L2Threshold", kCompare},
    {"CosineSimilarityThreshold", kCompare},
    {"PsnrThreshold", kCompare},
    {"SnrThreshold", kCompare},
    {"LpipsThreshold", kCompare},
    {"FormattedArray", "polygraphy.common.struct"},
    {"TensorInfo", kTactics},
    {"Algorithm", kTactics},
    {"TacticReplayData", kTactics},
}};

const TypeRow* FindType(std::string_view name) {
  const auto* row = std::find_if(kTypes.begin(), kTypes.end(),
                                 [name](const TypeRow& r) { return r.name == name; });
  return row == kTypes.end() ? nullptr : row;
}

std::string OldTypeOf(JsonValue value) {
  for (const TypeRow& row : kTypes) {
    const auto mark = value.Find(std::string(kOldPrefix) + std::string(row.name));
    if (mark && mark->is(JsonKind::kString) && mark->Text() == kOldValue)
      return std::string(row.name);
  }
  return "";
}

// Only an object with such a key is searched for each name.
bool MayHaveOldMarker(JsonValue value) {
  bool found = false;
  value.ForEachRawKey([&](std::string_view key) { found |= key.starts_with(kOldPrefix); });
  return found;
}

}  // namespace

Result<std::string> PolygraphyTypeOf(JsonValue value) {
  if (!value.is(JsonKind::kObject)) return std::string();
  if (MayHaveOldMarker(value)) {
    std::string old = OldTypeOf(value);
    if (!old.empty()) return old;
  }
  const auto mark = value.Find(kMarker);
  if (!mark || mark->is(JsonKind::kNull)) return std::string();
  const std::string name =
      mark->is(JsonKind::kString) ? mark->Text() : std::string(mark->KindName());
  if (name == "LazyNumpyArray") return std::string("LazyArray");
  if (FindType(name) != nullptr) return name;
  return Malformed("byte " + std::to_string(mark->offset()) +
                   ": Could not decode serialized type: " + name +
                   ". This could be because a required module is missing.");
}

std::string DescribeDecoded(JsonValue value) {
  switch (value.kind()) {
    case JsonKind::kArray:
      return "<class 'list'> (a list, as saved inputs are)";
    case JsonKind::kString:
    case JsonKind::kLong:
      return "<class 'str'>";
    case JsonKind::kTrue:
    case JsonKind::kFalse:
      return "<class 'bool'>";
    case JsonKind::kNull:
      return "<class 'NoneType'>";
    case JsonKind::kNumber: {
      const bool real = value.raw().find_first_of(".eENI") != std::string_view::npos;
      return real ? "<class 'float'>" : "<class 'int'>";
    }
    case JsonKind::kObject:
    case JsonKind::kCut:
      break;
  }
  const Result<std::string> type = PolygraphyTypeOf(value);
  const TypeRow* row = type.ok() ? FindType(*type) : nullptr;
  if (row == nullptr) {
    return "<class 'collections.OrderedDict'> (an object without a type, as one saved input is)";
  }
  return "<class '" + std::string(row->python_module) + "." + std::string(row->name) + "'>";
}

}  // namespace vernier
