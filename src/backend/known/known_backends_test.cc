#include "backend/known/known_backends.h"

#include <gtest/gtest.h>

#include <set>

#include "backend/known/python_program.h"

namespace vernier {
namespace {

TEST(KnownBackends, AreEachListedOnce) {
  std::set<std::string_view> names;
  for (const KnownBackend& known : KnownBackendList()) {
    EXPECT_TRUE(names.insert(known.name).second) << known.name;
  }
  for (const char* name : {"onnxruntime", "onnxref", "torch", "python"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

TEST(KnownBackends, AreFoundByThePluginOfARelease) {
  EXPECT_TRUE(IsKnownToHave("tensorrt_10", BackendTrait::kBuildsEngines));
  EXPECT_TRUE(IsKnownToHave("tensorrt", BackendTrait::kBuildsEngines));
  EXPECT_FALSE(IsKnownToHave("onnxruntime", BackendTrait::kBuildsEngines));
  EXPECT_EQ(FindKnownBackend("tensorrt_x"), nullptr);
  EXPECT_EQ(FindKnownBackend("another"), nullptr);
}

TEST(KnownBackends, HaveTheOptionsThatAreAskedForBeforehand) {
  EXPECT_TRUE(IsKnownToHave("openvino", OptionMeaning::kLibrary));
  EXPECT_FALSE(IsKnownToHave("identity", OptionMeaning::kLibrary));
  EXPECT_FALSE(IsKnownToHave("another", OptionMeaning::kLibrary));
  for (const char* name : {"torch", "python"}) {
    EXPECT_TRUE(IsKnownToHave(name, OptionMeaning::kResetMethod)) << name;
  }
}

TEST(KnownBackends, ListFormatsByWordEndingOrAll) {
  const std::vector<std::string> formats = {"onnx", ".xml"};
  EXPECT_TRUE(ListsFormat(formats, "onnx", "m.pb"));
  EXPECT_TRUE(ListsFormat(formats, "", "folder/m.xml"));
  EXPECT_FALSE(ListsFormat(formats, "engine", "m.onnx"));
  EXPECT_FALSE(ListsFormat(formats, "", "m"));
  EXPECT_TRUE(ListsFormat(std::vector<std::string>{"*"}, "", ""));
  EXPECT_FALSE(ListsFormat({}, "onnx", "m.onnx"));
}

TEST(PythonRunners, ArePluginsAsWell) {
  EXPECT_TRUE(IsPluginOrPython("torch"));
  EXPECT_TRUE(IsPythonBackend("torch"));
  EXPECT_TRUE(IsPluginOrPython("tensorrt"));
  EXPECT_FALSE(IsPythonBackend("tensorrt"));
  EXPECT_FALSE(IsPluginOrPython("onnxref"));
  EXPECT_FALSE(IsPythonBackend("onnxruntime"));
}

}  // namespace
}  // namespace vernier
