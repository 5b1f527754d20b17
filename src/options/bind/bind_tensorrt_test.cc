#include "options/bind/bind_tensorrt.h"
#include "options/table/command_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/log/recording_logger.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

struct Bound {
  Status status;
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::string> warnings;
  RunnerPlace place = RunnerPlace::kAuto;
};

Bound Bind(std::vector<std::string> words) {
  words.insert(words.begin(), {"m.onnx", "--trt"});
  const OptionTable table = RunOptionTable();
  const ParseResult parsed = ParseCommandLine(table, words);
  EXPECT_EQ(parsed.end, ParseEnd::kParsed) << parsed.error;
  EXPECT_THAT(parsed.unknown, ElementsAre());
  RunnerPlan runner;
  runner.backend = "tensorrt";
  RecordingLogger log;
  Bound bound;
  bound.status = BindTensorRt(parsed.args, runner, log);
  bound.options = runner.session_options;
  bound.warnings = log.Texts(Severity::kWarning);
  bound.place = runner.place;
  return bound;
}

TEST(BindTensorRt, PassesOnSwitchesWordsAndLists) {
  EXPECT_THAT(Bind({"--fp16", "--builder-optimization-level", "3", "--tactic-sources",
                    "--trt-outputs", "a", "b c"})
                  .options,
              ElementsAre(Pair("fp16", "1"), Pair("builder_optimization_level", "3"),
                          Pair("tactic_sources", ""), Pair("trt_outputs", "a\nb c")));
}

TEST(BindTensorRt, ShortFormsAreHandedOnToo) {
  EXPECT_THAT(Bind({"--workspace", "1G"}).options, ElementsAre(Pair("workspace", "1G")));
  EXPECT_THAT(Bind({"--timing-cache", "t"}).options,
              ElementsAre(Pair("load_timing_cache", "t"), Pair("save_timing_cache", "t")));
}

TEST(BindTensorRt, AFolderOfTimingsIsWhole) {
  EXPECT_THAT(Bind({"--timing-cache-dir", "/kept/./here"}).options,
              ElementsAre(Pair("timing_cache_dir", "/kept/here")));
  EXPECT_FALSE(Bind({"--timing-cache-dir", ""}).status.ok());
}

TEST(BindTensorRt, OneProfileComesFromInputShapes) {
  EXPECT_THAT(Bind({"--input-shapes", "x:[1,3]"}).options,
              ElementsAre(Pair("profile", "0\tmin\tx\t1,3"), Pair("profile", "0\topt\tx\t1,3"),
                          Pair("profile", "0\tmax\tx\t1,3")));
}

TEST(BindTensorRt, AProfileSpansSeveralShapes) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--input-shapes", "x:[4,3]", "x:[1,8]"},
        std::vector<std::string>{"--input-shapes", "x:[{4},3]", "x:[1,8]"}}) {
    EXPECT_THAT(Bind(words).options,
                ElementsAre(Pair("profile", "0\tmin\tx\t1,3"), Pair("profile", "0\topt\tx\t4,3"),
                            Pair("profile", "0\tmax\tx\t4,8")));
  }
  EXPECT_THAT(Bind({"--input-shapes", "x:[4,3]", "x:[1]"}).status.message(),
              HasSubstr("different ranks"));
}

// What Polygraphy does, not what its help says: opt and max follow min, and what the second profile
// leaves out comes from the first one's max.
TEST(BindTensorRt, GapsAreFilledFromWhatCameBefore) {
  EXPECT_THAT(Bind({"--trt-min-shapes", "x:[1]", "--trt-max-shapes", "x:[4]", "--trt-opt-shapes",
                    "x:[2]", "--trt-min-shapes", "y:[7]"})
                  .options,
              ElementsAre(Pair("profile", "0\tmin\tx\t1"), Pair("profile", "0\topt\tx\t2"),
                          Pair("profile", "0\tmax\tx\t4"), Pair("profile", "1\tmin\tx\t4"),
                          Pair("profile", "1\tmin\ty\t7"), Pair("profile", "1\topt\tx\t4"),
                          Pair("profile", "1\topt\ty\t7"), Pair("profile", "1\tmax\tx\t4"),
                          Pair("profile", "1\tmax\ty\t7")));
}

TEST(BindTensorRt, DynamicDimensionsBecomeOneWithAWarning) {
  const Bound bound = Bind({"--trt-min-shapes", "x:[-1,batch,8]"});
  EXPECT_THAT(bound.options.front(), Pair("profile", "0\tmin\tx\t1,1,8"));
  EXPECT_THAT(bound.warnings, testing::Contains(HasSubstr("x")));
}

TEST(BindTensorRt, ScriptsMoveTheRunnerToPython) {
  EXPECT_EQ(Bind({"--fp16"}).place, RunnerPlace::kAuto);
  const Bound config = Bind({"--trt-config-script", "c.py:make"});
  EXPECT_THAT(config.options, ElementsAre(Pair("trt_config_script", "c.py:make")));
  EXPECT_EQ(config.place, RunnerPlace::kPython);
  const Bound network = Bind({"--trt-npps", "a.py", "b.py"});
  EXPECT_THAT(network.options, ElementsAre(Pair("trt_network_postprocess_script", "a.py\nb.py")));
  EXPECT_EQ(network.place, RunnerPlace::kPython);
  EXPECT_EQ(Bind({"--trt-cpps", "p.py"}).place, RunnerPlace::kPython);
}

TEST(BindTensorRt, ScriptsTakeNoLibraryOfTheUsers) {
  const Bound bound = Bind({"--trt-cpps", "p.py", "--trt-lib", "libnvinfer.so.8"});
  EXPECT_EQ(bound.status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(bound.status.message(), HasSubstr("--trt-cpps"));
}

TEST(BindTensorRt, DebugTensorsAndGraphsAreThePlugInsToOffer) {
  EXPECT_THAT(Bind({"--mark-debug", "x", "y"}).options, ElementsAre(Pair("mark_debug", "x\ny")));
  EXPECT_THAT(Bind({"--mark-unfused-tensors-as-debug-tensors"}).options,
              ElementsAre(Pair("mark_unfused_tensors_as_debug_tensors", "1")));
  EXPECT_THAT(Bind({"--cuda-graphs"}).options, ElementsAre(Pair("cuda_graphs", "1")));
}

TEST(BindTensorRt, CalibrationOptionsMatterWithInt8Alone) {
  const Bound idle = Bind({"--quantile", "0.9"});
  EXPECT_TRUE(idle.status.ok());
  EXPECT_EQ(idle.warnings.size(), 1u);
  EXPECT_THAT(idle.options, ElementsAre());
  EXPECT_THAT(
      Bind({"--int8", "--quantile", "0.9", "--calibration-cache", "c"}).options,
      ElementsAre(Pair("int8", "1"), Pair("quantile", "0.9"), Pair("calibration_cache", "c")));
}

TEST(BindTensorRt, LeanRuntimeNeedsVersionCompatibility) {
  EXPECT_EQ(Bind({"--exclude-lean-runtime"}).status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(Bind({"--exclude-lean-runtime", "--version-compatible"}).status.ok());
}

}  // namespace
}  // namespace vernier
