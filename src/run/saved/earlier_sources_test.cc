#include "run/saved/earlier_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "io/results/io_test_data.h"
#include "run/parts/shard_sources.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;

using Sources = std::vector<JournalSource>;

TEST(EarlierSources, WhatHasAnotherValueDiffers) {
  const Sources there = {{"package", "numpy", "1.5"}, {"runner", "a", "onnxruntime on CPU"}};
  EXPECT_EQ(FindOtherSource(there, there).what, "");
  // Scripts import packages when they need them.
  EXPECT_EQ(FindOtherSource(there, {{"package", "scipy", "3"}}).what, "");
  EXPECT_EQ(FindOtherSource(there, {{"package", "numpy", "2.0"}}).what,
            "the Python package 'numpy' was 1.5 there, and is 2.0 now");
  EXPECT_EQ(FindOtherSource(there, {{"runner", "a", "onnxruntime on GPU"}}).what,
            "runner 'a' was onnxruntime on CPU there, and is onnxruntime on GPU now");
  EXPECT_EQ(FindOtherSource({{"processor", "", "x"}}, {{"processor", "", "y"}}).what,
            "the processor was x there, and is y now");
}

TEST(EarlierSources, SeveralInterpretersMayHaveSeveralVersions) {
  const Sources both = {{"package", "numpy", "1.5"}, {"package", "numpy", "2.0"}};
  EXPECT_EQ(FindOtherSource(both, {{"package", "numpy", "2.0"}}).what, "");
  EXPECT_EQ(FindOtherSource({{"package", "numpy", "2.0"}}, both).what, "");
  EXPECT_THAT(FindOtherSource(both, {{"package", "numpy", "3.0"}}).what, HasSubstr("is 3.0 now"));
}

TEST(EarlierSources, AModuleThatIsNotImportedIsLookedAtWhereItWas) {
  const TemporaryFolder folder;
  const std::string path = folder / "rare.py";
  const auto write = [&](const char* text) { std::ofstream(path) << text; };
  write("K = 0");
  const Sources there = {{"module", "rare", "abc", path, HashOfSource(path)}};
  EXPECT_EQ(FindOtherSource(there, {}).what, "");
  write("K = 7");
  const SourceDifference found = FindOtherSource(there, {});
  EXPECT_TRUE(found.always);
  EXPECT_THAT(found.what, HasSubstr("rare.py'), which a script of its runners had imported"));
  // It was imported before it was edited.
  EXPECT_EQ(FindOtherSource(there, {{"module", "rare", "abc", path}}).what, "");
}

TEST(KnownSources, AreNotedOnce) {
  KnownSources known;
  EXPECT_NE(known.AddLines({{"package", "numpy", "1.5"}}), "");
  EXPECT_EQ(known.AddLines({{"package", "numpy", "1.5"}}), "");
  EXPECT_NE(known.AddLines({{"package", "numpy", "1.6"}}), "");
}

}  // namespace
}  // namespace vernier
