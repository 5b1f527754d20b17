#include "run/outcome/exit_code.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

RunFaults FaultsOf(const Status& status) {
  RunFaults faults;
  faults.Add(status);
  return faults;
}

TEST(ExitCode, IsZeroWithoutFaults) {
  EXPECT_EQ(ExitCode({}, false), 0);
  EXPECT_EQ(ExitCode({}, true), 0);
  EXPECT_FALSE(FaultsOf({}).any());
}

TEST(ExitCode, OfEachFaultIsTheDocumentedOne) {
  EXPECT_EQ(ExitCode(FaultsOf(NotFound("m")), false), 1);
  EXPECT_EQ(ExitCode(FaultsOf(InvalidArgument("m")), false), 2);
  EXPECT_EQ(ExitCode(FaultsOf(Malformed("m")), false), 3);
  EXPECT_EQ(ExitCode({.incomplete = true}, false), 4);
  EXPECT_EQ(ExitCode(FaultsOf(Unavailable("m")), false), 5);
  EXPECT_EQ(ExitCode(FaultsOf(Unimplemented("m")), false), 5);
  EXPECT_EQ(ExitCode(FaultsOf(BackendError("m")), false), 6);
  EXPECT_EQ(ExitCode(FaultsOf(IoError("m")), false), 7);
  EXPECT_EQ(ExitCode(FaultsOf(Internal("m")), false), 70);
}

TEST(ExitCode, AMismatchOutranksWhatWasNotRun) {
  EXPECT_EQ(ExitCode({.mismatch = true, .backend = true, .incomplete = true}, false), 1);
  EXPECT_EQ(ExitCode({.backend = true, .incomplete = true}, false), 6);
  EXPECT_EQ(ExitCode({.mismatch = true, .usage = true}, false), 2);
}

TEST(ExitCode, ASignalOutranksAll) {
  RunFaults faults{.mismatch = true, .internal = true};
  faults.Add(RunFaults{.signal = 15});
  EXPECT_EQ(ExitCode(faults, false), 143);
  EXPECT_EQ(ExitCode(faults, true), 143);
}

TEST(ExitCode, CalledAsPolygraphyEveryFaultIsOne) {
  EXPECT_EQ(ExitCode({.backend = true}, true), 1);
  EXPECT_EQ(ExitCode({.usage = true}, true), 1);
}

TEST(ExitCode, WhatCouldNotBeSavedAfterwardsIsNoPass) {
  EXPECT_EQ(WithUnsaved(0, false), 7);
  EXPECT_EQ(WithUnsaved(0, true), 1);
  EXPECT_EQ(WithUnsaved(1, false), 1);  // a mismatch stays one
  EXPECT_EQ(WithUnsaved(3, false), 7);
}

TEST(ExitCode, TheErrorOfACodeEndsWithThatCode) {
  for (const int code :
       {kUsageCode, kMalformedCode, kUnavailableCode, kBackendCode, kUnsavedCode, kInternalCode}) {
    RunFaults faults;
    faults.Add(ErrorOfExitCode(code, "why"));
    EXPECT_EQ(ExitCode(faults, false), code);
  }
  for (const int code : {kMismatchCode, kIncompleteCode, 139}) {
    EXPECT_EQ(ErrorOfExitCode(code, "why").code(), StatusCode::kBackend);
  }
}

}  // namespace
}  // namespace vernier
