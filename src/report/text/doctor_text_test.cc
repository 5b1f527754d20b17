#include "report/text/doctor_text.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(DoctorText, WhatIsMissingSaysWhyWhatForAndHowToGetIt) {
  const DoctorRecord record{
      .version = "1.2",
      .parts = {{.section = "backends", .name = "onnxruntime", .version = "1.31", .path = "/lib/o"},
                {.section = "backends",
                 .name = "openvino",
                 .state = PartState::kMissing,
                 .why = "OpenVINO was not found\nmore",
                 .enables = "--openvino",
                 .command = "pip install openvino"}}};
  EXPECT_EQ(FormatDoctorText(record),
            "vernier 1.2\n\nProgram\n\nBackends\n"
            "  onnxruntime  usable   1.31          /lib/o\n"
            "  openvino     missing\n"
            "      OpenVINO was not found\n"
            "      for: --openvino\n"
            "      get: pip install openvino\n"
            "\nPython\n\nGPU\n\nSystem\n"
            "\n1 usable, 1 missing, 0 unusable\n"
            "ready: models can be run and compared here\n");
}

TEST(DoctorText, FaultsTakeThePlaceOfTheVerdict) {
  const std::string text = FormatDoctorText({.version = "1", .parts = {}, .faults = {"no memory"}});
  EXPECT_NE(text.find("problem: no memory\n"), std::string::npos);
  EXPECT_EQ(text.find("\nready:"), std::string::npos);
}

}  // namespace
}  // namespace vernier
