// Runs the functions of src/inputs and util/cast_grammar on requests from Python: one JSON object
// per line on stdin, one per line on stdout. See test_inputs_oracle.py.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inputs/coerce_feed.h"
#include "inputs/draw_tensor.h"
#include "inputs/polygraphy_text.h"
#include "inputs/random_feeds.h"
#include "inputs/shape_spec.h"
#include "inputs/value_ranges.h"
#include "util/log/recording_logger.h"
#include "util/text/cast_grammar.h"

namespace vernier {
namespace {

using nlohmann::json;

json LinesOf(const RecordingLogger& logger) {
  json lines = json::array();
  for (const RecordingLogger::Line& line : logger.lines) {
    lines.push_back({static_cast<int>(line.severity), line.text, line.once});
  }
  return lines;
}

std::string ToHex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15u];
  }
  return text;
}

std::vector<std::byte> FromHex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

json Failure(const Status& status) {
  return {{"error", status.message()}, {"code", static_cast<int>(status.code())}};
}

json ToJson(const TensorMap& map) {
  json tensors = json::array();
  for (const NamedTensor& entry : map) {
    tensors.push_back({{"name", entry.name},
                       {"dtype", DTypeName(entry.tensor.dtype())},
                       {"dims", entry.tensor.dims()},
                       {"hex", ToHex(entry.tensor.bytes())}});
  }
  return tensors;
}

std::vector<TensorInfo> InputsFrom(const json& request) {
  std::vector<TensorInfo> inputs;
  for (const json& entry : request.at("inputs")) {
    std::vector<Dim> shape;
    for (const json& dim : entry.at("shape")) {
      if (dim.is_number())
        shape.push_back({dim.get<int64_t>(), ""});
      else
        shape.push_back({-1, dim.is_null() ? "" : dim.get<std::string>()});
    }
    inputs.push_back(
        {entry.at("name"), *DTypeFromName(entry.at("dtype").get<std::string>()), std::move(shape)});
  }
  return inputs;
}

Strictness StrictnessFrom(const json& request) {
  return request.value("strict", false) ? Strictness::kStrict : Strictness::kPolygraphy;
}

std::vector<std::string> Words(const json& request, const char* key) {
  return request.value(key, std::vector<std::string>());
}

json Arglist(const json& request) {
  const KeyRules rules{.separator = ':',
                       .allow_empty_key = request.value("allow_empty_key", true),
                       .bare_word_is_value = request.value("bare_word_is_value", true)};
  const auto values = ParseKeyedValues(Words(request, "words"), rules);
  if (!values.ok()) return Failure(values.status());
  json items = json::array();
  for (const KeyedValue& entry : *values) {
    items.push_back({entry.key, FormatCastValue(entry.value)});
  }
  return {{"items", items}};
}

json ByteCount(const json& request) {
  const Result<int64_t> count = ParseByteCount(request.at("word").get<std::string>());
  return count.ok() ? json{{"count", *count}} : Failure(count.status());
}

json Shapes(const json& request) {
  const auto specs = ParseShapeSpecs(Words(request, "words"), StrictnessFrom(request));
  return specs.ok() ? json{{"text", FormatShapeSpecs(KeepLastShapes(*specs))}}
                    : Failure(specs.status());
}

json Draw(const json& request) {
  const auto ranges = ParseValueRanges(Words(request, "ranges"));
  if (!ranges.ok()) return Failure(ranges.status());
  NumpyRandom random(request.at("seed").get<uint32_t>());
  json drawn = json::array();
  for (const json& entry : request.at("tensors")) {
    const DType dtype = *DTypeFromName(entry.at(0).get<std::string>());
    const auto tensor = DrawTensor(dtype, entry.at(1).get<Dims>(), RangeFor(*ranges, ""), random);
    if (!tensor.ok()) return Failure(tensor.status());
    drawn.push_back(ToHex(tensor->bytes()));
  }
  return {{"hex", drawn}};
}

json Feeds(const json& request) {
  RecordingLogger logger;
  const auto ranges = ParseValueRanges(Words(request, "ranges"));
  if (!ranges.ok()) return Failure(ranges.status());
  const auto shapes = ParseShapeSpecs(Words(request, "shapes"), StrictnessFrom(request));
  if (!shapes.ok()) return Failure(shapes.status());
  // As the run does before it activates anything.
  if (!shapes->empty()) {
    logger.Info("Will generate inference input data according to provided TensorMetadata: " +
                FormatShapeSpecs(KeepLastShapes(*shapes)));
  }
  const auto feeds = RandomFeeds::Create({.seed = request.value("seed", int64_t{1}),
                                          .iterations = request.value("iterations", int64_t{1}),
                                          .ranges = *ranges,
                                          .shapes = *shapes,
                                          .strictness = StrictnessFrom(request)},
                                         InputsFrom(request));
  if (!feeds.ok()) return Failure(feeds.status());
  json made = json::array();
  for (int64_t i = 0; i < feeds->count(); ++i) {
    const auto feed = feeds->Make(i, logger);
    if (!feed.ok()) return Failure(feed.status());
    made.push_back(ToJson(*feed));
  }
  return {{"feeds", made}, {"log", LinesOf(logger)}};
}

json Coerce(const json& request) {
  TensorMap feed;
  for (const json& entry : request.at("feed")) {
    auto tensor = Tensor::Copy(*DTypeFromName(entry.at("dtype").get<std::string>()),
                               entry.at("dims").get<Dims>(), FromHex(entry.at("hex")));
    if (!tensor.ok()) return Failure(tensor.status());
    feed.push_back({entry.at("name"), *std::move(tensor)});
  }
  RecordingLogger logger;
  const auto coerced =
      CoerceFeed(feed, InputsFrom(request), {.strictness = StrictnessFrom(request)}, logger);
  json answer =
      coerced.ok() ? json{{"tensors", ToJson(coerced->tensors)}} : Failure(coerced.status());
  answer["log"] = LinesOf(logger);
  return answer;
}

json Answer(const json& request) {
  const std::string op = request.at("op");
  if (op == "cast")
    return {{"repr", FormatCastValue(ParseCastValue(request.at("word").get<std::string>()))}};
  if (op == "arglist") return Arglist(request);
  if (op == "bytes") return ByteCount(request);
  if (op == "shapes") return Shapes(request);
  if (op == "draw") return Draw(request);
  if (op == "feeds") return Feeds(request);
  if (op == "coerce") return Coerce(request);
  if (op == "numpy_ints") {
    return {{"text", FormatNumpyInts(request.at("values").get<std::vector<int64_t>>())}};
  }
  return {{"error", "unknown op " + op}};
}

}  // namespace
}  // namespace vernier

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << vernier::Answer(nlohmann::json::parse(line)).dump() << std::endl;
  }
  return 0;
}
