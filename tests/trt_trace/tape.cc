#include "tape.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <utility>

namespace vernier::trace {
namespace {

constexpr std::string_view kEquals = " = ";

// "call X = Y" without its first word, in two. Strings may hold " = ": the last one counts, and
// results that are strings come with quotes.
std::pair<std::string, std::string> Split(const std::string& line, size_t from) {
  const size_t close = line.rfind(")" + std::string(kEquals) + "\"");
  const size_t place = close != std::string::npos ? close + 1 : line.rfind(kEquals);
  if (place == std::string::npos || line.back() == ')') return {line.substr(from), {}};
  return {line.substr(from, place - from), line.substr(place + kEquals.size())};
}

}  // namespace

Tape::Tape() {
  // Others may write there, too: the stand-in for CUDA's driver notes its waits.
  if (const char* path = std::getenv("VERNIER_TRT_TRACE")) out_ = std::fopen(path, "ae");
  if (const char* path = std::getenv("VERNIER_TRT_REPLAY")) Read(path);
}

void Tape::Read(const char* path) {
  replaying_ = true;
  std::ifstream in(path);
  std::vector<std::string> backs;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("back ")) {
      backs.push_back(line.substr(5));
    } else if (line.starts_with("call ")) {
      auto [text, result] = Split(line, 5);
      calls_.push_back({std::move(text), std::move(result), std::move(backs)});
      backs.clear();
    } else if (line.starts_with("ask ")) {
      auto [text, result] = Split(line, 4);
      answers_[text].push_back({calls_.size(), std::move(result)});
    }
  }
}

void Tape::Write(std::string_view kind, const std::string& call, const std::string& result) {
  if (out_ == nullptr) return;
  std::fprintf(out_, "%.*s %s%s%s\n", static_cast<int>(kind.size()), kind.data(), call.c_str(),
               result.empty() ? "" : " = ", result.c_str());
  std::fflush(out_);
}

Kind Tape::KindOf(std::string_view function, Kind kind, const std::string& call) {
  const bool again = function == "setTensorAddress" && !placed_.insert(call).second;
  return again ? Kind::kAsk : kind;
}

std::string Tape::LookUp(Kind kind, const std::string& call) {
  std::string result = kind == Kind::kCall ? NextCall(call) : AnswerTo(call);
  Write(kind == Kind::kCall ? "call" : "ask", call, result);
  return result;
}

std::vector<std::string> Tape::TakeBacks() { return std::exchange(backs_, {}); }

std::string Tape::NextCall(const std::string& call) {
  if (next_ == calls_.size() || calls_[next_].text != call) NeverRecorded(call);
  backs_ = calls_[next_].backs;
  return calls_[next_++].result;
}

// What was answered after as many calls as now, else after fewer; the first one not given yet.
std::string Tape::AnswerTo(const std::string& call) {
  const auto found = answers_.find(call);
  if (found == answers_.end()) NeverRecorded(call);
  Answer* chosen = nullptr;
  for (Answer& answer : found->second) {
    if (answer.calls_before > next_ && chosen != nullptr) break;
    const bool newer = chosen == nullptr || answer.calls_before > chosen->calls_before;
    if (newer || chosen->given) chosen = &answer;
  }
  chosen->given = true;
  return chosen->result;
}

void Tape::NeverRecorded(const std::string& call) {
  const std::string next = next_ == calls_.size() ? "nothing" : calls_[next_].text;
  const std::string sentence = "never recorded: " + call + "; the recording goes on with " + next;
  std::fprintf(stderr, "%s\n", sentence.c_str());
  if (out_ != nullptr) std::fprintf(out_, "%s\n", sentence.c_str());
  if (out_ != nullptr) std::fclose(out_);
  ::_exit(1);
}

Tape& TheTape() {
  static Tape tape;
  return tape;
}

}  // namespace vernier::trace
