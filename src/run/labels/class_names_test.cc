#include "run/labels/class_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "util/files/scratch_folder.h"

namespace vernier {
namespace {

using testing::HasSubstr;

class ClassNamesTest : public testing::Test {
 protected:
  Result<ClassNames> Load(const std::string& text) {
    std::ofstream(path_) << text;
    return ClassNames::Load(path_);
  }

  Result<ScratchFolder> folder_ = ScratchFolder::Create();
  std::string path_ = folder_->path() + "/names.txt";
};

TEST_F(ClassNamesTest, ClassesHaveNames) {
  const Result<ClassNames> names = Load("cat\r\nbig dog\nowl\n\n");
  ASSERT_TRUE(names.ok());
  const auto words = [&](DecisionKind kind, const char* text) {
    return names->InWords(kind, text);
  };
  EXPECT_EQ(words(DecisionKind::kTop, "1"), "big dog (1)");
  EXPECT_EQ(words(DecisionKind::kTop, "2 0 7"), "owl (2), cat (0), 7");
  EXPECT_EQ(words(DecisionKind::kThreshold, "0 1 +2 more"), "cat (0), big dog (1) +2 more");
  EXPECT_EQ(words(DecisionKind::kThreshold, "none"), "none");
  EXPECT_EQ(words(DecisionKind::kArgmax, "0:64 2:9"), "cat (0): 64, owl (2): 9");
  EXPECT_EQ(words(DecisionKind::kBoxes, "2 2 0"), "owl (2), owl (2), cat (0)");
  EXPECT_EQ(words(DecisionKind::kCtc, "0 2 0 +3 more"), "catowlcat +3 more");
  EXPECT_EQ(words(DecisionKind::kCtc, "0 7"), "0 7");
  EXPECT_EQ(words(DecisionKind::kCtc, "none"), "none");
  EXPECT_EQ(words(DecisionKind::kRegression, "2"), "2");
  EXPECT_EQ(words(DecisionKind::kTop, ""), "");
  EXPECT_EQ(ClassNames().InWords(DecisionKind::kTop, "1"), "1");
}

TEST_F(ClassNamesTest, ANameMayBeABlank) {
  for (const char* text : {"a\nb \n \n", "a\r\nb\r\n \r\n\r\n", "a\nb\n   "}) {
    const Result<ClassNames> names = Load(text);
    ASSERT_TRUE(names.ok());
    EXPECT_EQ(names->size(), 3u);
    EXPECT_EQ(names->InWords(DecisionKind::kCtc, "0 2 1"), "a b");
  }
  EXPECT_EQ(Load(" \na\n")->size(), 2u);
  EXPECT_EQ(Load("\xEF\xBB\xBF"
                 "cat\n")
                ->ClassOf("cat"),
            0);
}

TEST_F(ClassNamesTest, WhatSeveralClassesAreCalledIsNone) {
  const Result<ClassNames> names = Load("cat\nowl\t \ncat\n");
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->CountOf("cat"), 2u);
  EXPECT_EQ(names->ClassOf("cat"), std::nullopt);
  EXPECT_EQ(names->ClassOf("owl"), 1);
}

TEST_F(ClassNamesTest, ALineWithoutANameIsRefused) {
  EXPECT_THAT(Load("cat\n\nowl\n").status().message(), HasSubstr("names.txt', line 2: is empty"));
  EXPECT_THAT(Load("\n").status().message(), HasSubstr("holds no name of a class"));
  EXPECT_THAT(ClassNames::Load(path_ + ".none").status().message(), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace vernier
