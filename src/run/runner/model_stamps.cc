#include "run/runner/model_stamps.h"

#include <sys/stat.h>

namespace vernier {

std::vector<ModelStamp> StampModels(const RunPlan& plan) {
  std::vector<ModelStamp> stamps;
  for (const RunnerPlan& runner : plan.runners) {
    ModelStamp& stamp = stamps.emplace_back();
    struct stat info {};
    if (::stat(runner.model.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    stamp = {info.st_dev,         info.st_ino,          static_cast<uint64_t>(info.st_size),
             info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec,
             info.st_ctim.tv_nsec};
  }
  return stamps;
}

// Some file systems number a file anew each time: its other time is the same then.
bool WasReplaced(const ModelStamp& before, const ModelStamp& now) {
  if (before == ModelStamp() || now == ModelStamp()) return false;
  const bool written = before.size != now.size || before.written_s != now.written_s ||
                       before.written_ns != now.written_ns;
  const bool changed = before.changed_s != now.changed_s || before.changed_ns != now.changed_ns;
  const bool other = before.device != now.device || before.inode != now.inode;
  return written || (other && changed);
}

}  // namespace vernier
