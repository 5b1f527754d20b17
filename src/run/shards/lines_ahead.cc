#include "run/shards/lines_ahead.h"

#include <algorithm>
#include <utility>

namespace vernier {
namespace {

// Of the lines that are read at once, and of one task's share of them.
constexpr size_t kLinesAhead = 256;
constexpr size_t kBytesAhead = size_t{512} << 10U;
constexpr size_t kLinesOfTask = 16;

}  // namespace

Result<bool> LinesAhead::Add(const ShardPart& part) {
  lines_.push_back({&part, part.line()});
  size_ += part.line().size();
  if (lines_.size() == kLinesAhead || size_ >= kBytesAhead) Turn();
  return go_on_;
}

Status LinesAhead::Finish() {
  Turn();
  Turn();
  return go_on_.ok() ? Status() : go_on_.status();
}

// Folds what was read, and reads the next lines meanwhile.
void LinesAhead::Turn() {
  const size_t tasks = (lines_.size() + kLinesOfTask - 1) / kLinesOfTask;
  std::vector<std::vector<ReadLine>> next(tasks);
  pool_.Run(tasks + 1, [&](size_t index, size_t) {
    if (index == 0) return FoldRead();
    const size_t begin = (index - 1) * kLinesOfTask;
    Read(begin, std::min(begin + kLinesOfTask, lines_.size()), next);
  });
  read_ = std::move(next);
  lines_.clear();
  size_ = 0;
}

void LinesAhead::FoldRead() {
  for (std::vector<ReadLine>& lines : read_) {
    for (ReadLine& line : lines) {
      if (!go_on_.ok() || !*go_on_) return;
      if (line.iteration.ok()) {
        go_on_ = fold_(*line.iteration, line.part->path());
      } else {
        go_on_ = line.iteration.status();
      }
    }
  }
}

void LinesAhead::Read(size_t begin, size_t end, std::vector<std::vector<ReadLine>>& read) const {
  std::vector<ReadLine>& lines = read[begin / kLinesOfTask];
  lines.reserve(end - begin);
  const ShardPart* part = nullptr;
  std::string what;
  for (size_t i = begin; i < end; ++i) {
    const Line& line = lines_[i];
    if (line.part != part) what = "'" + line.part->path() + "'";
    part = line.part;
    lines.push_back({part, ReadShardIteration(line.text, what)});
  }
}

}  // namespace vernier
