#include "io/archive/archive_metadata.h"

#include <utility>

#include "io/bytes/checksum.h"
#include "io/json/json_reader.h"
#include "io/json/json_stream.h"
#include "io/json/json_writer.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

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
  if (!run.steps.empty()) {
    writer.Key("steps");
    writer.String(run.steps);
  }
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

// One of the strings that may be there; anything else is passed over.
Result<std::optional<std::string>> OptionalText(JsonStream& stream) {
  if (!stream.is(JsonToken::kString)) {
    VERNIER_TRY(stream.Skip());
    return std::optional<std::string>();
  }
  VERNIER_ASSIGN_OR_RETURN(std::string text, stream.Text());
  return std::optional(std::move(text));
}

Status ReadIteration(JsonStream& stream, ArchiveIterations& iterations) {
  std::optional<std::string> own_name;
  std::optional<double> runtime_s;
  std::optional<uint64_t> feed;
  if (!stream.is(JsonToken::kBeginObject)) {
    VERNIER_TRY(stream.Skip());
  } else {
    VERNIER_TRY(stream.ForEachMember([&](const std::string& key) -> Status {
      if (key == "runner_name") {
        VERNIER_ASSIGN_OR_RETURN(own_name, OptionalText(stream));
        return {};
      }
      if (key == "feed") {
        VERNIER_ASSIGN_OR_RETURN(const std::optional<std::string> text, OptionalText(stream));
        feed = text ? ParseChecksum(*text) : std::nullopt;
        return {};
      }
      const bool runtime = key == "runtime" && stream.is(JsonToken::kNumber);
      if (runtime) runtime_s = JsonNumberValue(stream.raw());
      return stream.Skip();
    }));
  }
  iterations.Add(own_name, runtime_s, feed);
  return {};
}

Result<ArchiveRun> ReadRun(JsonStream& stream) {
  std::optional<std::string> key;
  std::optional<std::string> name;
  std::optional<std::string> steps;
  std::shared_ptr<ArchiveIterations> iterations;
  const auto bad = [] { return Bad("a run's key, name or iterations"); };
  if (!stream.is(JsonToken::kBeginObject)) return bad();
  VERNIER_TRY(stream.ForEachMember([&](const std::string& member) -> Status {
    if (member == "key" || member == "name" || member == "steps") {
      std::optional<std::string>& text = member == "key" ? key : member == "name" ? name : steps;
      VERNIER_ASSIGN_OR_RETURN(text, OptionalText(stream));
      return {};
    }
    if (member != "iterations" || !stream.is(JsonToken::kBeginArray)) return stream.Skip();
    iterations = std::make_shared<ArchiveIterations>();
    return stream.ForEachElement([&] { return ReadIteration(stream, *iterations); });
  }));
  if (!key || !name || iterations == nullptr) return bad();
  return ArchiveRun{*std::move(key), *std::move(name), std::move(iterations),
                    std::move(steps).value_or("")};
}

Result<StoredType> ReadType(JsonStream& stream) {
  std::optional<DType> dtype;
  std::optional<Dims> dims;
  const auto bad = [] { return Bad("a tensor's dtype or shape"); };
  if (!stream.is(JsonToken::kBeginObject)) return bad();
  VERNIER_TRY(stream.ForEachMember([&](const std::string& key) -> Status {
    if (key == "dtype") {
      VERNIER_ASSIGN_OR_RETURN(const std::optional<std::string> name, OptionalText(stream));
      dtype = name ? DTypeFromName(*name) : std::nullopt;
      return {};
    }
    if (key != "shape" || !stream.is(JsonToken::kBeginArray)) return stream.Skip();
    dims.emplace();
    return stream.ForEachElement([&]() -> Status {
      const auto dim = stream.is(JsonToken::kNumber) ? ParseInt(stream.raw()) : std::nullopt;
      if (!dim) return Bad("a dimension");
      dims->push_back(*dim);
      return {};
    });
  }));
  if (!dtype || !dims) return bad();
  return StoredType{*dtype, *std::move(dims)};
}

Status ReadMember(JsonStream& stream, const std::string& key, ArchiveMetadata& metadata) {
  if (key == "runs" && stream.is(JsonToken::kBeginArray)) {
    metadata.is_results = true;
    metadata.runs.clear();
    return stream.ForEachElement([&]() -> Status {
      VERNIER_ASSIGN_OR_RETURN(ArchiveRun run, ReadRun(stream));
      metadata.runs.push_back(std::move(run));
      return {};
    });
  }
  if (key == "feeds") {
    const auto count = stream.is(JsonToken::kNumber) ? ParseInt(stream.raw()) : std::nullopt;
    if (!count || *count < 0) return Bad("the number of feeds");
    metadata.feed_count = static_cast<uint64_t>(*count);
    return {};
  }
  if (key != "types" || !stream.is(JsonToken::kBeginObject)) return stream.Skip();
  return stream.ForEachMember([&](const std::string& name) -> Status {
    VERNIER_ASSIGN_OR_RETURN(StoredType type, ReadType(stream));
    metadata.types.names.Add(name);
    metadata.types.numbers.push_back(metadata.types.types.Keep(std::move(type)));
    return {};
  });
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

Result<ArchiveMetadata> ReadArchiveMetadata(const JsonText& text) {
  const auto unknown = [] { return Bad("a schema_version that is known here (1)"); };
  JsonStream stream(text, "the file's vernier metadata");
  VERNIER_TRY(stream.Advance());
  if (!stream.is(JsonToken::kBeginObject)) return unknown();
  ArchiveMetadata metadata;
  bool known = false;
  VERNIER_TRY(stream.ForEachMember([&](const std::string& key) -> Status {
    if (key != "schema_version") return ReadMember(stream, key, metadata);
    known = stream.raw() == std::to_string(kSchemaVersion);
    return known ? stream.Skip() : unknown();
  }));
  VERNIER_TRY(stream.Advance());  // nothing may be behind it
  if (!known) return unknown();
  metadata.types.names.Finish();
  return metadata;
}

void ArchiveIterations::Add(const std::optional<std::string>& own_name,
                            std::optional<double> runtime_s, std::optional<uint64_t> feed) {
  records_.push_back({.runtime_s = runtime_s.value_or(0),
                      .feed = feed.value_or(0),
                      .name = own_name ? names_.Keep(*own_name) : 0,
                      .has_runtime = runtime_s.has_value(),
                      .has_feed = feed.has_value(),
                      .has_name = own_name.has_value()});
}

ArchiveIteration ArchiveIterations::Get(size_t index, const std::string& run_name) const {
  const Record& record = records_[index];
  ArchiveIteration iteration;
  iteration.runner_name = record.has_name ? names_[record.name] : run_name;
  if (record.has_runtime) iteration.runtime_s = record.runtime_s;
  if (record.has_feed) iteration.feed = record.feed;
  return iteration;
}

uint32_t StoredTypeTable::Keep(StoredType type) {
  const auto number = static_cast<uint32_t>(types_.size());
  const auto [entry, is_new] = numbers_.try_emplace({type.dtype, type.dims}, number);
  if (is_new) types_.push_back(std::move(type));
  return entry->second;
}

const StoredType* StoredTypes::Find(std::string_view name) const {
  if (numbers.empty()) return nullptr;
  const std::optional<size_t> index = names.Find(name);
  return index ? &types[numbers[*index]] : nullptr;
}

}  // namespace vernier
