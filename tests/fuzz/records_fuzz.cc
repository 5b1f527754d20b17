// Records of runs and of blame, Polygraphy's measures, and the journal of what was being saved. The
// first byte chooses what the rest is read as.
#include <string>

#include "fuzz_target.h"
#include "io/journal/journal.h"
#include "report/files/accuracy_file.h"
#include "vernier/blame_record.h"
#include "vernier/run_record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vernier;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case 'r': {
      const auto record = ReadRecord(text, "fuzz");
      fuzz::Require(record.ok() || !record.status().message().empty(), "a refusal says why");
      break;
    }
    case 'b':
      (void)BlameFromJson(text);
      break;
    case 'a':
      (void)ReadAccuracyResults(fuzz::FileOfInput(data + 1, size - 1).path());
      break;
    default: {
      constexpr size_t kRunners = 2;
      const Journal journal = ParseJournal(text, kRunners);
      fuzz::Require(journal.runs.size() == kRunners, "every runner has its iterations");
      for (const auto& run : journal.runs) {
        for (size_t i = 0; i < run.size(); ++i) {
          if (!run[i]) continue;  // its line is damaged
          fuzz::Require(run[i]->iteration == i && run[i]->begin <= run[i]->end, "in its place");
        }
        fuzz::Require(run.empty() || run.back(), "a gap ends somewhere");
      }
    }
  }
  return 0;
}
