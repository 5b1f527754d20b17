// What was called of TensorRT, as lines of text: written while a GPU is there, looked up where none
// is.
//
//   call IBuilderConfig#1.setFlag(kFP16)
//   ask INetworkDefinition#1.getNbInputs() = 1
//   back IOutputAllocator("Y").notifyShape([1,2,1,1])
//
// A `call` makes or changes something: looked up, it must be the next one of the recording. An
// `ask` may come as often as one likes, and is answered with what was answered then. A `back` is
// what TensorRT called of ours, within the call of the next line. Where a tensor lies is a `call`
// at first and an `ask` when it is said again: that depends on how fast the next inputs arrive.
#pragma once

#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace vernier::trace {

enum class Kind { kCall, kAsk };

class Tape {
 public:
  /// Of this process: $VERNIER_TRT_REPLAY is the recording to look up; without it calls are really
  /// made. $VERNIER_TRT_TRACE is appended to in both cases.
  Tape();

  bool replaying() const { return replaying_; }

  /// What a function's call counts as.
  Kind KindOf(std::string_view function, Kind kind, const std::string& call);
  std::recursive_mutex& mutex() { return mutex_; }

  /// A line that was really called; `result` is empty for what returns nothing.
  void Write(std::string_view kind, const std::string& call, const std::string& result);

  /// The result that the recording has. Ends the process, with a sentence on the standard error and
  /// in the trace, where it has none.
  std::string LookUp(Kind kind, const std::string& call);

  /// Lines of `back` that belong to the call that was looked up last; forgets them.
  std::vector<std::string> TakeBacks();

 private:
  struct Answer {
    size_t calls_before = 0;
    std::string result;
    bool given = false;
  };
  struct Call {
    std::string text;
    std::string result;
    std::vector<std::string> backs;
  };

  void Read(const char* path);
  std::string NextCall(const std::string& call);
  std::string AnswerTo(const std::string& call);
  [[noreturn]] void NeverRecorded(const std::string& call);

  std::recursive_mutex mutex_;
  std::FILE* out_ = nullptr;
  bool replaying_ = false;
  std::map<std::string, std::vector<Answer>> answers_;
  std::vector<Call> calls_;
  size_t next_ = 0;
  std::set<std::string> placed_;  // tensors whose places were noted
  std::vector<std::string> backs_;
};

/// The one of this process: TensorRT's functions have no place for another.
Tape& TheTape();

}  // namespace vernier::trace
