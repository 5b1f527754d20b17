#include "io/journal/journal.h"

#include <algorithm>
#include <span>
#include <utility>

#include "io/bytes/checksum.h"
#include "io/json/json_tape.h"
#include "io/json/json_writer.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

using JsonKind = JsonValue::Kind;

void PutNumber(JsonWriter& writer, std::string_view key, uint64_t value) {
  writer.Key(key);
  writer.Integer(static_cast<int64_t>(value));
}

// The last key of a line: a checksum of all that stands before it.
constexpr std::string_view kSealKey = ",\"line_xxh3\":\"";
constexpr std::string_view kSealEnd = "\"}";

// No line about an iteration is shorter.
constexpr size_t kShortestLine = 40;

uint64_t ChecksumOf(std::string_view text) {
  Checksum checksum;
  checksum.Add(std::as_bytes(std::span(text)));
  return checksum.value();
}

std::string Line(const StringSink& sink, JsonWriter& writer) {
  writer.EndObject();
  // A string takes everything: there is no error to report.
  if (!writer.Finish().ok()) return std::string();
  std::string text = sink.text();
  text.pop_back();
  const std::string seal = ChecksumText(ChecksumOf(text));
  return text + std::string(kSealKey) + seal + std::string(kSealEnd) + "\n";
}

bool IsSealed(std::string_view line) {
  const size_t at = line.rfind(kSealKey);
  if (at == std::string_view::npos || !line.ends_with(kSealEnd)) return false;
  const std::string_view seal = line.substr(at + kSealKey.size());
  if (seal.size() < kSealEnd.size()) return false;
  const auto value = ParseChecksum(seal.substr(0, seal.size() - kSealEnd.size()));
  return value && *value == ChecksumOf(line.substr(0, at));
}

std::optional<uint64_t> Number(JsonValue object, std::string_view key) {
  const auto value = object.Find(key);
  const auto number = value && value->is(JsonKind::kNumber) ? ParseInt(value->raw()) : std::nullopt;
  return number && *number >= 0 ? std::optional(static_cast<uint64_t>(*number)) : std::nullopt;
}

std::optional<std::string> Text(JsonValue object, std::string_view key) {
  const auto value = object.Find(key);
  return value && value->is(JsonKind::kString) ? std::optional(value->Text()) : std::nullopt;
}

std::optional<JournalTensor> ReadTensor(JsonValue value) {
  const auto name = Text(value, "name");
  const auto dtype = DTypeFromName(Text(value, "dtype").value_or(""));
  const auto shape = value.Find("shape");
  const auto bytes = Number(value, "bytes");
  if (!name || !dtype || !shape || !shape->is(JsonKind::kArray) || !bytes) return std::nullopt;
  JournalTensor tensor{.name = *name, .dtype = *dtype, .dims = {}, .bytes = *bytes};
  for (const JsonValue element : shape->Elements()) {
    const auto dim = ParseInt(element.raw());
    if (!dim) return std::nullopt;
    tensor.dims.push_back(*dim);
  }
  return tensor;
}

// Where lines have checksums a layout may come again, or after one whose line is damaged.
bool ReadLayout(JsonValue line, bool sealed, Journal& journal) {
  const auto tensors = line.Find("tensors");
  const auto number = Number(line, "layout");
  if (!number || !tensors->is(JsonKind::kArray)) return false;
  if (!sealed && *number != journal.layouts.size()) return false;
  JournalLayout layout;
  for (const JsonValue element : tensors->Elements()) {
    std::optional<JournalTensor> tensor = ReadTensor(element);
    if (!tensor) return false;
    layout.push_back(*std::move(tensor));
  }
  const auto [known, is_new] = journal.layouts.emplace(*number, layout);
  return is_new || known->second == layout;
}

// A gap is left by a damaged line. `most`: iterations that the journal has room for.
bool FitsIn(const Journal& journal, uint64_t runner, uint64_t iteration, uint64_t most) {
  if (runner >= journal.runs.size()) return false;
  const size_t next = journal.runs[runner].size();
  return iteration == next || (iteration > next && iteration < most);
}

bool ReadIteration(JsonValue line, uint64_t most, Journal& journal) {
  const auto runner = Number(line, "runner");
  const auto iteration = Number(line, "iteration");
  const auto begin = Number(line, "begin");
  const auto end = Number(line, "end");
  if (!runner || !iteration || !begin || !end || *end < *begin) return false;
  if (!FitsIn(journal, *runner, *iteration, most)) return false;
  JournalIteration entry{.runner = *runner,
                         .iteration = *iteration,
                         .begin = *begin,
                         .end = *end,
                         .layout = Number(line, "layout"),
                         .name = Text(line, "runner_name"),
                         .runtime_s = std::nullopt,
                         .checksum = ParseChecksum(Text(line, "xxh3").value_or("-")),
                         .feed = ParseChecksum(Text(line, "feed").value_or("-"))};
  // Of older versions a layout always stands before its iterations.
  if (most == 0 && entry.layout && !journal.layouts.contains(*entry.layout)) return false;
  const auto runtime = line.Find("runtime");
  if (runtime && runtime->is(JsonKind::kNumber)) entry.runtime_s = JsonNumberValue(runtime->raw());
  journal.runs[*runner].resize(*iteration);
  journal.runs[*runner].emplace_back(std::move(entry));
  return true;
}

bool ReadSource(JsonValue line, Journal& journal) {
  const auto kind = Text(line, "made_with"), name = Text(line, "name"), value = Text(line, "value");
  if (!kind || !name || !value) return false;
  journal.sources.push_back(
      {*kind, *name, *value, Text(line, "path").value_or(""), Text(line, "hash").value_or("")});
  return true;
}

// `most` is 0 in journals without checksums.
bool ReadLine(std::string_view text, uint64_t most, Journal& journal) {
  const bool sealed = most > 0;
  if (sealed && !IsSealed(text)) return false;
  const Result<JsonTape> tape = JsonTape::Parse(text);
  if (!tape.ok() || !tape->root().is(JsonKind::kObject)) return false;
  const JsonValue line = tape->root();
  if (line.Find("made_with")) return ReadSource(line, journal);
  return line.Find("tensors") ? ReadLayout(line, sealed, journal)
                              : ReadIteration(line, most, journal);
}

// Takes the next line, without its end, off the text; null when there is no whole one.
std::optional<std::string_view> TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

bool HasSealedLine(std::string_view text) {
  while (const auto line = TakeLine(text)) {
    if (IsSealed(*line)) return true;
  }
  return false;
}

// What a kill never leaves: a line has no control characters.
bool IsDamagedEnd(std::string_view rest) {
  return std::ranges::any_of(rest, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

// A runner's layout stands in the journal when it is used for the first time, and again at once and
// beyond the block of 4 KiB that a power cut takes.
bool ComesAgain(size_t uses) { return uses == 2 || uses == 64 || uses % 4096 == 0; }

}  // namespace

std::string FormatJournalSource(const JournalSource& source) {
  StringSink sink;
  JsonWriter writer(sink, JsonLayout::kCompact);
  writer.BeginObject();
  const auto put = [&](std::string_view key, const std::string& text) {
    writer.Key(key);
    writer.String(text);
  };
  put("made_with", source.kind);
  put("name", source.name);
  put("value", source.value);
  if (!source.path.empty()) put("path", source.path);
  if (!source.hash.empty()) put("hash", source.hash);
  return Line(sink, writer);
}

std::string FormatJournalLayout(size_t number, const JournalLayout& layout) {
  StringSink sink;
  JsonWriter writer(sink, JsonLayout::kCompact);
  writer.BeginObject();
  PutNumber(writer, "layout", number);
  writer.Key("tensors");
  writer.BeginArray();
  for (const JournalTensor& tensor : layout) {
    writer.BeginObject();
    writer.Key("name");
    writer.String(tensor.name);
    writer.Key("dtype");
    writer.String(DTypeName(tensor.dtype));
    writer.Key("shape");
    writer.BeginArray();
    for (const int64_t dim : tensor.dims) writer.Integer(dim);
    writer.EndArray();
    PutNumber(writer, "bytes", tensor.bytes);
    writer.EndObject();
  }
  writer.EndArray();
  return Line(sink, writer);
}

std::string FormatJournalIteration(const JournalIteration& iteration) {
  StringSink sink;
  JsonWriter writer(sink, JsonLayout::kCompact);
  writer.BeginObject();
  PutNumber(writer, "runner", iteration.runner);
  PutNumber(writer, "iteration", iteration.iteration);
  PutNumber(writer, "begin", iteration.begin);
  PutNumber(writer, "end", iteration.end);
  if (iteration.layout) PutNumber(writer, "layout", *iteration.layout);
  if (iteration.name) {
    writer.Key("runner_name");
    writer.String(*iteration.name);
  }
  if (iteration.runtime_s) {
    writer.Key("runtime");
    writer.Double(*iteration.runtime_s);
  }
  if (iteration.checksum) {
    writer.Key("xxh3");
    writer.String(ChecksumText(*iteration.checksum));
  }
  if (iteration.feed) {
    writer.Key("feed");
    writer.String(ChecksumText(*iteration.feed));
  }
  return Line(sink, writer);
}

std::string DescribeLayout(const TensorMap& tensors, KnownLayout& known, size_t& next,
                           JournalIteration& entry) {
  JournalLayout layout;
  for (const auto& [name, tensor] : tensors) {
    layout.push_back({.name = name,
                      .dtype = tensor.dtype(),
                      .dims = tensor.dims(),
                      .bytes = tensor.bytes().size()});
  }
  if (known.number && layout == known.layout) {
    entry.layout = known.number;
    return ComesAgain(++known.uses) ? FormatJournalLayout(*known.number, known.layout) : "";
  }
  entry.layout = known.number = next++;
  known.layout = std::move(layout);
  known.uses = 1;
  return FormatJournalLayout(*known.number, known.layout);
}

Journal ParseJournal(std::string_view text, size_t runners) {
  Journal journal;
  journal.runs.resize(runners);
  const uint64_t most = HasSealedLine(text) ? text.size() / kShortestLine + 1 : 0;
  size_t number = 1;
  for (; const auto line = TakeLine(text); ++number) {
    if (ReadLine(*line, most, journal)) continue;
    journal.damaged.push_back(number);
    journal.cut_off = most == 0;
    if (journal.cut_off) return journal;
  }
  if (IsDamagedEnd(text)) journal.damaged.push_back(number);
  return journal;
}

std::string DescribeDamage(const Journal& journal) {
  if (journal.damaged.empty()) return "";
  return "is damaged in " + Noun(journal.damaged.size(), "line ", "lines ") +
         NumberRanges(journal.damaged) +
         (journal.cut_off ? ", and because its lines have no checksums, the lines after it are not"
                            " used"
                          : "");
}

}  // namespace vernier
