#include "report/models/engine_json.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string_view>

#include "io/bytes/byte_sink.h"
#include "io/json/json_writer.h"

namespace vernier {
namespace {

std::string ToJson(const std::function<void(JsonWriter&)>& write) {
  StringSink sink;
  JsonWriter writer(sink);
  write(writer);
  (void)writer.Finish();  // a string takes everything
  return sink.text();
}

void WriteText(std::string_view key, std::string_view text, JsonWriter& writer) {
  writer.Key(key);
  writer.String(text);
}

// What an engine does not report is null.
void WriteKnown(std::string_view key, std::string_view text, JsonWriter& writer) {
  writer.Key(key);
  if (text.empty() || text == "Unknown" || text == "N/A") return writer.Null();
  writer.String(text);
}

void WriteDims(std::string_view key, std::span<const int64_t> dims, JsonWriter& writer) {
  writer.Key(key);
  writer.BeginArray();
  for (const int64_t dim : dims) writer.Integer(dim);
  writer.EndArray();
}

void WriteTexts(std::string_view key, const std::vector<std::string>& texts, JsonWriter& writer) {
  writer.Key(key);
  writer.BeginArray();
  for (const std::string& text : texts) writer.String(text);
  writer.EndArray();
}

void WriteTensors(const EngineRecord& engine, JsonWriter& writer) {
  writer.Key("tensors");
  writer.BeginArray();
  for (const EngineTensor& tensor : engine.tensors) {
    writer.BeginObject();
    WriteText("name", tensor.name, writer);
    WriteText("role", tensor.input ? "input" : "output", writer);
    WriteText("dtype", tensor.dtype, writer);
    WriteDims("shape", tensor.shape, writer);
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteProfiles(const EngineRecord& engine, JsonWriter& writer) {
  writer.Key("profiles");
  writer.BeginArray();
  for (const EngineProfile& profile : engine.profiles) {
    writer.BeginObject();
    const size_t count = std::min(profile.shapes.size(), engine.tensors.size());
    for (size_t i = 0; i < count; ++i) {
      if (!engine.tensors[i].input) continue;
      writer.Key(engine.tensors[i].name);
      writer.BeginObject();
      WriteDims("min", profile.shapes[i].min, writer);
      WriteDims("opt", profile.shapes[i].opt, writer);
      WriteDims("max", profile.shapes[i].max, writer);
      writer.EndObject();
    }
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteRange(const TensorRange& range, JsonWriter& writer) {
  const auto write = [&](std::string_view key, double value) {
    writer.Key(key);
    return std::isfinite(value) ? writer.Double(value) : writer.Null();
  };
  write("min", range.min);
  write("max", range.max);
  write("mean", range.mean);
}

void WriteLayerTensors(std::string_view key, const std::vector<EngineLayerTensor>& tensors,
                       const EngineTextOptions& options, JsonWriter& writer) {
  writer.Key(key);
  writer.BeginArray();
  for (const EngineLayerTensor& tensor : tensors) {
    writer.BeginObject();
    WriteText("name", tensor.name, writer);
    WriteKnown("dtype", tensor.dtype, writer);
    WriteDims("shape", tensor.shape, writer);
    WriteKnown("format", tensor.format, writer);
    const auto range = options.ranges.find(tensor.name);
    if (range != options.ranges.end()) WriteRange(range->second, writer);
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteLayers(const EngineRecord& engine, const EngineTextOptions& options, JsonWriter& writer) {
  const size_t profiles =
      engine.layers_repeat ? std::max(engine.profiles.size(), size_t{1}) : size_t{1};
  const size_t each = engine.layers.size() / profiles;
  writer.Key("layers");
  writer.BeginArray();
  for (size_t i = 0; i < each * profiles; ++i) {
    const EngineLayer& layer = engine.layers[i];
    writer.BeginObject();
    WriteText("name", layer.name, writer);
    writer.Key("profile");
    writer.Integer(static_cast<int64_t>(i / each));
    WriteKnown("op", layer.type, writer);
    WriteLayerTensors("inputs", layer.inputs, options, writer);
    WriteLayerTensors("outputs", layer.outputs, options, writer);
    if (options.attributes) {
      WriteKnown("origin", layer.origin, writer);
      WriteKnown("tactic", layer.tactic, writer);
    }
    writer.EndObject();
  }
  writer.EndArray();
}

}  // namespace

std::string FormatEngineJson(const EngineRecord& engine, const EngineTextOptions& options) {
  return ToJson([&](JsonWriter& writer) {
    writer.BeginObject();
    WriteText("name", engine.name, writer);
    writer.Key("refittable");
    writer.Bool(engine.refittable);
    writer.Key("device_memory_bytes");
    writer.Integer(engine.device_memory_bytes);
    writer.Key("detailed");
    writer.Bool(engine.detailed);
    WriteTensors(engine, writer);
    WriteProfiles(engine, writer);
    if (options.layers) WriteLayers(engine, options, writer);
    writer.EndObject();
  });
}

std::string FormatTacticsJson(const std::vector<TacticOfLayer>& tactics) {
  return ToJson([&](JsonWriter& writer) {
    writer.BeginArray();
    for (const TacticOfLayer& tactic : tactics) {
      writer.BeginObject();
      WriteText("layer", tactic.layer, writer);
      WriteText("algorithm", tactic.algorithm, writer);
      writer.EndObject();
    }
    writer.EndArray();
  });
}

std::string FormatTacticDifferenceJson(const LoadedReplays& good, const LoadedReplays& bad,
                                       const TacticsByLayer& only_in_bad) {
  return ToJson([&](JsonWriter& writer) {
    writer.BeginObject();
    WriteTexts("good", good.read, writer);
    WriteTexts("bad", bad.read, writer);
    writer.Key("only_in_bad");
    writer.BeginArray();
    for (const auto& [layer, algorithms] : only_in_bad) {
      writer.BeginObject();
      WriteText("layer", layer, writer);
      WriteTexts("algorithms", algorithms, writer);
      writer.EndObject();
    }
    writer.EndArray();
    writer.EndObject();
  });
}

}  // namespace vernier
