#include "report/models/engine_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "report/models/engine_json.h"

namespace vernier {
namespace {

EngineRecord Engine(size_t profiles) {
  EngineRecord engine;
  engine.name = "net";
  engine.refittable = true;
  engine.device_memory_bytes = 512;
  engine.tensors = {{"x", true, "float32", {-1, 16}}, {"longer", false, "float16", {-1}}};
  engine.profiles.assign(profiles, {{{{1, 16}, {2, 16}, {4, 16}}, {}}});
  engine.layers_repeat = true;
  engine.detailed = true;
  for (size_t i = 0; i < profiles; ++i) {
    engine.layers.push_back(
        {"conv + relu",
         "CaskConvolution",
         "Unknown",
         "0x1",
         {{"x", "float32", {1, 16, 8, 8}, "Row major linear FP32"}},
         {{"b", "float16", {1, 32, 8, 8}, "Channel major FP16 format where channel % 8 == 0"}}});
    engine.layers.push_back({"pool",
                             "NoOp",
                             "REDUCE",
                             "Unknown",
                             {{"b", "", {1, 32, 8, 8}, ""}, {"c", "float32", {7}, "N/A"}},
                             {}});
  }
  return engine;
}

// The expected texts are Polygraphy's, of the same engine.
constexpr std::string_view kHead = R"(Name: net | Refittable Explicit Batch Engine

---- 1 Engine Input(s) ----
{x [dtype=float32, shape=(-1, 16)]}

---- 1 Engine Output(s) ----
{longer [dtype=float16, shape=(-1,)]}

---- Memory ----
Device Memory: 512 bytes

)";

constexpr std::string_view kProfile = R"(
    Tensor: x               (Input), Index: 0 | Shapes: min=(1, 16), opt=(2, 16), max=(4, 16)
    Tensor: longer         (Output), Index: 1 | Shape: (-1,)

)";

TEST(EngineText, TellsTensorsMemoryAndProfiles) {
  EXPECT_EQ(FormatEngine(Engine(1), {}),
            std::string(kHead) + "---- 1 Profile(s) (2 Tensor(s) Each) ----\n- Profile: 0" +
                std::string(kProfile) + "---- 2 Layer(s) ----");
}

TEST(EngineText, TellsLayers) {
  EXPECT_EQ(FormatEngine(Engine(1), {.layers = true}),
            std::string(kHead) + "---- 1 Profile(s) (2 Tensor(s) Each) ----\n- Profile: 0" +
                std::string(kProfile) + R"(---- 2 Layer(s) ----
Layer 0    | conv + relu [Op: CaskConvolution]
    {x [dtype=float32, shape=(1, 16, 8, 8), Format: Row major linear FP32]}
     -> {b [dtype=float16, shape=(1, 32, 8, 8), Format: Channel major FP16 format where channel % 8 == 0]}

Layer 1    | pool [Op: NoOp]
    {b [shape=(1, 32, 8, 8)],
     c [dtype=float32, shape=(7,)]} -> {}
)");
}

TEST(EngineText, TellsLayersOfEachProfileWithTheirTactics) {
  constexpr std::string_view kLayers = R"(
    Layer 0    | conv + relu [Op: CaskConvolution]
        {x [dtype=float32, shape=(1, 16, 8, 8), Format: Row major linear FP32]}
         -> {b [dtype=float16, shape=(1, 32, 8, 8), Format: Channel major FP16 format where channel % 8 == 0]}
        ---- Attributes ----
        Origin = Unknown
        Tactic = 0x1

    Layer 1    | pool [Op: NoOp]
        {b [shape=(1, 32, 8, 8)],
         c [dtype=float32, shape=(7,)]} -> {}
        ---- Attributes ----
        Origin = REDUCE
        Tactic = Unknown
)";
  const std::string layers(kLayers);
  EXPECT_EQ(FormatEngine(Engine(2), {.layers = true, .attributes = true}),
            std::string(kHead) + "---- 2 Profile(s) (2 Tensor(s) Each) ----\n- Profile: 0" +
                std::string(kProfile) + "- Profile: 1" + std::string(kProfile) +
                "---- 2 Layer(s) Per Profile ----\n- Profile: 0" + layers + "\n- Profile: 1" +
                layers);
}

Tensor FloatRow(const std::vector<float>& values) {
  return *Tensor::Copy(DType::kFloat32, {static_cast<int64_t>(values.size())},
                       std::as_bytes(std::span(values)));
}

std::string InOneLine(const std::string& json) {
  std::string line;
  bool indent = false;
  for (const char c : json) {
    indent = c == '\n' || (indent && c == ' ');
    if (!indent) line += c;
  }
  return line;
}

TEST(EngineText, TellsRangesOfTensorsThatHaveOne) {
  const std::map<std::string, TensorRange> ranges =
      RangesOf({{"b", FloatRow({-2, 1, 4})}, {"empty", FloatRow({})}});
  EXPECT_EQ(ranges.size(), 1u);
  const std::string text = FormatEngine(Engine(1), {.layers = true, .ranges = ranges});
  EXPECT_NE(text.find("channel % 8 == 0, min=-2.00, max=4.00, avg=1.00]}"), std::string::npos);
  EXPECT_NE(text.find("{b [shape=(1, 32, 8, 8), min=-2.00, max=4.00, avg=1.00],"),
            std::string::npos);
  EXPECT_EQ(text.find("FP32, min"), std::string::npos);
  const std::string json = InOneLine(
      FormatEngineJson(Engine(1), {.layers = true, .ranges = {{"b", {-2, 4, std::nan("")}}}}));
  EXPECT_NE(json.find(R"("min": -2.0,"max": 4.0,"mean": null)"), std::string::npos) << json;
}

TEST(EngineJson, HasTensorsAndProfiles) {
  EXPECT_EQ(InOneLine(FormatEngineJson(Engine(1), {})),
            R"({"name": "net","refittable": true,"device_memory_bytes": 512,"detailed": true,)"
            R"("tensors": [{"name": "x","role": "input","dtype": "float32","shape": [-1,16]},)"
            R"({"name": "longer","role": "output","dtype": "float16","shape": [-1]}],)"
            R"("profiles": [{"x": {"min": [1,16],"opt": [2,16],"max": [4,16]}}]})");
}

TEST(EngineJson, HasLayersOfEachProfileWhereAskedFor) {
  const std::string printed =
      InOneLine(FormatEngineJson(Engine(2), {.layers = true, .attributes = true}));
  for (const std::string_view part :
       {R"("layers": [{"name": "conv + relu","profile": 0,"op": "CaskConvolution","inputs": [)",
        R"({"name": "x","dtype": "float32","shape": [1,16,8,8],"format": "Row major linear)",
        R"("origin": null,"tactic": "0x1"})",
        R"({"name": "pool","profile": 1,"op": "NoOp","inputs": [{"name": "b","dtype": null,)",
        R"("outputs": [],"origin": "REDUCE","tactic": null}]})"}) {
    EXPECT_NE(printed.find(part), std::string::npos) << part << "\n" << printed;
  }
}

}  // namespace
}  // namespace vernier
