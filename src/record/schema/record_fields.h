// Fields of a saved record, which may come from anyone: types and ranges are checked. Only for this
// folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/schema/record_json.h"

namespace vernier {

/// What a field is that is absent.
enum class Absent : uint8_t {
  kUsual,  ///< empty, 0, false or nothing, as null is
  kWrong,  ///< an error, as null is for a number or a flag
};

/// The fields of one object, and of all within it. Unknown ones are ignored. The first field that
/// has the wrong type is kept as the error of the whole reading, so that callers need not look
/// after each.
class RecordFields {
 public:
  /// `path` is what stands before the fields' names in an error: "runners[0]."; empty for the whole
  /// record. `json` and `error` outlive the object.
  RecordFields(const RecordJson& json, std::string path, std::string* error,
               Absent absent = Absent::kUsual);

  std::string Text(const char* key) const;
  std::vector<std::string> Texts(const char* key) const;
  bool Flag(const char* key) const;

  /// "nan", "inf" and "-inf" are numbers too.
  double Number(const char* key) const;
  std::optional<double> MaybeNumber(const char* key) const;

  int64_t Integer(const char* key) const;
  /// Of a whole number, of any sign; empty for everything else.
  std::string Digits(const char* key) const;
  std::vector<int64_t> Integers(const char* key) const;
  /// Within the range of int.
  int Small(const char* key) const;

  /// Text that does not stand for a number.
  bool HoldsWords(const char* key) const;

  /// Neither absent nor null.
  bool Has(const char* key) const { return Find(key) != nullptr; }
  /// As Has(), but absence is not an error.
  bool MayHave(const char* key) const { return Look(key) != nullptr; }

  RecordFields Object(const char* key) const;

  /// Calls `read` with the fields of each object of a list.
  template <typename Read>
  void Each(const char* key, Read read) const {
    size_t index = 0;
    for (const RecordJson& item : List(key)) {
      read(RecordFields(item, path_ + key + "[" + std::to_string(index++) + "].", error_, absent_));
    }
  }

  /// Calls `read` with each key of an object and the number there.
  template <typename Read>
  void EachNumber(const char* key, Read read) const {
    const RecordFields numbers = Object(key);
    if (!numbers.json_.is_object()) return;
    for (const auto& [name, value] : numbers.json_.items()) {
      read(name, numbers.Number(name.c_str()));
    }
  }

 private:
  const RecordJson* Look(const char* key) const;
  const RecordJson* Find(const char* key) const;
  const RecordJson* FindValue(const char* key, const char* expected) const;
  const RecordJson& List(const char* key) const;
  void Complain(const char* key, const char* expected) const;

  const RecordJson& json_;
  std::string path_;
  std::string* error_;
  Absent absent_;
};

}  // namespace vernier
