#include "run/live/runner_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/workers/fake_workers.h"
#include "util/log/recording_logger.h"

namespace vernier {
namespace {

using testing::ElementsAre;

TEST(RunnerReportsTest, NotesAreInOrder) {
  RecordingLogger log;
  RunnerReports reports(log);
  reports.NoteOnce("cast");
  reports.NoteOnce("reshaped");
  reports.NoteOnce("cast");
  reports.Note("reshaped");
  reports.NoteFirst("sizes");
  EXPECT_THAT(reports.notes(), ElementsAre("sizes", "cast", "reshaped", "reshaped"));
}

TEST(RunnerReportsTest, ARunnerThatFailsIsOutOfTheRun) {
  RecordingLogger log;
  RunnerReports reports(log);
  RunnerPlan plan;
  plan.name = "a";
  RunnerSession runner(plan);
  reports.Fail(runner, BackendError("no room"), "\nsaid before");
  EXPECT_EQ(runner.failure().message(), "no room");
  EXPECT_THAT(log.Texts(Severity::kCritical),
              ElementsAre(PadName("a") + " | FAILED: no room\nsaid before"));
}

TEST(RunnerReportsTest, TensorsAreShownAsInPolygraphy) {
  const TensorMap tensors = {{"x", testing_workers::Floats({1, 2}, {1, 2})},
                             {"y", testing_workers::Floats({1}, {1})}};
  EXPECT_EQ(FormatTensorTable(tensors),
            "{x [dtype=float32, shape=(1, 2)],\n y [dtype=float32, shape=(1,)]}");
  EXPECT_EQ(PadName("runner").size(), 35U);
  EXPECT_EQ(PadName(std::string(40, 'n')), std::string(40, 'n'));
}

}  // namespace
}  // namespace vernier
