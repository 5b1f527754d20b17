// The grammars of the command line: words, options, shapes, ranges and sizes.
#include <string_view>
#include <vector>

#include "fuzz_target.h"
#include "inputs/shape_spec.h"
#include "inputs/value_ranges.h"
#include "options/table/command_options.h"
#include "options/words/arg_parser.h"
#include "util/text/cast_grammar.h"
#include "util/text/split_words.h"

namespace vernier {
namespace {

void ReadValues(std::span<const std::string> words) {
  for (const std::string& word : words) {
    (void)FormatCastValue(ParseCastValue(word));
    (void)ParseByteCount(word);
  }
  (void)ParseKeyedValues(words);
  (void)ParseValueRanges(words);
  for (const Strictness strictness : {Strictness::kStrict, Strictness::kPolygraphy}) {
    const auto shapes = ParseShapeSpecs(words, strictness);
    fuzz::Require(shapes.ok() || !shapes.status().message().empty(), "a refusal says why");
  }
}

}  // namespace
}  // namespace vernier

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vernier;
  static const OptionTable table = RunOptionTable();
  const auto words = SplitWords({reinterpret_cast<const char*>(data), size});
  if (!words.ok()) return 0;
  ReadValues(*words);
  const ParseResult parsed = ParseCommandLine(table, *words);
  fuzz::Require(parsed.end != ParseEnd::kUsageError || !parsed.error.empty(), "an error says why");
  for (const GivenOption& given : parsed.args.given()) {
    fuzz::Require(given.row != nullptr && given.position < words->size(), "options are words");
  }
  return 0;
}
