#include "record/plan/plan_difference.h"

#include <algorithm>
#include <utility>

#include "record/schema/record_json.h"

namespace vernier {
namespace {

using MaybeDifference = std::optional<PlanDifference>;

// A list of words is one value; of runners, each is looked into.
bool IsLookedInto(const RecordJson* value) {
  if (value == nullptr || value->empty()) return false;
  return value->is_object() || (value->is_array() && value->front().is_object());
}

std::string TextOfSetting(const RecordJson* value) {
  return value == nullptr ? std::string() : DumpJson(*value, -1);
}

MaybeDifference FirstOtherSetting(const RecordJson* a, const RecordJson* b,
                                  const std::string& setting);

const RecordJson* MemberOf(const RecordJson* object, const std::string& key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

MaybeDifference FirstOtherMember(const RecordJson& keys, const RecordJson* a, const RecordJson* b,
                                 const std::string& before) {
  for (const auto& [key, ignored] : keys.items()) {
    const std::string shown = key.empty() ? "\"\"" : key;
    MaybeDifference found = FirstOtherSetting(MemberOf(a, key), MemberOf(b, key),
                                              before.empty() ? shown : before + "." + shown);
    if (found) return found;
  }
  return std::nullopt;
}

const RecordJson* ElementOf(const RecordJson* array, size_t index) {
  return array != nullptr && array->is_array() && index < array->size() ? &(*array)[index]
                                                                        : nullptr;
}

// Null: the plan has no such setting.
MaybeDifference FirstOtherSetting(const RecordJson* a, const RecordJson* b,
                                  const std::string& setting) {
  if (a != nullptr && b != nullptr && *a == *b) return std::nullopt;
  const RecordJson* some = a != nullptr ? a : b;
  const RecordJson* other = a != nullptr ? b : nullptr;
  const bool same_kind = other == nullptr || other->type() == some->type();
  if (same_kind && some->is_object() && (IsLookedInto(some) || IsLookedInto(other))) {
    MaybeDifference found = FirstOtherMember(*some, a, b, setting);
    if (!found && other != nullptr) found = FirstOtherMember(*other, a, b, setting);
    if (found) return found;
  }
  if (same_kind && some->is_array() && (IsLookedInto(some) || IsLookedInto(other))) {
    const size_t size = std::max(some->size(), other == nullptr ? 0 : other->size());
    for (size_t i = 0; i < size; ++i) {
      MaybeDifference found = FirstOtherSetting(ElementOf(a, i), ElementOf(b, i),
                                                setting + "[" + std::to_string(i) + "]");
      if (found) return found;
    }
  }
  return PlanDifference{setting, TextOfSetting(a), TextOfSetting(b)};
}

}  // namespace

Result<std::optional<PlanDifference>> FindPlanDifference(const std::string& first,
                                                         const std::string& second) {
  const RecordJson a = RecordJson::parse(first, nullptr, false);
  const RecordJson b = RecordJson::parse(second, nullptr, false);
  if (!a.is_object() || !b.is_object()) return Malformed("a plan is not a JSON object");
  return FirstOtherSetting(&a, &b, "");
}

}  // namespace vernier
