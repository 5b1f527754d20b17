// A column that is read row by row and waits on the disk. Only for this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes/byte_spill.h"
#include "record/rows/row_lines.h"
#include "record/rows/row_scanner.h"
#include "record/schema/record_json.h"
#include "vernier/status.h"

namespace vernier {

/// Integers until a row has none or another number, and numbers until one has a text. What is on
/// the disk by then is converted by Take().
class SpilledColumn {
 public:
  /// A decision is a text, whatever it looks like.
  explicit SpilledColumn(std::string name);

  /// The value in row number `row`, or its list; rows that were left out have none. False when it
  /// is neither numbers nor texts, or numbers among texts.
  bool Add(size_t row, const RecordJson& value);

  /// The same of what a RowScanner has read.
  bool Add(size_t row, const ScannedField& field, std::span<const ScannedValue> values);

  const std::string& name() const { return name_; }

  /// Moves what is in memory to the disk.
  void Spill(ByteSpill& spill);

  /// Whether there is more to fill up than there are values, by far.
  bool TooUneven() const;

  /// All of `rows`. Nothing may be called afterwards. kIo.
  Result<RowColumn> Take(size_t rows, const ByteSpill& spill);

 private:
  enum class Kind : uint8_t { kIntegers, kNumbers, kTexts };
  struct Piece {
    Kind kind;
    ByteSpill::Piece bytes;
  };

  void BeginRow(size_t row);
  void BeginList(size_t row, size_t size);
  bool AddOne(const RecordJson& value);
  bool AddOne(int64_t value);
  bool AddOne(double value);
  bool AddOne(std::string_view text);
  void AppendNumber(double value);
  void AppendText(std::string_view text);
  void Fill(size_t rows);
  void Become(Kind kind);
  size_t Width() const;
  template <typename T>
  Result<std::vector<T>> ReadAll(const ByteSpill& spill);
  template <typename T>
  Result<RowColumn> TakeAs(const ByteSpill& spill, const T& none);

  std::string name_;
  size_t rows_ = 0;
  size_t values_ = 0;
  Kind kind_ = Kind::kIntegers;
  bool any_number_ = false;       // that is not NaN
  std::vector<uint32_t> widths_;  // values of each row, once one has a list
  std::vector<Piece> pieces_;     // on the disk
  std::string buffer_;            // behind them, of `kind_`: 8 bytes each, or texts behind lengths
};

}  // namespace vernier
