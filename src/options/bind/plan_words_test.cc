// Words, a plan, words again, the same plan: for every option of `run`.
#include "options/bind/plan_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compare/functions/metric_table.h"
#include "options/table/command_options.h"
#include "util/log/no_log.h"
#include "util/text/split_text.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr std::time_t kNow = 1700000000;

Result<RunPlan> BindRunWords(const Words& words) {
  const OptionTable table = RunOptionTable();
  ParseResult parsed = ParseCommandLine(table, words);
  TakePluginOptions(parsed);
  EXPECT_EQ(parsed.end, ParseEnd::kParsed) << parsed.error;
  EXPECT_THAT(parsed.unknown, ElementsAre());
  NoLog log;
  return BindRun(parsed.args, {.command = {}, .as_polygraphy = false, .now = kNow}, log);
}

// The plan's words without the command, bound again to the same plan.
Words SaidAgain(const Words& words) {
  SCOPED_TRACE(testing::PrintToString(words));
  const Result<RunPlan> plan = BindRunWords(words);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  if (!plan.ok()) return {};
  Result<Words> said = PlanWords(*plan, {.command = {}});
  EXPECT_TRUE(said.ok()) << said.status().message();
  if (!said.ok()) return {};
  EXPECT_EQ(said->front(), "run");
  said->erase(said->begin());
  const Result<RunPlan> again = BindRunWords(*said);
  EXPECT_TRUE(again.ok()) << again.status().message();
  if (again.ok()) {
    EXPECT_EQ(ToJson(*again), ToJson(*plan)) << testing::PrintToString(*said);
  }
  return *std::move(said);
}

// Options that PlanWords never says, and why.
const std::map<std::string_view, std::string_view>& SaidOtherwise() {
  constexpr std::string_view kLog = "how the log looks is no part of the plan";
  constexpr std::string_view kIdle = "it has no effect";
  constexpr std::string_view kMarks = "--onnx-outputs and its like say it";
  static const std::map<std::string_view, std::string_view> reasons = {
      {"data_loader_func_name", "--data-loader-script FILE:FUNCTION says it"},
      {"dynamic_op", kIdle},
      {"exclude_outputs", "--onnx-exclude-outputs says it"},
      {"fp32", "it is the default"},
      {"gen_script", "nothing is run"},
      {"log_file", kLog},
      {"log_format", kLog},
      {"mark_all", kMarks},
      {"minimum_segment_size", kIdle},
      {"no_progress", kLog},
      {"output_dir", "every file is said with its folder"},
      {"quiet", kLog},
      {"run_file", "the words are those of the plan in it"},
      {"save_all_intermediate_outputs", kMarks},
      {"save_intermediate_outputs", kMarks},
      {"save_run_file", "it is about the plan, and not in it"},
      {"silent", kLog},
      {"timing_cache", "--load-timing-cache and --save-timing-cache say it"},
      {"use_tftrt", kIdle},
      {"verbose", kLog},
      {"verbosity", kLog},
  };
  return reasons;
}

// Values, between blanks, of options that take no number, no choice and no free word.
constexpr std::pair<std::string_view, std::string_view> kExamples[] = {
    {"advance", "x:+2"},
    {"atol", "0.1 y:1e-7"},
    {"backend_dir", "plugins"},
    {"calibration_base_class", "IInt8MinMaxCalibrator"},
    {"check_error_stat", "quantile y:max y:mean"},
    {"compare", "l2 y:logits:axis=1 indices"},
    {"compare_func_script", "script.py:judge"},
    {"data_loader_script", "script.py"},
    {"decisions", "top5 y:argmax=1"},
    {"decode", "greedy"},
    {"devices", "cuda:0,cuda:2"},
    {"dims", "batch=2 x[1]=3"},
    {"env", "OMP_NUM_THREADS=1"},
    {"external_data_size_threshold", "4K"},
    {"feed_back", "y:x"},
    {"graph_optimization_level", "ORT_ENABLE_BASIC"},
    {"index_tolerance", "2 y:3"},
    {"input_shapes", "x:[{1,2},3]"},
    {"labels", "labels.npy y:folder"},
    {"load_inputs_paths", "a.json"},
    {"load_outputs_paths", "a.json old=b.npz"},
    {"map_inputs", "b=c @words.txt"},
    {"map_outputs", "b=c @words.txt"},
    {"max_gpu_mem", "4G"},
    {"max_host_mem", "512M"},
    {"max_mismatch_excess", "4"},
    {"model_type", "frozen"},
    {"pairs", "identity-runner-N0:onnxrt-runner-N0"},
    {"postprocess", "top-5 y:top-2,axis=1"},
    {"preprocess", "resize=256,crop=224"},
    {"reports", "report.xml"},
    {"reset", "x:reset"},
    {"shard", "2/3"},
    {"step_slice", "x:axis=1"},
    {"steps_axis", "identity:0"},
    {"tolerance", "auto y:fixed"},
    {"trt_max_shapes", "x:[8,3]"},
    {"trt_min_shapes", "x:[1,3]"},
    {"trt_opt_shapes", "x:[2,3]"},
    {"val_range", "[0,5] x:[-1,1.5]"},
};

Words ValuesOf(const OptionRow& row) {
  if (row.arity == Arity::kNone) return {};
  if (row.flags[0] == "--runner") return {"mine=onnxrt other.onnx --providers cuda cpu"};
  if (row.flags[0] == "--model-runner") return {"model.py"};
  for (const auto& [dest, values] : kExamples) {
    if (dest == row.dest) return SplitAt(values, ' ');
  }
  if (!row.choices.empty()) return {std::string(row.choices[row.choices.size() - 1])};
  if (row.type != ValueType::kString) return {row.type == ValueType::kInt ? "3" : "0.5"};
  return {row.sets.one_each ? "0.25" : "word"};
}

bool IsForCalibration(std::string_view dest) {
  return dest == "quantile" || dest == "regression_cutoff" || dest.starts_with("calibration_");
}

// The option, what it needs, and the runner that it is for.
Words CommandWith(const OptionTable& table, const OptionRow& row) {
  Words words = {"m.onnx"};
  const std::string runner(table.RunnerOf(row));
  const auto add = [&](const OptionRow& option) {
    words.emplace_back(option.flags[0]);
    for (const std::string& value : ValuesOf(option)) words.push_back(value);
  };
  add(row);
  std::string_view need = row.needs[0];
  while (need.starts_with("--")) {
    const OptionRow& other = *table.Find(need.substr(0, need.find(' ')))->row;
    add(other);
    need = other.needs[0];
  }
  for (const MetricRow& metric : MetricTable()) {
    if (row.dest == metric.threshold)
      words.insert(words.end(), {"--compare", std::string(metric.name)});
  }
  if (row.dest.starts_with("logits_")) words.insert(words.end(), {"--compare", "logits"});
  if (row.dest == "exclude_lean_runtime") words.emplace_back("--version-compatible");
  if (IsForCalibration(row.dest)) words.emplace_back("--int8");
  if (row.dest == "tf_signature") words.insert(words.end(), {"--model-type", "frozen"});
  words.push_back(runner.empty() ? "--onnxrt" : runner);
  words.emplace_back("--identity");
  return words;
}

class PlanWordsTest : public testing::Test {
 protected:
  PlanWordsTest() {
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
    std::ofstream("model.py") << "def load(path): pass\n";
    std::ofstream("words.txt") << "a=b\n";
    std::filesystem::create_directory("plugins");
  }
  ~PlanWordsTest() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
  // Each test may be a process of its own.
  const std::filesystem::path folder_ =
      testing::TempDir() + "/plan_words_test." + std::to_string(::getpid());
};

TEST_F(PlanWordsTest, EveryOptionOfRunIsSaidAgain) {
  const OptionTable table = RunOptionTable();
  std::set<std::string_view> otherwise, seen;
  for (const OptionRow* row : table.rows()) {
    if (row->IsPositional() || row->action == OptionAction::kHelp) continue;
    SCOPED_TRACE(row->flags[0]);
    const Words said = SaidAgain(CommandWith(table, *row));
    if (!seen.insert(row->dest).second) continue;
    if (std::ranges::find(said, row->flags[0]) == said.end()) otherwise.insert(row->dest);
  }
  std::set<std::string_view> listed;
  for (const auto& [dest, reason] : SaidOtherwise()) listed.insert(dest);
  EXPECT_EQ(otherwise, listed);
}

TEST_F(PlanWordsTest, WhatIsNotSaidIsNeutral) {
  EXPECT_THAT(
      SaidAgain({"m.onnx", "--onnxrt", "--seed", "1", "--rtol", "1e-3", "--pairs", "neighbours",
                 "--compare", "simple", "--iters=2", "-v", "--identity"}),
      ElementsAre("m.onnx", "--onnxrt", "--identity", "--iterations", "2", "--rtol", "0.001"));
}

TEST_F(PlanWordsTest, RunnersOfManyKinds) {
  const std::vector<Words> commands = {
      {"m.onnx", "--onnxrt", "--onnxrt", "--runner", "b=onnxrt", "--providers", "cuda"},
      {"m.onnx", "--runner", "a=onnxrt --providers cpu", "--runner",
       "b=openvino n.onnx --fp-to-fp16", "--onnx-outputs", "y z"},
      {"m.onnx", "--onnxrt", "--intra-op-threads", "2", "--runner",
       "b=onnxrt --onnx-outputs y --intra-op-threads 3"},
      {"--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt 'b c.onnx' --shape-inference"},
      {"m.onnx", "--model-runner", "model.py:load", "--onnxrt", "--mark-all"},
      {"m.onnx", "--runner", "script=model.py", "--openvino", "--openvino-device", "GPU"},
      {"m.onnx", "--trt", "--onnxrt", "--input-shapes", "x:[{1,4},3]"},
      {"m.onnx", "--trt", "--trt-min-shapes", "x:[1,3]", "--trt-min-shapes", "x:[2,3]",
       "--trt-max-shapes", "x:[4,3]", "--fp16", "--runner", "int8=trt --int8"},
      {"m.onnx", "--onnxrt", "--identity.lag=2", "--identity", "--onnxrt.x.y=a b"},
      {"m.h5", "--tf", "--onnxrt", "--tf-outputs", "a", "b"},
      {"network.py:build", "--trt", "--identity", "--dim", "batch=2"},
      {"m.onnx", "--onnxrt", "--torch", "--torch-lib", "lib", "--xla", "--opset", "13"},
  };
  for (const Words& words : commands) SaidAgain(words);
}

TEST_F(PlanWordsTest, OptionsThatGoTogether) {
  const std::vector<Words> commands = {
      {"m.onnx", "--onnxrt", "--identity", "--lenient", "--iterations=-1"},
      {"m.onnx", "--onnxrt", "--identity", "--decision", "top1", "--max-flip-rate", "0.1",
       "--compare", "simple"},
      {"m.onnx", "--onnxrt", "--identity", "--output-dir", "out", "--save-outputs", "--save-inputs",
       "in", "--save-heatmaps", "maps"},
      {"m.onnx", "--onnxrt", "--identity", "--shard", "2/3", "--shard-by", "stride",
       "--save-outputs", "out", "--save-record", "r.json", "--save-inputs", "in.npz"},
      {"m.onnx", "--onnxrt", "--save-all-intermediate-outputs", "--exclude-outputs", "y"},
      {"--load-outputs", "a.json", "b=b.json", "--compare-outputs", "c.json", "--strict"},
      {"m.onnx", "--onnxrt", "--identity", "--noise-floor", "--atol", "y:1e-30", "z:inf"},
      {"m.onnx", "--onnxrt", "--identity", "--compare-func-script", "judge.py"},
      {"m.onnx", "--onnxrt", "--identity", "--blame", "--bundle", "found", "--python", "python3"},
      {"m.onnx", "--onnxrt", "--identity", "--input-shapes", "x:[1,3]", "y:[2]:int64", "x:[2,3]"},
  };
  for (const Words& words : commands) SaidAgain(words);
}

TEST_F(PlanWordsTest, APlanThatNoWordsMakeSaysWhy) {
  RunPlan plan = *BindRunWords({"m.onnx", "--onnxrt", "--identity"});
  plan.runners[1].session_options.emplace_back("of_a_program", "1");
  const Status status = PlanWords(plan, {.command = {}}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("'runners[1].session_options'"));
}

}  // namespace
}  // namespace vernier
