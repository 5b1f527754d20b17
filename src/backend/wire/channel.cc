#include "backend/wire/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "backend/wire/no_descriptors.h"

namespace vernier {
namespace {

constexpr uint32_t kMagic = 0x31524e56;  // "VNR1"
// Tensors travel in shared memory; a body holds names and shapes. 10,000 outputs with names of
// 64 KiB each are the largest that anyone has asked for.
constexpr uint64_t kMaxBody = uint64_t{1} << 30;
constexpr size_t kFirstRead = size_t{1} << 20;

struct FrameHeader {
  uint32_t magic;
  uint32_t type;
  uint64_t body_size;
};

Status SocketError(const char* doing) {
  return BackendError(std::string(doing) + " a worker failed: " + std::strerror(errno));
}

union ControlBuffer {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

// A system call that was not ready: waits, or without `wait` (EINTR only) just tries again.
Status AfterFailure(const ChannelWait& wait, short events, const char* doing) {
  if (errno == EINTR) return {};
  if (wait && (errno == EAGAIN || errno == EWOULDBLOCK)) return wait(events);
  return SocketError(doing);
}

// Reads exactly `size` bytes. Returns the number read, which is smaller at the end of the stream.
Result<size_t> ReadFully(int socket, std::byte* data, size_t size, const ChannelWait& wait) {
  size_t done = 0;
  while (done < size) {
    const ssize_t count = ::recv(socket, data + done, size - done, wait ? MSG_DONTWAIT : 0);
    if (count < 0 && errno == ECONNRESET) break;
    if (count < 0) {
      VERNIER_TRY(AfterFailure(wait, POLLIN, "receiving from"));
      continue;
    }
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

// Takes the descriptor that came along. Should there be several, the others are closed.
void TakeDescriptors(msghdr& message, UniqueFd& fd) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len; at += sizeof(int)) {
      int received = -1;
      std::memcpy(&received, reinterpret_cast<const char*>(c) + at, sizeof(received));
      fd.Reset(received);
    }
  }
}

// The first bytes of a frame, with the descriptor that came along.
Result<size_t> ReceiveHeader(int socket, FrameHeader& header, UniqueFd& fd,
                             const ChannelWait& wait) {
  ControlBuffer control{};
  iovec part{&header, sizeof(header)};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  ssize_t count = -1;
  while (count < 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? MSG_DONTWAIT : 0));
    if (count < 0 && errno == ECONNRESET) return size_t{0};
    if (count < 0) VERNIER_TRY(AfterFailure(wait, POLLIN, "receiving from"));
  }
  TakeDescriptors(message, fd);
  const auto received = static_cast<size_t>(count);
  if (received == 0 || received == sizeof(header)) return received;
  VERNIER_ASSIGN_OR_RETURN(const size_t rest,
                           ReadFully(socket, reinterpret_cast<std::byte*>(&header) + received,
                                     sizeof(header) - received, wait));
  return received + rest;
}

// False at the end of the stream. The memory grows with what arrives: a length alone, which may be
// wrong, allocates little.
Result<bool> ReceiveBody(int socket, uint64_t size, std::vector<std::byte>& body,
                         const ChannelWait& wait) {
  while (body.size() < size) {
    const size_t done = body.size();
    body.resize(static_cast<size_t>(std::min<uint64_t>(size, done + std::max(done, kFirstRead))));
    VERNIER_ASSIGN_OR_RETURN(const size_t count,
                             ReadFully(socket, body.data() + done, body.size() - done, wait));
    if (count < body.size() - done) return false;
  }
  return true;
}

}  // namespace

Result<std::pair<Channel, Channel>> Channel::CreatePair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return NoDescriptorsLeft();
  }
  return std::pair(Channel(UniqueFd(ends[0])), Channel(UniqueFd(ends[1])));
}

Status Channel::Send(uint32_t type, std::span<const std::byte> body, int fd,
                     const ChannelWait& wait) {
  FrameHeader header{kMagic, type, body.size()};
  std::array<iovec, 2> parts = {
      {{&header, sizeof(header)}, {const_cast<std::byte*>(body.data()), body.size()}}};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (fd >= 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &fd, sizeof(fd));
  }
  while (parts[0].iov_len + parts[1].iov_len > 0) {
    const int flags = MSG_NOSIGNAL | (wait ? MSG_DONTWAIT : 0);
    const ssize_t sent = ::sendmsg(socket_.get(), &message, flags);
    if (sent < 0) {
      VERNIER_TRY(AfterFailure(wait, POLLOUT, "sending to"));
      continue;
    }
    message.msg_control = nullptr;  // the descriptor went with the first byte
    message.msg_controllen = 0;
    auto rest = static_cast<size_t>(sent);
    for (iovec& part : parts) {
      const size_t used = std::min(rest, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + used;
      part.iov_len -= used;
      rest -= used;
    }
  }
  return {};
}

Result<std::optional<Frame>> Channel::Receive(const ChannelWait& wait) {
  FrameHeader header{};
  Frame frame;
  VERNIER_ASSIGN_OR_RETURN(const size_t count,
                           ReceiveHeader(socket_.get(), header, frame.fd, wait));
  if (count < sizeof(header)) return std::optional<Frame>();
  if (header.magic != kMagic || header.body_size > kMaxBody) {
    return BackendError("a worker sent bytes that are not a message");
  }
  frame.type = header.type;
  VERNIER_ASSIGN_OR_RETURN(const bool whole,
                           ReceiveBody(socket_.get(), header.body_size, frame.body, wait));
  if (!whole) return std::optional<Frame>();
  return std::optional<Frame>(std::move(frame));
}

}  // namespace vernier
