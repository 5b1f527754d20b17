// What arrives at the other log, and what a listener receives.
#include "util/log/forwarding_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/log/recording_logger.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using ForwardedLine = ForwardingLog::Line;

std::optional<ForwardedLine> OnlyBelowWarnings(Severity severity) {
  if (severity >= Severity::kWarning) return std::nullopt;
  return ForwardedLine{Severity::kVerbose};
}

TEST(ForwardingLog, GivesLinesTheSeverityOfItsRule) {
  RecordingLogger to;
  ForwardingLog log(to, OnlyBelowWarnings);
  log.Info("one");
  log.Warning("two");
  EXPECT_FALSE(log.Enabled(Severity::kWarning));
  ASSERT_EQ(to.lines.size(), 1U);
  EXPECT_EQ(to.lines[0].text, "one");
  EXPECT_EQ(to.lines[0].severity, Severity::kVerbose);
  EXPECT_FALSE(to.lines[0].once);
}

TEST(ForwardingLog, HearsLinesThatAreNotForwarded) {
  RecordingLogger to;
  std::vector<std::string> received;
  ForwardingLog log(
      to, OnlyBelowWarnings,
      {.least = Severity::kWarning,
       .receive = [&received](Severity, std::string_view text) { received.emplace_back(text); }});
  log.Info("one");
  log.Warning("two");
  log.Error("three");
  EXPECT_TRUE(log.Enabled(Severity::kWarning));
  EXPECT_THAT(received, ElementsAre("two", "three"));
  EXPECT_THAT(to.Texts(Severity::kUltraVerbose), ElementsAre("one"));
}

// The other log decides by what it would get.
TEST(ForwardingLog, IsEnabledWhereTheOtherLogIs) {
  RecordingLogger to;
  to.least = Severity::kWarning;
  ForwardingLog lowered(to, [](Severity) { return ForwardedLine{Severity::kInfo}; });
  lowered.Write(Severity::kError, "an error", LogColor::kRed, false);
  EXPECT_FALSE(lowered.Enabled(Severity::kError));
  EXPECT_THAT(to.lines, IsEmpty());
  ForwardingLog plain(
      to, [](Severity severity) { return ForwardedLine{.severity = severity, .plain = true}; });
  plain.Log(Severity::kError, "an error", LogColor::kGreen);
  ASSERT_EQ(to.lines.size(), 1U);
  EXPECT_EQ(to.lines[0].color, LogColor::kDefault);
}

TEST(QuietLog, PassesWarningsOnOnce) {
  RecordingLogger to;
  ForwardingLog log = QuietLog(to);
  log.Warning("a warning");
  log.Error("a probe failed");
  log.Log(Severity::kSuperVerbose, "detail");
  ASSERT_EQ(to.lines.size(), 3U);
  EXPECT_EQ(to.lines[0].severity, Severity::kWarning);
  EXPECT_TRUE(to.lines[0].once);
  EXPECT_EQ(to.lines[1].severity, Severity::kVerbose);
  EXPECT_FALSE(to.lines[1].once);
  EXPECT_EQ(to.lines[2].severity, Severity::kSuperVerbose);
}

}  // namespace
}  // namespace vernier
