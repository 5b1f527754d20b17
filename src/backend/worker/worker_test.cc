#include "backend/worker/worker.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "util/log/no_log.h"
#include "util/log/recording_logger.h"

namespace vernier {
namespace {

// A worker whose end of the connection is kept here, where nobody answers.
class SilentWorker : public testing::Test {
 protected:
  std::unique_ptr<Worker> Start(std::string timeout_option) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    theirs_.Reset(ends[1]);
    WorkerOptions options;
    options.served.Reset(ends[0]);
    options.timeout_s = 0.02;
    options.timeout_option = std::move(timeout_option);
    options.interrupted = &interrupted_;
    auto worker = Worker::Start(std::move(options), log_);
    EXPECT_TRUE(worker.ok());
    return *std::move(worker);
  }

  std::atomic<int> interrupted_{0};
  NoLog log_;
  UniqueFd theirs_;
};

TEST_F(SilentWorker, RunsOutOfTime) {
  const std::unique_ptr<Worker> worker = Start("--patience");
  EXPECT_FALSE(worker->ran_out_of_time());
  EXPECT_EQ(worker->AwaitLoad().status().message(),
            "hung while loading the framework: no answer within 0.02 s (--patience)");
  EXPECT_TRUE(worker->ran_out_of_time());
}

TEST_F(SilentWorker, NamesNoOptionWhereThereIsNone) {
  EXPECT_EQ(Start("")->AwaitLoad().status().message(),
            "hung while loading the framework: no answer within 0.02 s");
}

// A worker whose answers are there before they are awaited.
class AnsweringWorker : public testing::Test {
 protected:
  AnsweringWorker() {
    auto ends = Channel::CreatePair();
    theirs_.emplace(std::move(ends->second));
    WorkerOptions options;
    options.served.Reset(::dup(ends->first.descriptor()));
    options.timeout_s = 10;
    options.interrupted = &interrupted_;
    worker_ = *Worker::Start(std::move(options), log_);
    MessageWriter body;
    BackendInfo{"fake", "1", "2.0", ""}.Encode(body);
    Answer(body);
    EXPECT_TRUE(worker_->AwaitLoad().ok());
  }

  void Answer(const MessageWriter& body) {
    MessageWriter message;
    EncodeStatus({}, message);
    message.Append(body.bytes());
    EXPECT_TRUE(theirs_->Send(static_cast<uint32_t>(MessageType::kReply), message.bytes()).ok());
  }

  // With seconds for an answer.
  void AnswerRun(double seconds) {
    MessageWriter body;
    body.Number(seconds);
    body.Append(nothing_.description);
    Answer(body);
  }

  double Run(const std::function<void()>& meanwhile = {}) {
    const Result<Worker::Outcome> made = worker_->Run(1, nothing_, "running", {}, meanwhile);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? made->inference_seconds : 0;
  }

  std::function<void()> Send(size_t more) {
    return [this, more] {
      for (size_t i = 0; i < more; ++i) EXPECT_TRUE(worker_->RunAhead(1, nothing_));
    };
  }

  std::atomic<int> interrupted_{0};
  NoLog log_;
  const TensorBlock nothing_ = *EncodeTensors({});
  std::optional<Channel> theirs_;
  std::unique_ptr<Worker> worker_;
};

TEST_F(AnsweringWorker, RunsThatWereSentAheadHaveTheAnswersInTheirOrder) {
  for (int i = 1; i <= 4; ++i) AnswerRun(i);
  EXPECT_EQ(Run(Send(2)), 1);
  EXPECT_EQ(worker_->runs_ahead(), 2u);
  EXPECT_EQ(Run(Send(1)), 2);
  EXPECT_EQ(Run(), 3);
  EXPECT_EQ(Run(), 4);
  EXPECT_EQ(worker_->runs_ahead(), 0u);
}

TEST_F(AnsweringWorker, AnotherRequestKeepsTheAnswersOfThose) {
  for (int i = 1; i <= 3; ++i) AnswerRun(i);
  EXPECT_EQ(Run(Send(2)), 1);
  Answer(MessageWriter());
  worker_->TrimMemory();
  EXPECT_EQ(Run(), 2);
  EXPECT_EQ(Run(), 3);
}

TEST_F(AnsweringWorker, AnswersThatNobodyAsksForAreDroppedAtTheEnd) {
  for (int i = 1; i <= 3; ++i) AnswerRun(i);
  EXPECT_EQ(Run(Send(2)), 1);
  Answer(MessageWriter());
  EXPECT_TRUE(worker_->Close(1).ok());
  EXPECT_EQ(worker_->runs_ahead(), 0u);
}

TEST(LongRequest, IsNamedOnce) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const UniqueFd theirs(ends[1]);
  std::atomic<int> interrupted{0};
  WorkerOptions options;
  options.served.Reset(ends[0]);
  options.timeout_s = 0.5;
  options.patience_s = 0.02;
  options.interrupted = &interrupted;
  RecordingLogger log;
  const auto worker = Worker::Start(std::move(options), log);
  ASSERT_TRUE(worker.ok());
  EXPECT_FALSE((*worker)->AwaitLoad().ok());
  EXPECT_EQ(log.Texts(), std::vector<std::string>{"Still loading the framework, after 0.02 s"});
}

TEST_F(SilentWorker, ThatHasEndedDidNotRunOutOfTime) {
  const std::unique_ptr<Worker> worker = Start("--patience");
  theirs_.Reset();
  EXPECT_FALSE(worker->AwaitLoad().ok());
  EXPECT_FALSE(worker->ran_out_of_time());
}

TEST_F(SilentWorker, ThatIsInterruptedDidNotRunOutOfTime) {
  const std::unique_ptr<Worker> worker = Start("--patience");
  interrupted_ = 2;
  EXPECT_EQ(worker->AwaitLoad().status().code(), StatusCode::kCancelled);
  EXPECT_FALSE(worker->ran_out_of_time());
}

}  // namespace
}  // namespace vernier
