#include "io/journal.h"

#include <utility>

#include "io/checksum.h"
#include "io/json_tape.h"
#include "io/json_writer.h"
#include "util/number_text.h"

namespace vernier {
namespace {

using JsonKind = JsonValue::Kind;

void PutNumber(JsonWriter& writer, std::string_view key, uint64_t value) {
  writer.Key(key);
  writer.Integer(static_cast<int64_t>(value));
}

std::string Line(const StringSink& sink, JsonWriter& writer) {
  writer.EndObject();
  // A string takes everything: there is no error to report.
  return writer.Finish().ok() ? sink.text() + "\n" : std::string();
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

bool ReadLayout(JsonValue line, Journal& journal) {
  const auto tensors = line.Find("tensors");
  if (Number(line, "layout") != journal.layouts.size() || !tensors->is(JsonKind::kArray))
    return false;
  JournalLayout layout;
  for (const JsonValue element : tensors->Elements()) {
    std::optional<JournalTensor> tensor = ReadTensor(element);
    if (!tensor) return false;
    layout.push_back(*std::move(tensor));
  }
  journal.layouts.push_back(std::move(layout));
  return true;
}

bool ReadIteration(JsonValue line, Journal& journal) {
  const auto runner = Number(line, "runner");
  const auto iteration = Number(line, "iteration");
  const auto begin = Number(line, "begin");
  const auto end = Number(line, "end");
  if (!runner || !iteration || !begin || !end || *end < *begin) return false;
  if (*runner >= journal.runs.size() || *iteration != journal.runs[*runner].size()) return false;
  JournalIteration entry{.runner = *runner,
                         .iteration = *iteration,
                         .begin = *begin,
                         .end = *end,
                         .layout = Number(line, "layout"),
                         .name = Text(line, "runner_name"),
                         .runtime_s = std::nullopt,
                         .checksum = ParseChecksum(Text(line, "xxh3").value_or("-")),
                         .feed = ParseChecksum(Text(line, "feed").value_or("-"))};
  if (entry.layout && *entry.layout >= journal.layouts.size()) return false;
  const auto runtime = line.Find("runtime");
  if (runtime && runtime->is(JsonKind::kNumber)) entry.runtime_s = JsonNumberValue(runtime->raw());
  journal.runs[*runner].push_back(std::move(entry));
  return true;
}

}  // namespace

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
    return "";
  }
  entry.layout = known.number = next++;
  known.layout = std::move(layout);
  return FormatJournalLayout(*known.number, known.layout);
}

Journal ParseJournal(std::string_view text, size_t runners) {
  Journal journal;
  journal.runs.resize(runners);
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const Result<JsonTape> tape = JsonTape::Parse(text.substr(0, end));
    if (!tape.ok() || !tape->root().is(JsonKind::kObject)) break;
    const JsonValue line = tape->root();
    if (!(line.Find("tensors") ? ReadLayout(line, journal) : ReadIteration(line, journal))) break;
    text.remove_prefix(end + 1);
  }
  return journal;
}

}  // namespace vernier
