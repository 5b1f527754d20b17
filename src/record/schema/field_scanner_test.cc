// Lines of parts that are read without a tree of JSON values are those that are read with one.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

#include "record/shards/shard_lines.h"

namespace vernier {
namespace {

constexpr double kNanOfParts = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinityOfParts = std::numeric_limits<double>::infinity();

ShardIteration MakeLine() {
  ShardIteration line;
  line.index = 41;
  line.input_hash = "00ff";
  line.received = {{{"1", "2"}}, {}};
  ShardPair& pair = line.pairs.emplace_back();
  pair.only_in_first = {"u", "v"};
  pair.not_logits = {{"y", "has one axis"}};
  pair.swap = "x and y look swapped";
  ShardOutput& output = pair.outputs.emplace_back();
  output.row.output = "y";
  output.other_name = "y2";
  output.row.verdict = "failed";
  output.row.elements = 12;
  output.row.max_absolute_error = 0.1;
  output.row.max_relative_error = kInfinityOfParts;
  output.row.mean_absolute_error = -0.0;
  output.row.required_absolute = 5e-324;
  output.row.metrics[CompareFunction::kL2] = kNanOfParts;
  output.row.metrics[CompareFunction::kPsnr] = -kInfinityOfParts;
  output.dtype = output.other_dtype = "float32";
  output.row.bound = BoundRecord{.bound = 1e-5, .why = "rounding"};
  ShardFunction& function = output.functions.emplace_back();
  function.function = "l2";
  function.verdict = 1;
  function.value = 1e300;
  function.threshold = 1;
  ShardFunction& simple = output.functions.emplace_back();
  simple.function = "simple";
  simple.why = "shapes differ";
  simple.shapes_differ = true;
  simple.simple.emplace().averages =
      ShardAverages{.atol = 1e-5, .stats = {0, 3}, .median = kNanOfParts, .quantile = 2.5};
  line.pairs.emplace_back().empty = true;
  return line;
}

// The same with spaces between, which a parser alone takes.
std::string Reread(std::string_view text) {
  const Result<ShardIteration> line = ReadShardIteration(text, "line");
  EXPECT_TRUE(line.ok()) << line.status().message();
  return line.ok() ? ShardIterationText(*line) : std::string();
}

TEST(FieldScanner, ReadsWhatTheParserReads) {
  ShardIteration line = MakeLine();
  for (int round = 0; round < 3; ++round) {
    const std::string text = ShardIterationText(line);
    const std::string_view whole = std::string_view(text).substr(0, text.size() - 1);
    EXPECT_EQ(Reread(whole), text);
    EXPECT_EQ(Reread(" " + std::string(whole)), text);
    if (round == 0) line.pairs[0].outputs[0].other_name = "\"y\\\n\xc3\xa9";
    if (round == 1) line.pairs[0].outputs[0].figures = OutputFigures();
  }
}

TEST(FieldScanner, LeavesFaultsToTheParser) {
  std::string text = ShardIterationText(MakeLine());
  text.pop_back();
  const auto read = [](const std::string& line) { return ReadShardIteration(line, "line").ok(); };
  EXPECT_TRUE(read(text));
  for (size_t size = 0; size < text.size(); size += 7) EXPECT_FALSE(read(text.substr(0, size)));
  EXPECT_FALSE(read(text + "}"));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string line = text;
    line.replace(line.find(from), from.size(), to);
    return line;
  };
  EXPECT_FALSE(read(with("\"elements\":12", "\"elements\":12.5")));
  EXPECT_FALSE(read(with("\"elements\":12", "\"elements\":012")));
  EXPECT_FALSE(read(with("\"elements\":12", "\"elements\":\"12\"")));
  EXPECT_FALSE(read(with("\"empty\":false", "\"empty\":falsehood")));
  EXPECT_FALSE(read(with("\"max_absolute_error\":0.1", "\"max_absolute_error\":.1")));
  EXPECT_FALSE(read(with("\"max_absolute_error\":0.1", "\"max_absolute_error\":\"much\"")));
  // Fields in another order, and unknown ones, are no fault.
  EXPECT_TRUE(read(with("\"elements\":12", "\"more\":[1,{}],\"elements\":12")));
}

}  // namespace
}  // namespace vernier
