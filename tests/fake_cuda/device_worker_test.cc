// The worker's protocol for outputs that stay on the device. Runs with the fake libcuda.so.1, which
// compiles no kernels, and as well with a real one.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "backend/worker/worker.h"
#include "kernels/measures/difference.h"
#include "kernels/measures/pair_measures.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

class DeviceWorker : public testing::Test {
 protected:
  void SetUp() override {
    WorkerOptions options;
    options.load.plugin_paths = {VERNIER_IDENTITY_PLUGIN};
    options.in_process = true;
    options.interrupted = &interrupted_;
    Result<std::unique_ptr<Worker>> worker = Worker::Start(std::move(options), log_);
    ASSERT_TRUE(worker.ok()) << worker.status().message();
    worker_ = *std::move(worker);
    for (const uint64_t session : {1, 2}) {
      OpenRequest request;
      request.session = session;
      request.model_path = "m.onnx";
      request.inputs = {{"x", DType::kFloat32, std::vector<Dim>{{kCount, ""}}}};
      request.options = {{"device", "cuda"}};
      const Status opened = worker_->Open(request, UniqueFd()).status();
      ASSERT_TRUE(opened.ok()) << opened.message();
    }
  }

  Worker::Outcome Run(uint64_t session, float value, OutputPlace place) {
    const std::vector<float> values(kCount, value);
    Result<TensorBlock> feed = EncodeTensors(
        {{"x", *Tensor::Copy(DType::kFloat32, {kCount}, std::as_bytes(std::span(values)))}});
    Result<Worker::Outcome> outcome = worker_->Run(session, *feed, "a test", {place});
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    return *std::move(outcome);
  }

  static constexpr int64_t kCount = 50'000;
  NoLog log_;
  std::atomic<int> interrupted_{0};
  std::unique_ptr<Worker> worker_;
};

TEST_F(DeviceWorker, OutputsAreCopiedUnlessTheyMayStay) {
  const Worker::Outcome outcome = Run(1, 2.5f, OutputPlace::kHost);
  ASSERT_EQ(outcome.outputs.tensors.size(), 1u);
  EXPECT_TRUE(outcome.outputs.kept.empty());
  EXPECT_EQ(outcome.outputs.tensors[0].tensor.As<float>().back(), 2.5f);
}

TEST_F(DeviceWorker, AKeptOutputCanBeFetchedUntilItIsReleased) {
  const Worker::Outcome outcome = Run(1, 7.f, OutputPlace::kDevice);
  EXPECT_TRUE(outcome.outputs.tensors.empty());
  ASSERT_EQ(outcome.outputs.kept.size(), 1u);
  const uint64_t handle = outcome.outputs.kept[0].handle;
  EXPECT_EQ(outcome.outputs.kept[0].dims, Dims{kCount});
  for (int i = 0; i < 2; ++i) {
    const Result<Tensor> tensor = worker_->Fetch(handle);
    ASSERT_TRUE(tensor.ok()) << tensor.status().message();
    EXPECT_EQ(tensor->As<float>().front(), 7.f);
  }
  worker_->Release(handle);
  (void)Run(1, 8.f, OutputPlace::kDevice);
  EXPECT_EQ(worker_->Fetch(handle).status().code(), StatusCode::kInternal);
}

TEST_F(DeviceWorker, TheEndOfASessionTakesItsOutputsAlong) {
  const uint64_t handle = Run(2, 7.f, OutputPlace::kDevice).outputs.kept[0].handle;
  ASSERT_TRUE(worker_->Close(2).ok());
  EXPECT_FALSE(worker_->Fetch(handle).ok());
}

TEST_F(DeviceWorker, APairIsMeasuredInPlaceOrTheReasonIsGiven) {
  const uint64_t a = Run(1, 3.f, OutputPlace::kDevice).outputs.kept[0].handle;
  const uint64_t b = Run(2, 2.f, OutputPlace::kDevice).outputs.kept[0].handle;
  MeasureRequest request;
  request.rule = {0.5, 0.1, false};
  request.differences = StatisticsLevel::kRanks;
  const Result<PairMeasures> measures = worker_->Measure(a, b, request);
  const char* fake = std::getenv("VERNIER_FAKE_CUDA");
  if (fake != nullptr) {
    // Without GPU kernels the caller has to fetch and compare by itself.
    EXPECT_EQ(measures.status().code(), StatusCode::kUnavailable) << measures.status().message();
    return;
  }
  ASSERT_TRUE(measures.ok()) << measures.status().message();
  EXPECT_EQ(measures->difference.mismatches, kCount);
  EXPECT_EQ(measures->difference.absolute.max, 1);
  EXPECT_EQ(measures->difference.absolute.median, 1);
  EXPECT_EQ(measures->difference.relative.mean, 0.5);
}

TEST_F(DeviceWorker, AStateIsFedBackOnTheDevice) {
  const std::vector<float> values(kCount, 5.f);
  Result<TensorBlock> feed = EncodeTensors(
      {{"x", *Tensor::Copy(DType::kFloat32, {kCount}, std::as_bytes(std::span(values)))}});
  for (int step = 0; step < 3; ++step) {
    Result<Worker::Outcome> outcome = worker_->Run(1, *feed, "a test", {OutputPlace::kHost, {"x"}});
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    EXPECT_TRUE(outcome->outputs.tensors.empty());
    ASSERT_EQ(outcome->outputs.kept.size(), 1u);
    const KeptOutput& kept = outcome->outputs.kept[0];
    const Result<Tensor> tensor = worker_->Fetch(kept.handle);
    ASSERT_TRUE(tensor.ok()) << tensor.status().message();
    EXPECT_EQ(tensor->As<float>().back(), 5.f);
    TensorBlockBuilder state;
    state.AddKept("x", kept.dtype, kept.dims, kept.handle);
    feed = state.Finish();
    EXPECT_FALSE(feed->memory.valid());
  }
  TensorBlockBuilder builder;
  const int64_t dims[] = {kCount};
  builder.AddKept("x", DType::kFloat32, dims, 99);
  EXPECT_EQ(
      worker_->Run(1, *builder.Finish(), "a test", {OutputPlace::kHost, {"x"}}).status().code(),
      StatusCode::kInternal);
}

// Before the step has its answer the parent does not know the handle of what it keeps.
TEST_F(DeviceWorker, AStepMayBeAskedForBeforeTheOneBeforeItHasItsAnswer) {
  const std::vector<float> values(kCount, 6.f);
  const Result<TensorBlock> first = EncodeTensors(
      {{"x", *Tensor::Copy(DType::kFloat32, {kCount}, std::as_bytes(std::span(values)))}});
  TensorBlockBuilder builder;
  const int64_t dims[] = {kCount};
  builder.AddKept("x", DType::kFloat32, dims, kOfLastStep);
  const Result<TensorBlock> next = builder.Finish();
  const OutputsToKeep kept{OutputPlace::kHost, {"x"}};
  const TensorBlock* feed = &*first;
  for (int step = 0; step < 3; ++step) {
    bool sent = false;
    const Result<Worker::Outcome> outcome =
        worker_->Run(1, *feed, "a test", kept, [&] { sent = worker_->RunAhead(1, *next, kept); });
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    EXPECT_TRUE(sent);
    const Result<Tensor> tensor = worker_->Fetch(outcome->outputs.kept.at(0).handle);
    ASSERT_TRUE(tensor.ok()) << tensor.status().message();
    EXPECT_EQ(tensor->As<float>().back(), 6.f);
    feed = &*next;
  }
  EXPECT_TRUE(worker_->Close(1).ok());
}

TEST_F(DeviceWorker, HandlesThatWereNeverGivenAreRefused) {
  EXPECT_EQ(worker_->Measure(12, 13, {}).status().code(), StatusCode::kInternal);
  EXPECT_EQ(worker_->Fetch(99).status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace vernier
