#include "io/archive_metadata.h"

#include <utility>

#include "io/checksum.h"
#include "io/json_tape.h"
#include "io/json_writer.h"
#include "util/number_text.h"

namespace vernier {
namespace {

using Kind = JsonValue::Kind;

constexpr int64_t kSchemaVersion = 1;

Status Bad(std::string_view what) {
  return Malformed("the file's vernier metadata lack " + std::string(what));
}

void WriteIteration(JsonWriter& writer, const ArchiveIteration& iteration,
                    const std::string& run_name) {
  writer.BeginObject();
  if (iteration.runner_name != run_name) {
    writer.Key("runner_name");
    writer.String(iteration.runner_name);
  }
  writer.Key("runtime");
  iteration.runtime_s ? writer.Double(*iteration.runtime_s) : writer.Null();
  if (iteration.feed) {
    writer.Key("feed");
    writer.String(ChecksumText(*iteration.feed));
  }
  writer.EndObject();
}

Status WriteRun(JsonWriter& writer, const WrittenMetadata::Run& run) {
  writer.BeginObject();
  writer.Key("key");
  writer.String(run.key);
  writer.Key("name");
  writer.String(run.name);
  writer.Key("iterations");
  writer.BeginArray();
  VERNIER_TRY(run.iterations([&](const ArchiveIteration& iteration) {
    WriteIteration(writer, iteration, run.name);
    return Status();
  }));
  writer.EndArray();
  writer.EndObject();
  return {};
}

void WriteType(JsonWriter& writer, const StoredType& type) {
  writer.BeginObject();
  writer.Key("dtype");
  writer.String(DTypeName(type.dtype));
  writer.Key("shape");
  writer.BeginArray();
  for (const int64_t dim : type.dims) writer.Integer(dim);
  writer.EndArray();
  writer.EndObject();
}

Result<ArchiveRun> ReadRun(JsonValue value) {
  const auto key = value.Find("key");
  const auto name = value.Find("name");
  const auto iterations = value.Find("iterations");
  if (!key || !key->is(Kind::kString) || !name || !name->is(Kind::kString) || !iterations ||
      !iterations->is(Kind::kArray)) {
    return Bad("a run's key, name or iterations");
  }
  ArchiveRun run{.key = key->Text(), .name = name->Text(), .iterations = {}};
  for (const JsonValue element : iterations->Elements()) {
    ArchiveIteration iteration{
        .runner_name = run.name, .runtime_s = std::nullopt, .feed = std::nullopt};
    const auto own_name = element.Find("runner_name");
    if (own_name && own_name->is(Kind::kString)) iteration.runner_name = own_name->Text();
    const auto runtime = element.Find("runtime");
    if (runtime && runtime->is(Kind::kNumber))
      iteration.runtime_s = JsonNumberValue(runtime->raw());
    const auto feed = element.Find("feed");
    if (feed && feed->is(Kind::kString)) iteration.feed = ParseChecksum(feed->Text());
    run.iterations.push_back(std::move(iteration));
  }
  return run;
}

Result<StoredType> ReadType(JsonValue value) {
  const auto name = value.Find("dtype");
  const auto shape = value.Find("shape");
  const auto dtype = name && name->is(Kind::kString) ? DTypeFromName(name->Text()) : std::nullopt;
  if (!dtype || !shape || !shape->is(Kind::kArray)) return Bad("a tensor's dtype or shape");
  StoredType type{.dtype = *dtype, .dims = {}};
  for (const JsonValue element : shape->Elements()) {
    const auto dim = ParseInt(element.raw());
    if (!dim) return Bad("a dimension");
    type.dims.push_back(*dim);
  }
  return type;
}

}  // namespace

Status WriteArchiveMetadata(ByteSink& sink, const WrittenMetadata& metadata,
                            const Sequence<std::string, StoredType>& types) {
  JsonWriter writer(sink, JsonLayout::kCompact);
  writer.BeginObject();
  writer.Key("schema_version");
  writer.Integer(kSchemaVersion);
  if (metadata.is_results) {
    writer.Key("runs");
    writer.BeginArray();
    for (const WrittenMetadata::Run& run : metadata.runs) VERNIER_TRY(WriteRun(writer, run));
    writer.EndArray();
  }
  if (metadata.feed_count) {
    writer.Key("feeds");
    writer.Integer(static_cast<int64_t>(*metadata.feed_count));
  }
  writer.Key("types");
  writer.BeginObject();
  VERNIER_TRY(types([&writer](const std::string& name, const StoredType& type) {
    writer.Key(name);
    WriteType(writer, type);
    return Status();
  }));
  writer.EndObject();
  writer.EndObject();
  return writer.Finish();
}

Result<ArchiveMetadata> ParseArchiveMetadata(std::string_view text) {
  VERNIER_ASSIGN_OR_RETURN(const JsonTape tape, JsonTape::Parse(text));
  const auto version = tape.root().Find("schema_version");
  if (!version || version->raw() != std::to_string(kSchemaVersion)) {
    return Bad("a schema_version that is known here (1)");
  }
  ArchiveMetadata metadata;
  if (const auto runs = tape.root().Find("runs"); runs && runs->is(Kind::kArray)) {
    metadata.is_results = true;
    for (const JsonValue element : runs->Elements()) {
      VERNIER_ASSIGN_OR_RETURN(ArchiveRun run, ReadRun(element));
      metadata.runs.push_back(std::move(run));
    }
  }
  if (const auto feeds = tape.root().Find("feeds")) {
    const auto count = ParseInt(feeds->raw());
    if (!count || *count < 0) return Bad("the number of feeds");
    metadata.feed_count = static_cast<uint64_t>(*count);
  }
  const auto types = tape.root().Find("types");
  if (!types) return metadata;
  for (const auto& [name, value] : types->Members()) {
    VERNIER_ASSIGN_OR_RETURN(StoredType type, ReadType(value));
    metadata.types.emplace(name, std::move(type));
  }
  return metadata;
}

}  // namespace vernier
