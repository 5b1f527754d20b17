#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vernier/decision_plan.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

DecisionPlan Parsed(const std::string& words) {
  Result<DecisionPlan> plan = ParseDecision(words);
  EXPECT_TRUE(plan.ok()) << words << ": " << plan.status().message();
  return plan.ok() ? *plan : DecisionPlan{};
}

std::string Refused(const std::string& words) {
  const Result<DecisionPlan> plan = ParseDecision(words);
  EXPECT_FALSE(plan.ok()) << words;
  return plan.status().message();
}

TEST(ParseDecision, TakesNamesOfOutputsWithColons) {
  const DecisionPlan top = Parsed("StatefulPartitionedCall:0:top5");
  EXPECT_EQ(top.output, "StatefulPartitionedCall:0");
  EXPECT_EQ(top.text, "top5");
  EXPECT_EQ(top.kind, DecisionKind::kTop);
  EXPECT_EQ(top.k, 5);
  EXPECT_EQ(Parsed("top1").output, "");
  EXPECT_EQ(Parsed("boxes:boxes:yolov8").output, "boxes");
  EXPECT_EQ(Parsed("sign:0:sign").output, "sign:0");
}

TEST(ParseDecision, ReadsValuesAndSettings) {
  EXPECT_EQ(Parsed("y:threshold=-0.5").limit, -0.5);
  EXPECT_EQ(Parsed("embedding").limit, 0.99);
  EXPECT_EQ(Parsed("rank=10").k, 10);
  EXPECT_EQ(Parsed("ctc=-1").blank, -1);
  EXPECT_TRUE(Parsed("ctc,time=0").time_first);
  const DecisionPlan argmax = Parsed("argmax=3");
  EXPECT_EQ(argmax.axis, 3);
  EXPECT_TRUE(argmax.axis_given);
  EXPECT_EQ(Parsed("top1,axis=1").axis, 1);
  const DecisionPlan boxes = Parsed("out:0:boxes:yolov5,iou=0.6,score=0.1");
  EXPECT_EQ(boxes.format, BoxFormat::kYoloV5);
  EXPECT_EQ(boxes.iou, 0.6);
  EXPECT_EQ(boxes.score, 0.1);
  EXPECT_EQ(boxes.text, "boxes:yolov5,iou=0.6,score=0.1");
  const DecisionPlan columns = Parsed("boxes:xyxy,score,-,class,iou=1");
  EXPECT_EQ(columns.format, BoxFormat::kColumns);
  EXPECT_THAT(columns.columns, ElementsAre("xyxy", "score", "-", "class"));
}

TEST(ParseDecision, TakesScripts) {
  const DecisionPlan usual = Parsed("script:folder/labels.py");
  EXPECT_EQ(usual.kind, DecisionKind::kScript);
  EXPECT_EQ(usual.script, "folder/labels.py");
  EXPECT_EQ(usual.function, "decide");
  EXPECT_EQ(usual.subject(), "decide");
  EXPECT_EQ(usual.text, "script:folder/labels.py");
  const DecisionPlan named = Parsed("script:a:b,c.py:Text.of");
  EXPECT_EQ(named.script, "a:b,c.py");
  EXPECT_EQ(named.function, "Text.of");
  EXPECT_EQ(named.subject(), "of");
  EXPECT_EQ(Parsed("script:top1").output, "script");
  EXPECT_EQ(Parsed("y:top1").subject(), "y");
}

TEST(ParseDecision, SaysWhatIsWrong) {
  EXPECT_THAT(Refused("y:script:f.py"), HasSubstr("about all outputs: leave 'y' out"));
  EXPECT_THAT(Refused("script:f.py:"), HasSubstr("got 'script:f.py:'"));
  EXPECT_THAT(Refused("script"), HasSubstr("needs a file"));
  EXPECT_THAT(Refused("y:tresholt=1"), HasSubstr("did you mean 'threshold'?"));
  EXPECT_THAT(Refused("y:boxes:yolov9"), HasSubstr("'yolov9' is not a format of boxes"));
  EXPECT_THAT(Refused("boxes"), HasSubstr("needs a format"));
  EXPECT_THAT(Refused("threshold"), HasSubstr("needs a value: threshold=0.5"));
  EXPECT_THAT(Refused("threshold=nan"), HasSubstr("expected a finite number, got 'nan'"));
  EXPECT_THAT(Refused("threshold=9007199254740993"),
              HasSubstr("is no float64, which limits are: the nearest one is 9007199254740992"));
  for (const char* text : {"18446744073709551615", "9223372036854775809", "-9007199254740993",
                           "9007199254740993.0", "+0009007199254740993"}) {
    EXPECT_THAT(Refused("threshold=" + std::string(text)), HasSubstr("is no float64")) << text;
  }
  for (const char* text : {"18446744073709551616", "-0", "007.00", ".5", "1e300", "0.1"}) {
    EXPECT_TRUE(ParseDecision("threshold=" + std::string(text)).ok()) << text;
  }
  EXPECT_THAT(Refused("boxes:yolov8,units=inches"),
              HasSubstr("units: expected pixels or fractions (of what is fed), got 'inches'"));
  EXPECT_THAT(Refused("top0"), HasSubstr("topK: expected a whole number >= 1, got '0'"));
  EXPECT_THAT(Refused("embedding=2"), HasSubstr("a cosine above -1, at most 1, got '2'"));
  // Every cosine is at least that.
  EXPECT_THAT(Refused("embedding=-1"), HasSubstr("a cosine above -1, at most 1, got '-1'"));
  EXPECT_THAT(Refused("boxes:yolov8,iou=0"), HasSubstr("iou: expected a number above 0"));
  EXPECT_THAT(Refused("boxes:yolov8,iuo=0.5"), HasSubstr("did you mean 'iou'?"));
  EXPECT_THAT(Refused("sign,axis=1"), HasSubstr("'sign' has no settings"));
  EXPECT_THAT(Refused("boxes:score,class"), HasSubstr("xyxy, cxcywh and xywh, not 0"));
  EXPECT_THAT(Refused("boxes:yolov8,iou=0.5,iou=0.6"), HasSubstr("'iou' is given twice"));
  EXPECT_THAT(Refused("argmax=1,axis=2"), HasSubstr("'axis' is given twice"));
  EXPECT_THAT(Refused(""), HasSubstr("expected [OUTPUT:]KIND"));
}

}  // namespace
}  // namespace vernier
