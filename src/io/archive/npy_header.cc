#include "io/archive/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <set>

namespace vernier {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr uint64_t kMaxNpyHeader = uint64_t{64} << 10;
constexpr size_t kMaxRank = 64;

// NumPy leaves room for the first dimension to grow to this many digits.
constexpr size_t kGrowthDigits = 21;
constexpr size_t kNpyAlignment = 64;

// Not strchr, which finds the NUL of its pattern.
bool OneOf(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

Status SetType(NpyHeader& header, const std::string& name) {
  std::string_view rest = name;
  header.big_endian = !rest.empty() && rest.front() == '>';
  if (!rest.empty() && OneOf(rest.front(), "<>|=")) rest.remove_prefix(1);
  if (rest == "?") rest = "b1";
  header.kind = rest.empty() ? '\0' : rest.front();
  if (header.kind == 'O') {
    return Malformed("the npy file holds Python objects (dtype '" + name +
                     "'), which are code and are never loaded; save it with a plain dtype");
  }
  const std::string_view digits = rest.empty() ? rest : rest.substr(1);
  uint64_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  const bool sized =
      !digits.empty() && error == std::errc() && end == digits.data() + digits.size();
  constexpr uint64_t kMaxItem = uint64_t{1} << 31;
  if (!sized || size > kMaxItem || !OneOf(header.kind, "fiubcVUS")) {
    return Malformed("the npy file holds elements of dtype '" + name + "', which no tensor has");
  }
  header.item_bytes = header.kind == 'U' ? size * 4 : size;
  return {};
}

// The Python literal that a header is: a dict of strings, booleans and tuples of integers.
class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : text_(text) {}

  Result<NpyHeader> Header();

 private:
  Status Error(std::string_view what) const {
    return Malformed("character " + std::to_string(position_) + " of the npy header: expected " +
                     std::string(what));
  }

  char Peek() {
    while (position_ < text_.size() && OneOf(text_[position_], " \t\n\r\f")) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool Take(char c) {
    if (Peek() != c) return false;
    ++position_;
    return true;
  }

  Result<std::string> String();
  Result<bool> Boolean();
  Result<int64_t> Integer();
  Result<Dims> Shape();
  Status Entry(NpyHeader& header);
  Status Type(NpyHeader& header);

  std::string_view text_;
  size_t position_ = 0;
  std::set<std::string> seen_;
};

Result<std::string> LiteralParser::String() {
  const char quote = Peek();
  if (quote != '\'' && quote != '"') return Error("a string");
  const size_t end = text_.find(quote, position_ + 1);
  if (end == std::string_view::npos) return Error("a string that ends");
  std::string value(text_.substr(position_ + 1, end - position_ - 1));
  if (value.find_first_of("\\\n") != std::string::npos) return Error("a string without escapes");
  position_ = end + 1;
  return value;
}

Result<bool> LiteralParser::Boolean() {
  Peek();
  for (const bool value : {true, false}) {
    const std::string_view word = value ? "True" : "False";
    if (text_.substr(position_, word.size()) != word) continue;
    position_ += word.size();
    return value;
  }
  return Error("True or False");
}

Result<int64_t> LiteralParser::Integer() {
  if (Peek() == '-') return Error("a dimension that is not negative");
  int64_t value = 0;
  const char* begin = text_.data() + position_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range) return Error("a dimension below 2^63");
  if (error != std::errc()) return Error("an integer");
  position_ += static_cast<size_t>(end - begin);
  Take('L');  // files written by Python 2
  return value;
}

Result<Dims> LiteralParser::Shape() {
  Dims shape;
  if (!Take('(')) return Error("a tuple of dimensions");
  bool comma = true;
  while (Peek() != ')') {
    if (!comma) return Error("',' or ')'");
    if (shape.size() == kMaxRank) return Error("at most 64 dimensions");
    VERNIER_ASSIGN_OR_RETURN(const int64_t dim, Integer());
    shape.push_back(dim);
    comma = Take(',');
  }
  if (shape.size() == 1 && !comma) return Error("a tuple of dimensions");
  Take(')');
  return shape;
}

Status LiteralParser::Type(NpyHeader& header) {
  if (Peek() == '[') {
    return Malformed(
        "the npy file holds a structured type (records of fields), not plain elements");
  }
  const Result<std::string> name = String();
  return name.ok() ? SetType(header, *name) : name.status();
}

Status LiteralParser::Entry(NpyHeader& header) {
  VERNIER_ASSIGN_OR_RETURN(const std::string key, String());
  if (!Take(':')) return Error("':'");
  if (key == "descr") {
    VERNIER_TRY(Type(header));
  } else if (key == "fortran_order") {
    VERNIER_ASSIGN_OR_RETURN(header.fortran_order, Boolean());
  } else if (key == "shape") {
    VERNIER_ASSIGN_OR_RETURN(header.shape, Shape());
  } else {
    return Malformed("the npy header has an unknown entry '" + key + "'");
  }
  seen_.insert(key);
  return {};
}

Result<NpyHeader> LiteralParser::Header() {
  NpyHeader header;
  if (!Take('{')) return Error("'{'");
  bool comma = true;
  while (Peek() != '}') {
    if (!comma) return Error("',' or '}'");
    VERNIER_TRY(Entry(header));
    comma = Take(',');
  }
  Take('}');
  if (Peek() != '\0' || position_ < text_.size()) return Error("the end");
  if (seen_.size() != 3) {
    return Malformed("the npy header lacks 'descr', 'fortran_order' or 'shape'");
  }
  return header;
}

uint64_t LittleEndian(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i)
    value = (value << 8) | std::to_integer<uint64_t>(bytes[i - 1]);
  return value;
}

bool FitsStoredType(const NpyHeader& header, DType dtype) {
  const auto bits = static_cast<uint64_t>(BitsOf(dtype));
  const bool raw = header.kind == 'V' || header.kind == 'u' || header.kind == 'i';
  if (header.kind == 'f')
    return header.item_bytes == 1 && bits == 8 && Kind(dtype) == DTypeKind::kFloat;
  return raw && bits > 0 && header.item_bytes == std::max<uint64_t>(bits / 8, 1);
}

struct NpyType {
  char kind;
  uint64_t item_bytes;
  DType dtype;
};

constexpr std::array<NpyType, 15> kNpyTypes = {{
    {'f', 4, DType::kFloat32},
    {'f', 8, DType::kFloat64},
    {'f', 2, DType::kFloat16},
    {'i', 1, DType::kInt8},
    {'i', 2, DType::kInt16},
    {'i', 4, DType::kInt32},
    {'i', 8, DType::kInt64},
    {'u', 1, DType::kUint8},
    {'u', 2, DType::kUint16},
    {'u', 4, DType::kUint32},
    {'u', 8, DType::kUint64},
    {'b', 1, DType::kBool},
    {'c', 8, DType::kComplex64},
    {'c', 16, DType::kComplex128},
    {'f', 1, DType::kFloat8E5M2},
}};

}  // namespace

std::string NpyHeader::TypeText() const {
  const uint64_t size = kind == 'U' ? item_bytes / 4 : item_bytes;
  const bool ordered = item_bytes > 1 && kind != 'S' && kind != 'V';
  return (!ordered ? "|" : big_endian ? ">" : "<") + std::string(1, kind) + std::to_string(size);
}

Result<uint64_t> NpyPreambleSize(std::span<const std::byte> start) {
  const bool magic = start.size() >= 10 && std::memcmp(start.data(), kMagic.data(), 6) == 0;
  if (!magic) return Malformed("the array does not begin as an npy file does");
  const auto major = std::to_integer<int>(start[6]);
  if (major < 1 || major > 3 || start[7] != std::byte{0}) {
    return Malformed("the npy file is of version " + std::to_string(major) + "." +
                     std::to_string(std::to_integer<int>(start[7])) + ", which is unknown");
  }
  const size_t field = major == 1 ? 2 : 4;
  if (start.size() < 8 + field) return Malformed("the npy file ends in its header");
  const uint64_t length = LittleEndian(start.subspan(8, field));
  if (length > kMaxNpyHeader) {
    return Malformed("the npy header claims " + std::to_string(length) + " bytes; at most " +
                     std::to_string(kMaxNpyHeader) + " are read");
  }
  return 8 + field + length;
}

Result<NpyHeader> ParseNpyHeader(std::span<const std::byte> bytes) {
  VERNIER_ASSIGN_OR_RETURN(const uint64_t size, NpyPreambleSize(bytes));
  if (size > bytes.size()) return Malformed("the npy file ends in its header");
  const size_t begin = bytes[6] == std::byte{1} ? 10 : 12;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + begin,
                              static_cast<size_t>(size) - begin);
  VERNIER_ASSIGN_OR_RETURN(NpyHeader header, LiteralParser(text).Header());
  header.data_offset = size;
  return header;
}

Result<DType> NpyElementType(const NpyHeader& header, std::optional<DType> stored_as) {
  const auto row = std::find_if(kNpyTypes.begin(), kNpyTypes.end(), [&](const NpyType& r) {
    return r.kind == header.kind && r.item_bytes == header.item_bytes;
  });
  const bool text = header.kind == 'U' || header.kind == 'S';
  if (stored_as) {
    const bool same =
        text ? *stored_as == DType::kString : row != kNpyTypes.end() && row->dtype == *stored_as;
    if (same || FitsStoredType(header, *stored_as)) return *stored_as;
    return Malformed("elements of dtype '" + header.TypeText() + "' cannot be " +
                     std::string(DTypeName(*stored_as)));
  }
  if (text) return DType::kString;
  if (row != kNpyTypes.end()) return row->dtype;
  if (header.kind == 'V' && header.item_bytes == 2) return DType::kBFloat16;
  if (header.kind == 'V' && header.item_bytes == 1) return DType::kUint8;
  return Malformed("the npy file holds elements of dtype '" + header.TypeText() +
                   "', which no tensor has");
}

std::string NpyTypeText(DType dtype, uint64_t string_width) {
  if (dtype == DType::kString) return "<U" + std::to_string(string_width);
  const auto row = std::find_if(kNpyTypes.begin(), kNpyTypes.end(), [&](const NpyType& r) {
    return r.dtype == dtype && dtype != DType::kFloat8E5M2;
  });
  if (row == kNpyTypes.end()) return dtype == DType::kBFloat16 ? "<V2" : "<V1";
  NpyHeader header;
  header.kind = row->kind;
  header.item_bytes = row->item_bytes;
  return header.TypeText();
}

std::string FormatNpyHeader(std::string_view type_text, std::span<const int64_t> shape) {
  std::string header = "{'descr': '" + std::string(type_text) +
                       "', 'fortran_order': False, 'shape': " + FormatDims(shape) + ", }";
  if (!shape.empty()) header.append(kGrowthDigits - std::to_string(shape[0]).size(), ' ');
  const size_t length = header.size() + 1;
  header.append(kNpyAlignment - (10 + length) % kNpyAlignment, ' ');
  header += '\n';
  std::string preamble(kMagic);
  preamble += '\x01';
  preamble += '\x00';
  preamble += static_cast<char>(header.size() & 0xff);
  preamble += static_cast<char>(header.size() >> 8);
  return preamble + header;
}

}  // namespace vernier
