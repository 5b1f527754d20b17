#include "run/workers/opened_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "run/workers/fake_workers.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using testing_workers::Adds;
using testing_workers::FakeModel;
using testing_workers::FakeWorkers;
using testing_workers::RunnersOf;

class OpenedModelTest : public testing::Test {
 protected:
  Result<OpenedModel> Open() {
    worker_ = *workers_.StartFor(runner_);
    const BackendInfo backend = *worker_->AwaitLoad();
    const auto model = ModelSource::Prepare(runner_.model, log_);
    return OpenModel(*worker_, {runner_, backend, 0, **model, {}, {}});
  }

  const std::map<std::string, FakeModel> models_ = {{"a", Adds(1)}};
  std::atomic<int> interrupted_{0};
  NoLog log_;
  FakeWorkers workers_{models_, interrupted_, log_};
  RunnerPlan runner_ = RunnersOf(models_).front();
  std::unique_ptr<Worker> worker_;
};

TEST_F(OpenedModelTest, WhatItSaysOfItselfIsKnown) {
  const Result<OpenedModel> opened = Open();
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ(opened->session.inputs.front().name, "x");
  EXPECT_EQ(opened->session.outputs.front().name, "y");
  EXPECT_EQ(opened->computes_in, DType::kFloat32);
  EXPECT_FALSE(opened->engine.has_value());
}

TEST_F(OpenedModelTest, AnOptionThatTheBackendLacksIsNamed) {
  runner_.plugin_options = {"depth"};
  const Status refused = Open().status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(), "--fake.depth: the backend has no such option; it has none");
}

TEST_F(OpenedModelTest, WhatTheBackendRefusesIsItsError) {
  runner_.model.path = "b";
  EXPECT_EQ(Open().status().message(), "no such model: b");
}

}  // namespace
}  // namespace vernier
