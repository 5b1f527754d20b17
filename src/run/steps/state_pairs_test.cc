// Which outputs are fed back into which inputs: as named, and by likeness.
#include "run/steps/state_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/steps/step_states.h"
#include "util/log/recording_logger.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TensorInfo Info(std::string name, const std::vector<int64_t>& dims, DType dtype = DType::kFloat32) {
  TensorInfo info{std::move(name), dtype, std::vector<Dim>()};
  for (const int64_t size : dims) info.shape->push_back({size, {}});
  return info;
}

class StatePairsTest : public testing::Test {
 protected:
  Result<std::vector<StatePair>> Pair(const std::vector<std::string>& words) {
    StepPlan plan;
    plan.feed_back = words;
    const std::vector<std::string> runners = {"ort"};
    const Result<StepWords> parsed = ParseStepWords(plan, runners);
    if (!parsed.ok()) return parsed.status();
    used_.assign(words.size(), false);
    return PairState(parsed->feed_back, {"ort", inputs_, outputs_, keeps_state_}, driven_, used_);
  }

  std::string WhyNot(const std::vector<std::string>& words) {
    return Pair(words).status().message();
  }

  std::vector<TensorInfo> inputs_ = {Info("x", {1, 8}), Info("state", {2, -1, 128}),
                                     Info("sr", {}, DType::kInt64)};
  std::vector<TensorInfo> outputs_ = {Info("y", {1, 1}), Info("stateN", {2, 1, 128})};
  bool keeps_state_ = false;
  std::vector<std::string> driven_;
  std::vector<bool> used_;
};

TEST_F(StatePairsTest, NamesArePairedAsTheyAreGiven) {
  const auto pairs = Pair({"stateN:state"});
  ASSERT_TRUE(pairs.ok()) << pairs.status().message();
  EXPECT_THAT(*pairs, ElementsAre(StatePair{"stateN", "state"}));
  EXPECT_THAT(used_, ElementsAre(true));
}

TEST_F(StatePairsTest, AWordAboutOtherRunnersPairsNothing) {
  const auto pairs = Pair({"hn:h"});
  ASSERT_TRUE(pairs.ok());
  EXPECT_THAT(*pairs, IsEmpty());
  EXPECT_THAT(used_, ElementsAre(false));
  EXPECT_THAT(WhyNot({"ort:hn:h"}), HasSubstr("--feed-back ort:hn:h: ort has no such output"));
}

TEST_F(StatePairsTest, AStarStandsForTheSameTextOnBothSides) {
  inputs_ = {Info("past.0.k", {1, -1, 4}), Info("past.1.k", {1, -1, 4})};
  outputs_ = {Info("logits", {1, 9}), Info("present.0.k", {1, -1, 4}),
              Info("present.1.k", {1, -1, 4})};
  const auto pairs = Pair({"present.*:past.*"});
  ASSERT_TRUE(pairs.ok()) << pairs.status().message();
  EXPECT_THAT(*pairs, ElementsAre(StatePair{"present.0.k", "past.0.k"},
                                  StatePair{"present.1.k", "past.1.k"}));
  inputs_.pop_back();
  EXPECT_THAT(
      WhyNot({"present.*:past.*"}),
      HasSubstr("output 'present.1.k' of ort would go to 'past.1.k', which is not an input"));
}

TEST_F(StatePairsTest, NamesMayHaveColons) {
  inputs_ = {Info("a:0", {1})};
  outputs_ = {Info("b:0", {1})};
  const auto pairs = Pair({"b:0:a:0"});
  ASSERT_TRUE(pairs.ok()) << pairs.status().message();
  EXPECT_THAT(*pairs, ElementsAre(StatePair{"b:0", "a:0"}));
}

TEST_F(StatePairsTest, WhatCannotMeetIsRefused) {
  EXPECT_THAT(WhyNot({"y:state"}), HasSubstr("the numbers of axes differ"));
  outputs_[1].dtype = DType::kFloat16;
  EXPECT_THAT(WhyNot({"stateN:state"}),
              HasSubstr("output 'stateN' of ort is float16 (2, 1, 128), but its input 'state' is "
                        "float32 (2, -1, 128): the types differ"));
  EXPECT_THAT(WhyNot({"stateN"}), HasSubstr("expected OUTPUT:INPUT"));
  EXPECT_THAT(WhyNot({"a*:b"}), HasSubstr("expected OUTPUT:INPUT"));
  outputs_ = {Info("p", {1, 8}), Info("q", {1, 8})};
  EXPECT_THAT(WhyNot({"p:x", "q:x"}), HasSubstr("'x' of ort is fed by 'p' already"));
  driven_ = {"x"};
  EXPECT_THAT(WhyNot({"p:x"}), HasSubstr("is set by --step-slice or --advance already"));
}

TEST_F(StatePairsTest, AnOutputFeedsOneInput) {
  inputs_ = {Info("h", {1, 8}), Info("c", {1, 8})};
  outputs_ = {Info("hn", {1, 8}), Info("cn", {1, 8})};
  EXPECT_THAT(WhyNot({"hn:h", "hn:c"}),
              HasSubstr("output 'hn' of ort feeds 'h' already, and cannot feed 'c' too"));
  EXPECT_TRUE(Pair({"hn:h", "hn:h"}).ok());
}

TEST_F(StatePairsTest, AnInputThatWouldStayAsItWasIsRefused) {
  inputs_ = {Info("x", {1, 8}), Info("h", {1, 8}), Info("c", {1, 8}), Info("w", {1, 6})};
  outputs_ = {Info("y", {1, 2}), Info("hn", {1, 8}), Info("cn", {1, 8}), Info("wn", {1, 4})};
  const auto pair = [&](const std::vector<std::string>& words, const std::string& advance) {
    StepPlan plan;
    plan.steps = 2;
    plan.feed_back = words;
    plan.slices = {"x:axis=1,size=4"};
    if (!advance.empty()) plan.advances = {advance};
    RecordingLogger log;
    auto states = StepStates::Create(plan, {"ort"}, log);
    return states.ok() ? states->Pair(0, {"ort", inputs_, outputs_}) : states.status();
  };
  EXPECT_EQ(pair({"hn:h"}, "").message(),
            "--feed-back: nothing feeds the input 'c' of ort after the first step, and output 'cn' "
            "is called like it: add cn:c, or --advance c:+0 for a value that stays");
  EXPECT_TRUE(pair({"hn:h", "cn:c"}, "").ok());
  EXPECT_TRUE(pair({"hn:h"}, "c:+0").ok());
  // Pairs that numbers leave open.
  inputs_ = {Info("cache_1", {1, 8}), Info("cache_0", {1, 8}), Info("input_3", {1, 8})};
  outputs_ = {Info("input_4", {1, 4}), Info("cache_2", {1, 8}), Info("cache_1_out", {1, 8})};
  EXPECT_THAT(pair({"auto"}, "").message(),
              HasSubstr("nothing feeds the input 'cache_0' of ort after the first step, and output "
                        "'cache_2' is numbered like it: write out as OUTPUT:INPUT which of "
                        "'cache_2', 'cache_1_out' feeds which of 'cache_1', 'cache_0', or add "
                        "--advance cache_0:+0 for a value that stays"));
  EXPECT_TRUE(pair({"auto", "cache_2:cache_0"}, "").ok());
}

// The state has the type and shape of an output that feeds nothing, whatever both are called.
TEST_F(StatePairsTest, AnInputThatLooksLikeAStateIsAskedFor) {
  inputs_ = {Info("x", {1, 4}), Info("st", {1, 8}), Info("mem", {1, 8}), Info("scale", {8}),
             Info("sr", {}, DType::kInt64)};
  outputs_ = {Info("y", {1, 1}), Info("o1", {1, 8}), Info("o2", {1, 8}), Info("level", {8})};
  RecordingLogger log;
  const auto pair = [&](const std::vector<std::string>& words, const std::string& advance,
                        std::vector<std::string> mapped = {}) {
    StepPlan plan;
    plan.steps = 2;
    plan.feed_back = words;
    plan.slices = {"x:axis=1,size=4"};
    if (!advance.empty()) plan.advances = {advance};
    auto states = StepStates::Create(plan, {"ort"}, log);
    RunnerSides sides{"ort", inputs_, outputs_};
    sides.mapped = std::move(mapped);
    return states.ok() ? states->Pair(0, sides) : states.status();
  };
  EXPECT_EQ(pair({"o1:st"}, "").message(),
            "--feed-back: nothing feeds the input 'mem' of ort after the first step, and an output "
            "that feeds nothing has its type and shape: add --advance mem:+0 for a value that "
            "stays, or o2:mem for a state");
  EXPECT_TRUE(pair({"o1:st"}, "", {"mem"}).ok());
  EXPECT_FALSE(log.Has("ort | Stays the same at every step: 'mem', 'scale', 'sr'"));
  EXPECT_TRUE(pair({"o1:st"}, "mem:+0").ok());
  EXPECT_TRUE(pair({"o1:st", "o2:mem"}, "").ok());
  EXPECT_TRUE(log.Has("ort | Stays the same at every step: 'scale', 'sr'"));
  outputs_[2] = Info("o2", {1, 8}, DType::kFloat16);
  EXPECT_TRUE(pair({"o1:st"}, "").ok());
  outputs_[2] = Info("o2", {1, 7});
  EXPECT_TRUE(pair({"o1:st"}, "").ok());
  // Sizes that nothing is known of say nothing; names do.
  inputs_[2] = Info("mem", {1, -1});
  outputs_[2] = Info("o2", {1, -1});
  EXPECT_TRUE(pair({"o1:st"}, "").ok());
  inputs_[2].shape->back().symbol = outputs_[2].shape->back().symbol = "cells";
  EXPECT_FALSE(pair({"o1:st"}, "").ok());
  outputs_[2].shape->back().symbol = "classes";
  EXPECT_TRUE(pair({"o1:st"}, "").ok());
}

// An image that a video is matted with, a speaker: an output is as large by chance.
TEST_F(StatePairsTest, AnInputThatMayWellStayIsNotRefused) {
  inputs_ = {Info("x", {1, 4}), Info("st", {1, 8}), Info("cell", {1, 8})};
  StepPlan plan;
  plan.feed_back = {"next_st:st"};
  plan.slices = {"x:axis=1,size=4"};
  const auto pair = [&](const std::vector<std::string>& outputs, RecordingLogger& log) {
    outputs_ = {Info("next_st", {1, 8})};
    for (const std::string& name : outputs) outputs_.push_back(Info(name, {1, 8}));
    auto states = StepStates::Create(plan, {"ort"}, log);
    return states.ok() ? states->Pair(0, {"ort", inputs_, outputs_}) : states.status();
  };
  RecordingLogger log;
  EXPECT_TRUE(pair({"y", "output_1"}, log).ok());
  EXPECT_TRUE(log.Has("ort | Stays the same at every step: 'cell'"));
  EXPECT_TRUE(
      log.Has("ort | Stays the same at every step: 'cell', though an output that feeds nothing has "
              "its type and shape: add --advance cell:+0 for a value that stays, or y:cell or "
              "output_1:cell for a state"));
  RecordingLogger refused;
  EXPECT_THAT(pair({"y", "new_thing"}, refused).message(),
              HasSubstr("add --advance cell:+0 for a value that stays, or y:cell or new_thing:cell "
                        "for a state"));
}

TEST_F(StatePairsTest, AStateIsMissedWhereNothingIsFedBack) {
  inputs_ = {Info("x", {1, 4}), Info("state", {1, 8}), Info("length", {1})};
  outputs_ = {Info("y", {1, 8}), Info("stateN", {1, 8}), Info("out_length", {1})};
  const auto pair = [&](const std::string& advance, bool keeps_state, RecordingLogger& log) {
    StepPlan plan;
    plan.slices = {"x:axis=1,size=4"};
    if (!advance.empty()) plan.advances = {advance};
    auto states = StepStates::Create(plan, {"ort"}, log);
    RunnerSides sides{"ort", inputs_, outputs_};
    sides.keeps_state = keeps_state;
    return states.ok() ? states->Pair(0, sides) : states.status();
  };
  RecordingLogger log;
  EXPECT_EQ(pair("", false, log).message(),
            "--feed-back: nothing feeds the input 'state' of ort after the first step, and output "
            "'stateN' is called like it: add --feed-back stateN:state, or --advance state:+0 for a "
            "value that stays");
  EXPECT_TRUE(pair("", true, log).ok());
  EXPECT_TRUE(pair("state:+0", false, log).ok());
  EXPECT_TRUE(log.Has("ort | Stays the same at every step: 'length'"));
}

// Its inputs may be fed with tensors of other names.
TEST_F(StatePairsTest, AnInputThatFeedsHaveNoNameForMayBeFedWithAnother) {
  StepPlan plan;
  plan.feed_back = {"a:stateN:state", "b:h_out:h_in"};
  plan.slices = {"x:axis=1,size=8"};
  RecordingLogger log;
  auto states = StepStates::Create(plan, {"a", "b"}, log);
  ASSERT_TRUE(states.ok());
  ASSERT_TRUE(states->Pair(0, {"a", inputs_, outputs_}).ok());
  const std::vector<TensorInfo> inputs = {Info("frames", {1, 8}), Info("h_in", {2, 1, 128})};
  const std::vector<TensorInfo> outputs = {Info("z", {1, 8}), Info("h_out", {2, 1, 128})};
  const Status paired = states->Pair(1, {"b", inputs, outputs});
  EXPECT_TRUE(paired.ok()) << paired.message();
}

TEST_F(StatePairsTest, AStateThatMayStayInsideIsWarnedOf) {
  StepPlan plan;
  plan.slices = {"x:axis=1,size=4"};
  for (const bool keeps : {false, true}) {
    for (const bool named : {false, true}) {
      RecordingLogger log;
      auto states = StepStates::Create(plan, {"py", "b"}, log);
      ASSERT_TRUE(states.ok());
      RunnerSides sides{"py", {}, {}, keeps};
      if (named) sides.inputs = inputs_;
      ASSERT_TRUE(states->Pair(0, sides).ok());
      EXPECT_EQ(
          log.Has("py | Feeds nothing back, and has no method reset_states: if it keeps state "
                  "inside, each sequence begins with that of the one before (--reset METHOD)"),
          !keeps && !named);
    }
  }
}

TEST_F(StatePairsTest, WhatFeedsNothingBackIsOpenedAgainWhereItCanBe) {
  StepPlan plan;
  plan.slices = {"x:axis=1,size=4"};
  RunnerSides sides{"py", inputs_, {}, false, true};
  for (const StateSource state : {StateSource::kOwn, StateSource::kReference}) {
    plan.state = state;
    RecordingLogger log;
    auto states = StepStates::Create(plan, {"py", "b"}, log);
    ASSERT_TRUE(states.ok());
    ASSERT_TRUE(states->Pair(0, sides).ok());
    EXPECT_EQ(states->OpensAgain(0), state == StateSource::kOwn);
    EXPECT_EQ(log.Has("it is opened again before each sequence"), state == StateSource::kOwn);
  }
  plan = {};
  plan.feed_back = {"hn:h"};
  RecordingLogger log;
  auto states = StepStates::Create(plan, {"py"}, log);
  inputs_ = {Info("x", {1, 4}), Info("h", {1, 8})};
  outputs_ = {Info("hn", {1, 8})};
  ASSERT_TRUE(states->Pair(0, {"py", inputs_, outputs_, false, true}).ok());
  EXPECT_FALSE(states->OpensAgain(0));
}

TEST_F(StatePairsTest, AutoFindsTheUsualNames) {
  const std::pair<const char*, const char*> names[] = {{"stateN", "state"},
                                                       {"staten", "state"},
                                                       {"present.0.key", "past_key_values.0.key"},
                                                       {"hn", "h"},
                                                       {"h_n", "h_0"},
                                                       {"new_x", "x_in"},
                                                       {"state_out", "state"},
                                                       {"present_key_3", "past_key_3"},
                                                       {"last_token_out", "last_token"},
                                                       {"new_last", "last"},
                                                       {"new_old", "old"},
                                                       {"new_next", "next"},
                                                       {"new_prev_err", "prev_err"},
                                                       {"new_last_x", "prev_last_x"}};
  for (const auto& [output, input] : names) {
    inputs_ = {Info("other", {1, 3}), Info(input, {1, 8})};
    outputs_ = {Info("logits", {1, 8}), Info(output, {1, 8})};
    const auto pairs = Pair({"auto"});
    ASSERT_TRUE(pairs.ok()) << pairs.status().message();
    EXPECT_THAT(*pairs, ElementsAre(StatePair{output, input}));
  }
}

TEST_F(StatePairsTest, AutoTellsLayersKeysAndValuesApart) {
  inputs_.clear();
  outputs_.clear();
  std::vector<StatePair> expected;
  for (const std::string part : {"0.key", "0.value", "1.key", "1.value", "10.key", "10.value"}) {
    inputs_.push_back(Info("past_key_values." + part, {1, 2, -1, 4}));
    outputs_.push_back(Info("present." + part, {1, 2, -1, 4}));
    expected.push_back({"present." + part, "past_key_values." + part});
  }
  const auto pairs = Pair({"auto"});
  ASSERT_TRUE(pairs.ok()) << pairs.status().message();
  EXPECT_EQ(*pairs, expected);
}

TEST_F(StatePairsTest, AutoRefusesWhatIsDoubtful) {
  outputs_[1].dtype = DType::kFloat16;
  EXPECT_THAT(WhyNot({"auto"}), HasSubstr("\n    output 'stateN', float16 (2, 1, 128), and input "
                                          "'state', float32 (2, -1, 128): the types differ"));
  outputs_ = {Info("state_n", {2, 1, 128}), Info("new_state", {2, 1, 128})};
  EXPECT_THAT(WhyNot({"auto"}), HasSubstr("more than one fits"));
  outputs_ = {Info("y", {1, 1})};
  EXPECT_THAT(WhyNot({"auto"}), HasSubstr("ort has no output that is called like one of its"));
  inputs_.push_back(Info("past.0.key", {1}));
  EXPECT_THAT(WhyNot({"auto"}), HasSubstr("input 'past.0.key', float32 (1,): no output is called"));
}

TEST_F(StatePairsTest, AutoLeavesWhatIsNamedAndWhatIsDrivenAlone) {
  outputs_.push_back(Info("new_x", {1, 8}));
  driven_ = {"x"};
  const auto pairs = Pair({"auto"});
  ASSERT_TRUE(pairs.ok()) << pairs.status().message();
  EXPECT_THAT(*pairs, ElementsAre(StatePair{"stateN", "state"}));
  driven_.clear();
  const auto named = Pair({"auto", "new_x:x"});
  ASSERT_TRUE(named.ok()) << named.status().message();
  EXPECT_THAT(*named, ElementsAre(StatePair{"new_x", "x"}, StatePair{"stateN", "state"}));
  outputs_.pop_back();
  driven_ = {"state"};
  EXPECT_THAT(WhyNot({"auto"}),
              HasSubstr("output 'stateN' of ort is called like the input 'state', which "
                        "--step-slice or --advance sets already"));
}

TEST_F(StatePairsTest, ACacheThatNothingFeedsIsNamed) {
  inputs_ = {Info("past_key_values.0.key", {1, 2, -1, 4}),
             Info("past_key_values.0.value", {1, 2, -1, 4}), Info("past_only", {1})};
  outputs_ = {Info("present.0.key", {1, 2, -1, 4}), Info("present.0.value", {1, 2, -1, 4})};
  std::vector<StatePair> pairs = {{"present.0.key", "past_key_values.0.key"}};
  RunnerSides sides{"ort-N0-11/22/26-14:05:09", inputs_, outputs_};
  sides.label = "ort";
  EXPECT_EQ(
      CheckAllStatesFed(sides, {}, pairs).message(),
      "--feed-back: nothing feeds the input 'past_key_values.0.value' of ort after the first "
      "step, and output 'present.0.value' is called like it: add "
      "present.0.value:past_key_values.0.value, or --advance past_key_values.0.value:+0 for a "
      "value that stays");
  const std::vector<std::string> driven = {"past_key_values.0.value"};
  EXPECT_TRUE(CheckAllStatesFed(sides, driven, pairs).ok());
  EXPECT_TRUE(CheckAllStatesFed(sides, {}, {}).ok());
  pairs.push_back({"present.0.value", "past_key_values.0.value"});
  EXPECT_TRUE(CheckAllStatesFed(sides, {}, pairs).ok());
}

TEST_F(StatePairsTest, ARunnerThatTellsNothingIsBelievedButNotGuessedAt) {
  inputs_.clear();
  outputs_.clear();
  const auto pairs = Pair({"hn:h"});
  ASSERT_TRUE(pairs.ok());
  EXPECT_THAT(*pairs, ElementsAre(StatePair{"hn", "h"}));
  EXPECT_THAT(WhyNot({"auto"}), HasSubstr("does not name its inputs and outputs"));
  EXPECT_THAT(WhyNot({"ort:present.*:past.*"}), HasSubstr("write out each OUTPUT:INPUT"));
}

TEST_F(StatePairsTest, WordsForAllAreNotForARunnerThatKeepsItsStateInside) {
  keeps_state_ = true;
  outputs_.clear();
  for (const char* word : {"auto", "hn:h"}) {
    const auto pairs = Pair({word});
    ASSERT_TRUE(pairs.ok()) << pairs.status().message();
    EXPECT_THAT(*pairs, IsEmpty());
    EXPECT_THAT(used_, ElementsAre(false));
  }
  const auto named = Pair({"ort:hn:state"});
  ASSERT_TRUE(named.ok()) << named.status().message();
  EXPECT_THAT(*named, ElementsAre(StatePair{"hn", "state"}));
}

}  // namespace
}  // namespace vernier
