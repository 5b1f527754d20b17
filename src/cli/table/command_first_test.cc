#include "cli/table/command_first.h"

#include <gtest/gtest.h>

#include <utility>

#include "cli/table/command_table.h"

namespace vernier {
namespace {

using Words = std::vector<std::string>;

Words CommandFirst(Words words) {
  return vernier::CommandFirst(std::move(words),
                               [](std::string_view name) { return FindCommand(name) != nullptr; });
}

TEST(CommandFirst, LoggingOptionsMoveBehindTheCommand) {
  EXPECT_EQ(CommandFirst({"surgeon", "-v", "extract", "m.onnx"}),
            (Words{"surgeon", "extract", "-v", "m.onnx"}));
  EXPECT_EQ(CommandFirst({"inspect", "-vvq", "--silent", "model", "m.onnx", "-v"}),
            (Words{"inspect", "model", "-vvq", "--silent", "m.onnx", "-v"}));
  EXPECT_EQ(CommandFirst({"data", "--log-file", "concat", "concat", "a"}),
            (Words{"data", "concat", "--log-file", "concat", "a"}));
  EXPECT_EQ(CommandFirst({"check", "--verbosity", "INFO", "backend/trt:VERBOSE", "lint", "m"}),
            (Words{"check", "lint", "--verbosity", "INFO", "backend/trt:VERBOSE", "m"}));
  EXPECT_EQ(CommandFirst({"debug", "--log-format=no-colors", "--log-file=l", "reduce", "m"}),
            (Words{"debug", "reduce", "--log-format=no-colors", "--log-file=l", "m"}));
}

TEST(CommandFirst, OthersStayAsTheyAre) {
  for (const Words& words :
       {Words{}, Words{"surgeon"}, Words{"surgeon", "extract", "-v"}, Words{"surgeon", "-v"},
        Words{"surgeon", "-v", "extrac"}, Words{"surgeon", "--outputs", "y", "extract"},
        Words{"surgeon", "--log-file"}, Words{"run", "-v", "m.onnx"},
        Words{"surgeon", "-", "extract"}, Words{"surgeon", "", "extract"}}) {
    EXPECT_EQ(CommandFirst(words), words);
  }
}

}  // namespace
}  // namespace vernier
