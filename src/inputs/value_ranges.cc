#include "inputs/value_ranges.h"

#include <cmath>
#include <utility>

#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr double kBeyondEveryType = 0x1p126;

std::optional<RangeBound> AsBound(const CastValue& value) {
  if (const auto* integer = std::get_if<WideInt>(&value.data)) return RangeBound(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) return RangeBound(*number);
  return std::nullopt;
}

std::string FormatBound(const RangeBound& bound) {
  const auto* integer = std::get_if<WideInt>(&bound);
  return integer != nullptr ? FormatWideInt(*integer) : FormatFloatRepr(std::get<double>(bound));
}

Result<ValueRange> ToRange(const KeyedValue& entry) {
  const auto* items = std::get_if<std::vector<CastValue>>(&entry.value.data);
  const std::string where = "In --val-range, for input: " + entry.key + ", ";
  if (items == nullptr) {
    return InvalidArgument(where + "expected a range in brackets such as [0,1], but received " +
                           FormatCastValue(entry.value));
  }
  const std::string note = "\nNote: Option was parsed as: input: " + entry.key +
                           ", range: " + FormatCastValue(entry.value);
  if (items->size() != 2) {
    return InvalidArgument(where + "expected to receive exactly 2 values, but received " +
                           std::to_string(items->size()) + "." + note);
  }
  const std::optional<RangeBound> low = AsBound((*items)[0]);
  const std::optional<RangeBound> high = AsBound((*items)[1]);
  if (!low || !high) {
    return InvalidArgument(
        where + "one or more elements of the range could not be parsed as a number." + note);
  }
  return ValueRange{*low, *high};
}

}  // namespace

Result<std::vector<NamedRange>> ParseValueRanges(std::span<const std::string> words) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<KeyedValue> entries, ParseKeyedValues(words));
  std::vector<NamedRange> ranges;
  for (const KeyedValue& entry : entries) {
    VERNIER_ASSIGN_OR_RETURN(const ValueRange range, ToRange(entry));
    ranges.push_back({entry.key, range});
  }
  return ranges;
}

Status CheckValueRanges(std::span<const std::string> words) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<NamedRange> ranges, ParseValueRanges(words));
  for (const std::string& word : words) {
    if (!HasOpenBracket(SplitAtLast(word).value)) continue;
    return InvalidArgument("--val-range: expected [NAME:][MIN,MAX], got '" + word +
                           "', whose brackets do not close");
  }
  for (const NamedRange& entry : ranges) {
    const double low = BoundAsDouble(entry.range.low), high = BoundAsDouble(entry.range.high);
    const bool finite = std::isfinite(low) && std::isfinite(high);
    if (finite && low <= high) continue;
    const std::string colon = entry.name.empty() ? "" : ":";
    return InvalidArgument("--val-range: expected two finite numbers" +
                           std::string(finite ? ", the smaller first" : "") + ", got '" +
                           entry.name + colon + FormatRange(entry.range) + "'");
  }
  return {};
}

ValueRange RangeFor(std::span<const NamedRange> ranges, std::string_view name) {
  ValueRange found;
  for (const NamedRange& entry : ranges) {
    if (entry.name == name) return entry.range;
    if (entry.name.empty()) found = entry.range;
  }
  return found;
}

double BoundAsDouble(const RangeBound& bound) {
  const auto* integer = std::get_if<WideInt>(&bound);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(bound);
}

std::optional<WideInt> BoundAsInt(const RangeBound& bound) {
  if (const auto* integer = std::get_if<WideInt>(&bound)) return *integer;
  const double value = std::get<double>(bound);
  if (!std::isfinite(value)) return std::nullopt;
  if (std::fabs(value) > kBeyondEveryType) {
    return static_cast<WideInt>(std::copysign(kBeyondEveryType, value));
  }
  return static_cast<WideInt>(value);
}

bool BoundAsBool(const RangeBound& bound) {
  const auto* integer = std::get_if<WideInt>(&bound);
  return integer != nullptr ? *integer != 0 : std::get<double>(bound) != 0;
}

std::string FormatRange(const ValueRange& range) {
  return "[" + FormatBound(range.low) + ", " + FormatBound(range.high) + "]";
}

}  // namespace vernier
