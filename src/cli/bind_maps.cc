#include "cli/bind_maps.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "util/mapped_file.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// One word a line; blank lines and those that begin with "#" say nothing.
Status AddLines(const std::string& path, std::vector<std::string>& words) {
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const std::span<const std::byte> bytes = file->bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty()) {
    const std::string_view line = Trim(text.substr(0, text.find('\n')));
    if (!line.empty() && line.front() != '#') words.emplace_back(line);
    const size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return file->CheckIntact();
}

Status BindMapWords(const ParsedArgs& args, std::string_view dest,
                    std::vector<std::string>& words) {
  for (const std::span<const std::string> occurrence : args.Occurrences(dest)) {
    for (const std::string& word : occurrence) {
      if (word.starts_with('@')) {
        VERNIER_TRY(AddLines(word.substr(1), words).Annotate(args.Flag(dest)));
      } else {
        words.push_back(word);
      }
    }
  }
  return {};
}

}  // namespace

Status BindMaps(const ParsedArgs& args, RunPlan& plan) {
  VERNIER_TRY(BindMapWords(args, "map_inputs", plan.inputs.map_words));
  return BindMapWords(args, "map_outputs", plan.output_map_words);
}

}  // namespace vernier
