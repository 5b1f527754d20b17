#include "blame/judge/marked_alone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blame/judge/layer_for_test.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// x -> shown -> reader -> end, of which the first is to blame.
BlameRecord Chain(double shown, double reader, const std::string& dtype = "float32") {
  BlameRecord record;
  record.layers = {LayerForTest("shown", "x", shown, shown),
                   LayerForTest("reader", "shown_out", reader, 0),
                   LayerForTest("end", "reader_out", reader, 0)};
  for (BlameLayerRecord& layer : record.layers) layer.outputs[0].dtype = dtype;
  record.culprits = {{"shown", "MatMul", {"shown_out"}, shown, shown, "its own error"}};
  return record;
}

void Note(double plain, BlameRecord& record) {
  NoteMarkedAlone({"end_out"}, {{"end_out", plain}}, {}, record);
}

TEST(NoteMarkedAlone, ALayerThatNothingFollows) {
  BlameRecord record = Chain(1e5, 0.2);
  Note(0.3, record);
  EXPECT_THAT(record.culprits[0].why, HasSubstr("only when its tensor is marked as an output"));
  EXPECT_THAT(record.notes, SizeIs(1));
}

TEST(NoteMarkedAlone, ALayerOfWhichTheShapeAloneIsRead) {
  BlameRecord record = Chain(1e5, 0.2, "int64");
  record.layers[1].op_type = "Shape";
  Note(0.3, record);
  EXPECT_THAT(record.notes, SizeIs(1));
}

TEST(NoteMarkedAlone, AFaultReachesWhatReadsItOrTheOutputs) {
  for (auto [record, plain] :
       {std::pair(Chain(1e5, 4), 0.3), std::pair(Chain(1e5, 0.2), 4.0),
        std::pair(Chain(50, 0.2), 0.3), std::pair(Chain(1e5, 0.2, "int64"), 0.3)}) {
    Note(plain, record);
    EXPECT_THAT(record.notes, IsEmpty());
    EXPECT_EQ(record.culprits[0].why, "its own error");
  }
}

TEST(NoteMarkedAlone, AnOutputOfTheModelIsNoTensorThatIsMarked) {
  BlameRecord record = Chain(1e5, 0.2);
  NoteMarkedAlone({"shown_out", "end_out"}, {{"shown_out", 0}, {"end_out", 0}}, {}, record);
  EXPECT_THAT(record.notes, IsEmpty());
}

TEST(NoteMarkedAlone, OtherWeightsAreAnotherProgram) {
  BlameRecord record = Chain(1e5, 0.2);
  NoteMarkedAlone({"end_out"}, {{"end_out", 0}}, {{"shown", "its weight differs"}}, record);
  EXPECT_THAT(record.notes, IsEmpty());
}

}  // namespace
}  // namespace vernier
