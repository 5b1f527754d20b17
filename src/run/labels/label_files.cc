#include "run/labels/label_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/archive/archive_names.h"
#include "io/archive/npy.h"
#include "io/archive/tensor_archive.h"
#include "io/json/json_reader.h"
#include "util/files/input_file.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

std::string OfFile(const std::string& path) { return "--labels: '" + path + "'"; }

bool AddNumber(std::string_view text, LabelLines& lines) {
  const std::optional<int64_t> number = ParseInt(text);
  if (number) lines.values.push_back(*number);
  return number.has_value();
}

bool ReadTextLine(std::string_view line, LabelLines& lines) {
  constexpr std::string_view kBlanks = " \t\r";
  for (size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    if (!AddNumber(line.substr(at, end - at), lines)) return false;
    at = line.find_first_not_of(kBlanks, end);
  }
  return true;
}

// Where `reader` stands at the token before a value.
bool ReadJsonLabel(JsonReader& reader, bool may_be_list, LabelLines& lines);

bool ReadJsonValue(JsonToken token, JsonReader& reader, bool may_be_list, LabelLines& lines) {
  switch (token) {
    case JsonToken::kNumber:
      return AddNumber(reader.raw(), lines);
    case JsonToken::kTrue:
    case JsonToken::kFalse:
      if (!may_be_list) return false;  // a list has classes
      lines.values.push_back(token == JsonToken::kTrue ? 1 : 0);
      lines.truths.resize(lines.ends.size() + 1);
      lines.truths.back() = true;
      return true;
    case JsonToken::kBeginArray:
      if (!may_be_list) return false;
      for (;;) {
        const Result<JsonToken> next = reader.Next();
        if (!next.ok()) return false;
        if (*next == JsonToken::kEndArray) return true;
        if (!ReadJsonValue(*next, reader, false, lines)) return false;
      }
    default:
      return false;
  }
}

bool ReadJsonLabel(JsonReader& reader, bool may_be_list, LabelLines& lines) {
  const Result<JsonToken> token = reader.Next();
  return token.ok() && ReadJsonValue(*token, reader, may_be_list, lines);
}

// Past a value that is of no interest.
bool SkipJson(JsonReader& reader) {
  int depth = 0;
  do {
    const Result<JsonToken> token = reader.Next();
    if (!token.ok()) return false;
    const bool opens = *token == JsonToken::kBeginArray || *token == JsonToken::kBeginObject;
    const bool closes = *token == JsonToken::kEndArray || *token == JsonToken::kEndObject;
    depth += opens ? 1 : closes ? -1 : 0;
  } while (depth > 0);
  return true;
}

bool ReadJsonObject(JsonReader& reader, LabelLines& lines) {
  bool found = false;
  for (;;) {
    const Result<JsonToken> token = reader.Next();
    if (!token.ok()) return false;
    if (*token == JsonToken::kEndObject) return found;
    const bool is_label = UnescapeJson(reader.raw()) == "label";
    if (is_label && found) return false;
    found |= is_label;
    if (!(is_label ? ReadJsonLabel(reader, true, lines) : SkipJson(reader))) return false;
  }
}

bool ReadJsonLine(std::string_view line, LabelLines& lines) {
  JsonReader reader(line);
  const Result<JsonToken> token = reader.Next();
  if (!token.ok()) return false;
  const bool read = *token == JsonToken::kBeginObject ? ReadJsonObject(reader, lines)
                                                      : ReadJsonValue(*token, reader, true, lines);
  if (!read) return false;
  const Result<JsonToken> end = reader.Next();
  return end.ok() && *end == JsonToken::kEnd;
}

}  // namespace

Status CheckLabelType(const std::string& where, const Tensor& array) {
  switch (Kind(array.dtype())) {
    case DTypeKind::kFloat:
    case DTypeKind::kSignedInt:
    case DTypeKind::kUnsignedInt:
    case DTypeKind::kBool:
      return {};
    default:
      return Malformed(where + " holds " + std::string(DTypeName(array.dtype())) +
                       ", and labels are numbers: indices of classes");
  }
}

namespace {

// "12/label": an iteration whose number is not in ten digits, so that names have another order.
bool CountsOtherwise(std::string_view name) {
  const size_t slash = name.find('/');
  if (slash == 0 || slash == std::string_view::npos) return false;
  return std::ranges::all_of(name.substr(0, slash), IsDigit);
}

// Names that are numbers, of which the one after `last` is smaller.
bool CountsDown(std::string_view last, std::string_view name) {
  const bool numbers = !last.empty() && !name.empty() && std::ranges::all_of(last, IsDigit) &&
                       std::ranges::all_of(name, IsDigit);
  if (!numbers) return false;
  return ParseInt(name).value_or(0) < ParseInt(last).value_or(0);
}

// Of arrays that are taken in the order of the file: `name` follows `last`.
Status CheckOrder(const std::string& where, const std::string& last, const std::string& name) {
  constexpr const char* kWhatToDo = ": name arrays as in files of feeds (0000000000/label)";
  if (CountsOtherwise(name)) {
    return Malformed(where + ": '" + name +
                     "' gives an iteration in other than ten digits, so that the order of the "
                     "arrays may be another" +
                     kWhatToDo);
  }
  if (!CountsDown(last, name)) return {};
  return Malformed(where + ": '" + name + "' follows '" + last +
                   "', and arrays are taken in the order of the file" + kWhatToDo);
}

// A device may have no end.
Status CheckIsFile(const std::string& path) {
  std::error_code ignored;
  const bool there = std::filesystem::exists(path, ignored);
  if (!there || std::filesystem::is_regular_file(path, ignored)) return {};
  return Malformed(OfFile(path) + " is not a regular file");
}

}  // namespace

Result<Tensor> ReadLabelArray(const std::string& path) {
  Result<std::shared_ptr<const InputFile>> file = InputFile::Open(path);
  if (!file.ok()) return std::move(file).Annotate("--labels").status();
  FileSource source(*file, 0, (*file)->size());
  Result<Tensor> array = ReadNpy(source, nullptr);
  if (!array.ok()) return std::move(array).Annotate(OfFile(path)).status();
  VERNIER_TRY(CheckLabelType(OfFile(path), *array));
  return array;
}

Result<std::vector<Tensor>> ReadLabelArrays(const std::string& path) {
  Result<std::unique_ptr<TensorArchive>> opened = TensorArchive::Open(path, ArchiveFormat::kNpz);
  if (!opened.ok()) return std::move(opened).Annotate("--labels").status();
  const TensorArchive& archive = **opened;
  std::map<uint64_t, Tensor> by_iteration;
  size_t named = 0;
  std::string last;
  for (size_t i = 0; i < archive.names().size(); ++i) {
    const std::string name = archive.names().Text(i);
    const std::optional<ArchiveName> parts = ParseArchiveName(name);
    const bool of_feed = parts && parts->run.empty();
    named += of_feed ? 1 : 0;
    if (!of_feed) VERNIER_TRY(CheckOrder(OfFile(path), last, name));
    last = name;
    VERNIER_ASSIGN_OR_RETURN(Tensor array, archive.Read(i));
    VERNIER_TRY(CheckLabelType(OfFile(path) + ": '" + name + "'", array));
    const uint64_t iteration = of_feed ? parts->iteration : i;
    if (named != 0 && named != i + 1) {
      return Malformed(OfFile(path) + ": '" + name +
                       "' is named otherwise than those before it: give all names as in files of "
                       "feeds (0000000000/label), or none");
    }
    if (!by_iteration.emplace(iteration, std::move(array)).second) {
      return Malformed(OfFile(path) + ": iteration " + std::to_string(iteration) +
                       " has several arrays: keep its labels alone");
    }
  }
  std::vector<Tensor> arrays;
  for (auto& [iteration, array] : by_iteration) {
    if (iteration != arrays.size()) {
      return Malformed(OfFile(path) + ": iteration " + std::to_string(arrays.size()) +
                       " has no labels");
    }
    arrays.push_back(std::move(array));
  }
  return arrays;
}

Result<LabelLines> ReadLabelLines(const std::string& path, bool json) {
  VERNIER_TRY(CheckIsFile(path));
  std::ifstream file(path);
  if (!file) return Malformed(OfFile(path) + " cannot be read: " + std::strerror(errno));
  LabelLines lines;
  size_t number = 0, empty = 0;  // of lines; of empty ones before this line
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (number == 0 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    ++number;
    const bool is_empty = line.find_first_not_of(" \t\r") == std::string::npos;
    if (json && !is_empty && empty > 0) {
      return Malformed(OfFile(path) + ", line " + std::to_string(number - empty) +
                       ": is empty, and no label of a sample: write [] for one without a class");
    }
    empty = is_empty ? empty + 1 : 0;
    if (json && is_empty) continue;
    const bool read = json ? ReadJsonLine(line, lines) : ReadTextLine(line, lines);
    if (!read) {
      constexpr size_t kShown = 40;
      return Malformed(
          OfFile(path) + ", line " + std::to_string(number) +
          (json ? ": expected a class, a list of them, or an object with one as \"label\", got "
                : ": expected a class, or several between blanks, got ") +
          QuotePython(std::string_view(line).substr(0, kShown)));
    }
    lines.ends.push_back(lines.values.size());
    lines.truths.resize(lines.ends.size());
  }
  if (!json) lines.empty_at_end = empty;
  if (file.bad()) return Malformed(OfFile(path) + " cannot be read: " + std::strerror(errno));
  return lines;
}

}  // namespace vernier
