// The file of a run: what is written comes back, and what is wrong is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "vernier/compare_options.h"
#include "vernier/run_plan.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;

RunPlan Unusual() {
  RunPlan plan;
  plan.command = "vernier run m.onnx";
  plan.strict = true;
  RunnerPlan runner;
  runner.name = "new";
  runner.backend = "onnxruntime";
  runner.model.path = "m \"ü\".onnx";
  runner.model.outputs = {"a", "b"};
  runner.model.save_external_data = "";
  runner.model.save_one_file = false;
  runner.session_options = {{"providers", "cpu"}, {"providers", "cuda"}};
  runner.place = RunnerPlace::kPython;
  runner.dims = {{"batch", 7}};
  plan.runners = {runner, RunnerPlan()};
  plan.inputs.iterations = 0;
  plan.inputs.seed = std::numeric_limits<int64_t>::min();
  plan.inputs.map_words = {"jit:x=input[:,64:]"};
  plan.output_map_words = {"jit:state="};
  plan.inputs.script = {"loader.py", "load_data"};
  plan.steps.steps = 20;
  plan.steps.feed_back = {"auto", "new:present.*:past.*"};
  plan.steps.state = StateSource::kReference;
  plan.steps.decode = {"greedy:new:logits=ids"};
  plan.steps.decode_stop = 2;
  plan.steps.min_token_agreement = 0.75;
  plan.save.reports = {{"r.xml", ReportFormat::kJunit}};
  plan.execution.timeout_s = 0.1;
  plan.shard = {3, 7, ShardRule::kStride, true};
  plan.save.reproducible = true;
  plan.pairs = {PairRule::kNamed, {{"new", "old"}}};
  plan.compare->functions = {CompareFunction::kL2, CompareFunction::kUlp};
  plan.compare->rtol.fallback = 1e-3;
  plan.compare->rtol.entries = {{"out", std::numeric_limits<double>::infinity()}};
  plan.compare->thresholds[CompareFunction::kKlDivergence].fallback = 0.25;
  plan.compare->thresholds[CompareFunction::kUlp].entries = {{"out", 7}};
  plan.compare->check_error_stat.entries = {{"out", {ErrorStat::kMax, ErrorStat::kMean}}};
  plan.compare->tolerance.fallback = ToleranceRule::kAuto;
  plan.compare->logits_axis.entries = {{"out", 1}};
  plan.compare->logits_kl_threshold.fallback = 0.5;
  plan.compare->logits_top_k = 3;
  plan.postprocess.entries = {{"scores", {5, 1}}};
  for (const char* words : {"out:top5", "boxes:yolov8,iou=0.6", "script:d.py:text"}) {
    plan.decisions.decisions.push_back(*ParseDecision(words));
  }
  plan.decisions.max_flip_rate.entries = {{"out", 0.01}};
  plan.decisions.near_tie = 0.5;
  plan.decisions.judge = JudgeRule::kBoth;
  plan.decisions.labels = {{"out", "labels.npy"}};
  plan.decisions.max_drop.entries = {{"top1", 0.01}};
  plan.decisions.drop_type = DropType::kRelative;
  plan.blame.emplace().max_host_bytes = std::numeric_limits<uint64_t>::max();
  return plan;
}

std::string WhyNot(const std::string& text) {
  return ReadPlan(text, "run.json").status().message();
}

TEST(PlanJson, WhatIsWrittenComesBack) {
  const std::string text = ToJson(Unusual());
  const Result<RunPlan> plan = ReadPlan(text, "run.json");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(ToJson(*plan), text);
  EXPECT_EQ(plan->inputs.iterations, 0);
  EXPECT_EQ(plan->inputs.seed, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(plan->steps.steps, 20);
  EXPECT_EQ(plan->steps.feed_back.back(), "new:present.*:past.*");
  EXPECT_EQ(plan->steps.state, StateSource::kReference);
  EXPECT_THAT(text, HasSubstr("\"state\": \"reference\""));
  EXPECT_EQ(plan->runners[0].model.path, "m \"ü\".onnx");
  EXPECT_EQ(plan->runners[0].session_options[1].second, "cuda");
  EXPECT_EQ(plan->runners[0].model.save_external_data, "");
  EXPECT_FALSE(plan->runners[0].model.save_one_file);
  EXPECT_TRUE(plan->runners[1].model.save_one_file);
  EXPECT_EQ(plan->compare->rtol.Lookup("out", 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(plan->compare->functions.back(), CompareFunction::kUlp);
  EXPECT_THAT(text, HasSubstr("\"kl_divergence_threshold\": {"));
  EXPECT_EQ(plan->compare->thresholds[CompareFunction::kKlDivergence].fallback, 0.25);
  EXPECT_EQ(plan->compare->thresholds[CompareFunction::kUlp].Lookup("out", 0), 7);
  EXPECT_EQ(plan->compare->check_error_stat.Lookup("out", {}).size(), 2U);
  EXPECT_EQ(plan->compare->logits_axis.Lookup("out", -1), 1);
  EXPECT_EQ(plan->compare->logits_top_k, 3);
  ASSERT_EQ(plan->decisions.decisions.size(), 3U);
  EXPECT_EQ(plan->decisions.decisions[0].output, "out");
  EXPECT_EQ(plan->decisions.decisions[0].k, 5);
  EXPECT_EQ(plan->decisions.decisions[1].iou, 0.6);
  EXPECT_EQ(plan->decisions.max_flip_rate.Lookup("out", 0), 0.01);
  EXPECT_EQ(plan->decisions.near_tie, 0.5);
  EXPECT_EQ(plan->decisions.judge, JudgeRule::kBoth);
  EXPECT_EQ(plan->decisions.labels, (std::vector<LabelsPlan>{{"out", "labels.npy"}}));
  EXPECT_EQ(plan->decisions.max_drop.Lookup("top1", 0), 0.01);
  EXPECT_EQ(plan->decisions.drop_type, DropType::kRelative);
  EXPECT_EQ(plan->blame->max_host_bytes, std::numeric_limits<uint64_t>::max());
}

TEST(PlanJson, ANewPlanIsAFileWithoutSettings) {
  EXPECT_EQ(ToJson(RunPlan()), "{\n  \"vernier_run\": 1\n}\n");
}

TEST(PlanJson, WhatIsAbsentKeepsItsDefault) {
  const Result<RunPlan> plan =
      ReadPlan(R"({"vernier_run": 1, "runners": [{"backend": "openvino"}]})", "run.json");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_TRUE(plan->runners[0].equal_names);
  EXPECT_EQ(plan->inputs.seed, 1);
  EXPECT_EQ(plan->compare->worst_elements, 5);
}

TEST(PlanJson, WhatIsWrongIsNamed) {
  EXPECT_THAT(WhyNot("{}"), HasSubstr("is not the file of a run"));
  EXPECT_THAT(WhyNot("[1"), HasSubstr("is not the file of a run"));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 2})"), HasSubstr("version 2"));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 1, "runners": [{"model": {"pth": "m"}}]})"),
              HasSubstr("'run.json': there is no setting 'runners[0].model.pth'; did you mean "
                        "'path'?"));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 1, "inputs": {"seed": "1"}})"),
              HasSubstr("'inputs.seed': expected a whole number"));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 1, "inputs": {"seed": 18446744073709551615}})"),
              HasSubstr("'inputs.seed': expected a smaller number"));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 1, "compare": {"rtol": 1e-3}})"),
              HasSubstr("'compare.rtol': expected an object with a value for each output"));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 1, "compare": {"functions": ["cosin"]}})"),
              HasSubstr("'compare.functions[0]': expected the name of a comparison function"));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 1, "pairs": {"rule": "some"}})"),
              HasSubstr("'pairs.rule': expected one of 'neighbours', 'first', 'all', 'named'"));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 1, "pairs": {"named": [["a"]]}})"),
              HasSubstr("'pairs.named[0]': expected a list of two texts"));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 1, "decisions": {"decisions": [{"decide": "topp1"}]}})"),
              HasSubstr("'decisions.decisions[0].decide': "));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 1, "decisions": {"decisions": [{"decide": "y:top1"}]}})"),
              HasSubstr("'y:top1' names an output: give 'top1' here and 'y' as 'output'"));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 1, "blame": {"max_host_bytes": -1}})"),
              HasSubstr("'blame.max_host_bytes': expected a whole number >= 0"));
}

TEST(PlanJson, WhatATreeOfValuesDoesNotShowIsNamedToo) {
  EXPECT_THAT(
      WhyNot(R"({"vernier_run": 1, "runners": [{}, {"model": {"path": "a", "path": "b"}}]})"),
      HasSubstr("'run.json': 'runners[1].model.path' is given twice"));
  EXPECT_THAT(WhyNot(R"({"vernier_run": 1, "inputs": {}, "inputs": {}})"),
              HasSubstr("'inputs' is given twice"));
  EXPECT_THAT(WhyNot("{\"vernier_run\": 1,\n\"inputs\": {\"seed\": 3.}}"),
              HasSubstr("'run.json': line 2, at 'inputs.seed': not valid JSON near '"));
  EXPECT_EQ(ReadPlan(R"({"vernier_run": 1, "runer": 2})", "run.json").status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vernier
