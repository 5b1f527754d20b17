#include "util/log/framework_words.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(FrameworkWords, PlacesInOpenVinosSourcesAreLeftOut) {
  EXPECT_EQ(WithoutSourcePlaces("reading the model: Exception from src/inference/src/core.cpp:84:\n"
                                "Check 'false' failed at src/frontends/report.cpp:151:\n"
                                "FrontEnd API failed with OpConversionFailure:\n"
                                "Model wasn't fully converted.\nSummary:\n"
                                "-- No conversion rule found for operations: my.dom.Foo\n\n"),
            "reading the model: FrontEnd API failed with OpConversionFailure: Model wasn't fully "
            "converted. Summary: -- No conversion rule found for operations: my.dom.Foo");
  EXPECT_EQ(
      WithoutSourcePlaces("inference: Exception from src/infer_request.cpp:224:\n"
                          "Exception from src/plugins/intel_cpu/src/node.cpp:794:\n"
                          "[CPU] Add node with name 'y' Check 'input_shape[j] == 1' failed at "
                          "src/plugins/eltwise.cpp:52:\n"
                          "Eltwise shape infer input shapes dim index: 0 mismatch\n\n\n"),
      "inference: [CPU] Add node with name 'y' Check 'input_shape[j] == 1' failed: Eltwise "
      "shape infer input shapes dim index: 0 mismatch");
}

TEST(FrameworkWords, PlacesInOnnxRuntimesSourcesAreLeftOut) {
  EXPECT_EQ(WithoutSourcePlaces(
                "Non-zero status code returned while running Add node. Name:'mm' Status Message: "
                "/onnxruntime_src/onnxruntime/core/providers/cpu/math/element_wise_ops.h:563 void "
                "onnxruntime::BroadcastIterator::Init(ptrdiff_t, ptrdiff_t) axis == 1 || axis == "
                "largest was false. Attempting to broadcast an axis by a dimension other than 1. 2 "
                "by 7\n"),
            "Non-zero status code returned while running Add node. Name:'mm' Status Message: axis "
            "== 1 || axis == largest was false. Attempting to broadcast an axis by a dimension "
            "other than 1. 2 by 7");
}

TEST(FrameworkWords, OfManyLinesTheFirstAndTheLastComeFirst) {
  std::string message = "compiling: Exception from src/a.cpp:1:\nIt failed.\n";
  for (int i = 0; i < 100; ++i) message += "a line of a list\n";
  const std::string found = WithoutSourcePlaces(message + "No rule for Foo\n");
  EXPECT_EQ(found.substr(0, found.find('\n')), "compiling: It failed. No rule for Foo");
  EXPECT_NE(found.find("a line of a list\na line of a list\n"), std::string::npos);
}

TEST(FrameworkWords, OfALogTheCauseComesFirst) {
  std::string message =
      "reading the model: Exception from src/core.cpp:84:\nIt failed:\n-- Add-17 "
      "with a message:\n";
  for (int i = 0; i < 100; ++i) message += "a line of a list\n";
  message += "Argument shapes are inconsistent.\n\nSummary:\n-- Conversion is failed for: Add-17\n";
  const std::string found = WithoutSourcePlaces(message);
  EXPECT_EQ(
      found.substr(0, found.find('\n')),
      "reading the model: It failed: Argument shapes are inconsistent. -- Conversion is failed "
      "for: Add-17");
}

TEST(FrameworkWords, OtherMessagesStayAsTheyAre) {
  for (const char* message : {"", "\n", "a\n\n  b\n", "Exception from a friend:\nno place",
                              "it failed at noon: why", "Exception from src/a.cpp:84:",
                              "Exception from src/a.cpp:84:\n", "see model.onnx:12: no"}) {
    EXPECT_EQ(WithoutSourcePlaces(message), message);
  }
}

}  // namespace
}  // namespace vernier
