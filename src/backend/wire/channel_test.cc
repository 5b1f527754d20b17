#include "backend/wire/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>

namespace vernier {
namespace {

using Ends = std::pair<Channel, Channel>;

Ends MakeEnds() {
  Result<Ends> ends = Channel::CreatePair();
  EXPECT_TRUE(ends.ok()) << ends.status().message();
  return *std::move(ends);
}

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string Text(const Frame& frame) {
  return {reinterpret_cast<const char*>(frame.body.data()), frame.body.size()};
}

// The next frame, which must be there.
Frame Next(Channel& channel, const ChannelWait& wait = {}) {
  Result<std::optional<Frame>> frame = channel.Receive(wait);
  EXPECT_TRUE(frame.ok()) << frame.status().message();
  EXPECT_TRUE(frame.ok() && frame->has_value());
  return frame.ok() && frame->has_value() ? std::move(**frame) : Frame();
}

Status PollFor(const Channel& channel, short events) {
  pollfd ready{channel.descriptor(), events, 0};
  return ::poll(&ready, 1, 5000) > 0 ? Status() : BackendError("waited in vain");
}

void SendRaw(const Channel& channel, const void* data, size_t size) {
  ASSERT_EQ(::send(channel.descriptor(), data, size, 0), static_cast<ssize_t>(size));
}

struct RawHeader {
  uint32_t magic = 0x31524e56;
  uint32_t type = 1;
  uint64_t body_size = 0;
};

size_t OpenDescriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

TEST(Channel, FramesArriveInOrder) {
  Ends ends = MakeEnds();
  ASSERT_TRUE(ends.first.Send(1, Bytes("first")).ok());
  ASSERT_TRUE(ends.first.Send(2, {}).ok());
  const Frame first = Next(ends.second);
  EXPECT_EQ(first.type, 1u);
  EXPECT_EQ(Text(first), "first");
  EXPECT_FALSE(first.fd.valid());
  const Frame second = Next(ends.second);
  EXPECT_EQ(second.type, 2u);
  EXPECT_TRUE(second.body.empty());
}

TEST(Channel, BothDirectionsWork) {
  Ends ends = MakeEnds();
  ASSERT_TRUE(ends.second.Send(5, Bytes("answer")).ok());
  EXPECT_EQ(Text(Next(ends.first)), "answer");
}

TEST(Channel, BodyLargerThanTheSocketBufferArrivesWhole) {
  std::string body(9 << 20, '\0');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 2654435761u >> 13);
  for (const bool waiting : {false, true}) {
    Ends ends = MakeEnds();
    const auto wait_on = [&](const Channel& channel) -> ChannelWait {
      if (!waiting) return {};
      return [&channel](short events) { return PollFor(channel, events); };
    };
    std::thread sender(
        [&] { EXPECT_TRUE(ends.first.Send(3, Bytes(body), -1, wait_on(ends.first)).ok()); });
    EXPECT_TRUE(Text(Next(ends.second, wait_on(ends.second))) == body);
    sender.join();
  }
}

TEST(Channel, DescriptorTravelsWithItsFrame) {
  Ends ends = MakeEnds();
  const UniqueFd memory(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::pwrite(memory.get(), "hello", 5, 0), 5);
  ASSERT_TRUE(ends.first.Send(1, Bytes("no descriptor")).ok());
  ASSERT_TRUE(ends.first.Send(2, Bytes("with one"), memory.get()).ok());
  ASSERT_TRUE(ends.first.Send(3, Bytes("none again")).ok());
  EXPECT_FALSE(Next(ends.second).fd.valid());
  const Frame frame = Next(ends.second);
  ASSERT_TRUE(frame.fd.valid());
  EXPECT_NE(::fcntl(frame.fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  char text[5] = {};
  ASSERT_EQ(::pread(frame.fd.get(), text, sizeof(text), 0), 5);
  EXPECT_EQ(std::string_view(text, sizeof(text)), "hello");
  EXPECT_FALSE(Next(ends.second).fd.valid());
}

TEST(Channel, LargeBodyWithDescriptorBringsItOnce) {
  Ends ends = MakeEnds();
  const size_t before = OpenDescriptors();
  {
    const UniqueFd memory(::memfd_create("test", MFD_CLOEXEC));
    const std::string body(3 << 20, 'x');
    std::thread sender([&] { EXPECT_TRUE(ends.first.Send(1, Bytes(body), memory.get()).ok()); });
    const Frame frame = Next(ends.second);
    sender.join();
    EXPECT_TRUE(frame.fd.valid());
    EXPECT_EQ(frame.body.size(), body.size());
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST(Channel, DescriptorsThatNobodyAskedForAreClosed) {
  Ends ends = MakeEnds();
  const size_t before = OpenDescriptors();
  RawHeader header;
  iovec part{&header, sizeof(header)};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int two[2] = {0, 0};
  std::memcpy(CMSG_DATA(c), two, sizeof(two));
  ASSERT_EQ(::sendmsg(ends.first.descriptor(), &message, 0), static_cast<ssize_t>(sizeof(header)));
  EXPECT_TRUE(Next(ends.second).fd.valid());
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST(Channel, ClosedPolygraphyIsTheEndOfTheStream) {
  Ends ends = MakeEnds();
  ASSERT_TRUE(ends.first.Send(1, Bytes("last words")).ok());
  ends.first = Channel(UniqueFd());
  EXPECT_EQ(Text(Next(ends.second)), "last words");
  const Result<std::optional<Frame>> end = ends.second.Receive();
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->has_value());
}

TEST(Channel, SendingToAClosedPolygraphyFailsWithoutASignal) {
  Ends ends = MakeEnds();
  ends.second = Channel(UniqueFd());
  EXPECT_EQ(ends.first.Send(1, Bytes("anybody?")).code(), StatusCode::kBackend);
}

TEST(Channel, FrameThatIsCutOffIsTheEndOfTheStream) {
  RawHeader header;
  header.body_size = 100;
  std::string frame(reinterpret_cast<const char*>(&header), sizeof(header));
  frame += "only this";
  for (size_t size = 1; size <= frame.size(); ++size) {
    Ends ends = MakeEnds();
    SendRaw(ends.first, frame.data(), size);
    ends.first = Channel(UniqueFd());
    const Result<std::optional<Frame>> end = ends.second.Receive();
    ASSERT_TRUE(end.ok()) << size;
    EXPECT_FALSE(end->has_value()) << size;
  }
}

TEST(Channel, FrameInPiecesIsPutTogether) {
  Ends ends = MakeEnds();
  RawHeader header;
  header.body_size = 3;
  std::string frame(reinterpret_cast<const char*>(&header), sizeof(header));
  frame += "abc";
  std::thread sender([&] {
    for (const char& c : frame) SendRaw(ends.first, &c, 1);
  });
  EXPECT_EQ(Text(Next(ends.second)), "abc");
  sender.join();
}

TEST(Channel, BytesThatAreNoFrameAreAnError) {
  RawHeader too_long;
  too_long.body_size = uint64_t{1} << 62;
  RawHeader wrong;
  wrong.magic ^= 1;
  for (const RawHeader& header : {too_long, wrong}) {
    Ends ends = MakeEnds();
    SendRaw(ends.first, &header, sizeof(header));
    EXPECT_EQ(ends.second.Receive().status().code(), StatusCode::kBackend);
  }
}

TEST(Channel, LengthAloneAllocatesLittle) {
  Ends ends = MakeEnds();
  RawHeader header;
  header.body_size = uint64_t{1} << 30;
  SendRaw(ends.first, &header, sizeof(header));
  size_t peak_pages = 0;
  const ChannelWait look_and_give_up = [&](short) {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    EXPECT_EQ(std::fscanf(file, "%*u %zu", &peak_pages), 1);
    std::fclose(file);
    return Cancelled("seen enough");
  };
  EXPECT_EQ(ends.second.Receive(look_and_give_up).status().code(), StatusCode::kCancelled);
  EXPECT_LT(peak_pages * static_cast<size_t>(::getpagesize()), size_t{512} << 20);
}

TEST(Channel, WaitMayGiveUpAnywhere) {
  const auto give_up = [](short) { return Cancelled("enough"); };
  RawHeader header;
  header.body_size = 10;
  for (const size_t size : {size_t{0}, size_t{5}, sizeof(header)}) {
    Ends ends = MakeEnds();
    if (size > 0) SendRaw(ends.first, &header, size);
    EXPECT_EQ(ends.second.Receive(give_up).status().code(), StatusCode::kCancelled) << size;
  }
  Ends ends = MakeEnds();
  EXPECT_EQ(ends.first.Send(1, Bytes(std::string(8 << 20, 'x')), -1, give_up).code(),
            StatusCode::kCancelled);
}

}  // namespace
}  // namespace vernier
