#include "doctor/known_parts.h"

#include <gtest/gtest.h>

#include "backend/known/onnx_runtimes.h"
#include "util/files/scratch_folder.h"

namespace vernier {
namespace {

TEST(KnownParts, PluginsOfAMajorVersionAreFoundByTheirFramework) {
  ASSERT_NE(FindPart(KnownBackends(), "tensorrt_10"), nullptr);
  EXPECT_EQ(FindPart(KnownBackends(), "tensorrt_10")->name, "tensorrt");
  EXPECT_EQ(FindPart(KnownBackends(), "torchscript"), nullptr);
  EXPECT_EQ(FindPart(KnownBackends(), "another"), nullptr);
  EXPECT_EQ(FindPart(KnownPackages(), "onnx_graphsurgeon")->package, "onnx-graphsurgeon");
}

TEST(KnownParts, IncludeTheRuntimesThatDeclareThemselves) {
  for (const std::string_view name : kOnnxRuntimes) {
    const KnownPart* part = FindPart(KnownBackends(), name);
    ASSERT_NE(part, nullptr) << name;
    EXPECT_TRUE(part->enables.starts_with("--" + std::string(name) + ": ")) << part->enables;
    EXPECT_NE(part->package, "");
  }
}

TEST(KnownParts, AManagedInterpreterGetsAnEnvironment) {
  EXPECT_EQ(PipCommand({"/e/bin/python", false}, "numpy"), "/e/bin/python -m pip install numpy");
  EXPECT_EQ(PipCommand({"/usr/bin/python3", true}, "numpy"),
            "/usr/bin/python3 -m venv .venv && . .venv/bin/activate && pip install numpy");
  EXPECT_EQ(PipCommand({}, "numpy"),
            "python3 -m venv .venv && . .venv/bin/activate && pip install numpy");
  EXPECT_EQ(PipCommand({"/e/bin/python", false}, ""), "");
  EXPECT_EQ(PipCommand({"/e/bin/python", false}, "onnxruntime", Wanted::kNewest),
            "/e/bin/python -m pip install --upgrade onnxruntime");
}

TEST(TemporarySpace, IsSaidBelowAUsefulAmount) {
  EXPECT_EQ(TemporarySpaceFault(kLeastTemporarySpace), "");
  EXPECT_NE(TemporarySpaceFault(0).find("only 0 B are free in '"), std::string::npos);
  EXPECT_NE(TemporarySpaceFault(kLeastTemporarySpace - 1).find("TMPDIR"), std::string::npos);
}

}  // namespace
}  // namespace vernier
