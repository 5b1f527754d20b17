// Rewrites saved inputs or outputs in another format, for the tests against Polygraphy:
//
//   io_driver feeds OUT IN...     io_driver results OUT IN
//
// Prints the error and exits with the status code when a file is refused.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "io/results/feed_reader.h"
#include "io/results/feed_writer.h"
#include "io/results/results_reader.h"
#include "io/results/results_writer.h"

namespace vernier {
namespace {

Status RewriteFeeds(const std::string& out, std::vector<std::string> in) {
  VERNIER_ASSIGN_OR_RETURN(auto reader, FeedReader::Open(std::move(in)));
  VERNIER_ASSIGN_OR_RETURN(auto writer, FeedWriter::Create(out));
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const auto feed, reader->Next());
    if (!feed) return writer->Finish();
    VERNIER_TRY(writer->Append(*feed));
  }
}

// Iteration by iteration, as a run would write them.
Status RewriteResults(const std::string& out, const std::string& in) {
  VERNIER_ASSIGN_OR_RETURN(auto reader, ResultsReader::Open(in));
  std::vector<std::string> names;
  size_t longest = 0;
  for (const auto& run : reader->runs()) {
    names.push_back(run.name);
    longest = std::max(longest, run.iterations);
  }
  VERNIER_ASSIGN_OR_RETURN(auto writer, ResultsWriter::Create(out, names));
  for (size_t i = 0; i < longest; ++i) {
    for (size_t run = 0; run < names.size(); ++run) {
      if (i >= reader->runs()[run].iterations) continue;
      VERNIER_ASSIGN_OR_RETURN(const IterationResult result, reader->Read(run, i));
      VERNIER_TRY(writer->Append(run, result));
    }
  }
  return writer->Publish(longest);
}

int Main(int argc, char** argv) {
  if (argc < 4) return 2;
  const bool feeds = std::strcmp(argv[1], "feeds") == 0;
  const Status status =
      feeds ? RewriteFeeds(argv[2], {argv + 3, argv + argc}) : RewriteResults(argv[2], argv[3]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return static_cast<int>(status.code()) + 10;
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) { return vernier::Main(argc, argv); }
