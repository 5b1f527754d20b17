#include "run/maps/name_maps.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

using Words = std::vector<std::string>;

const Words kRunners = {"ort", "jit", "onnxrt-runner-N0-11/23/26-08:34:45"};

Tensor Row(std::vector<float> values) {
  const auto count = static_cast<int64_t>(values.size());
  return *Tensor::Copy(DType::kFloat32, {1, count}, std::as_bytes(std::span(values)));
}

// "label|other|name|base|slice entries|axes", or the error.
std::string Parsed(const std::string& word, int most_labels = 2) {
  const Words words = {word};
  const auto maps = ParseNameMaps("--map", words, kRunners, most_labels);
  if (!maps.ok()) return maps.status().message();
  const NameMap& map = maps->front();
  return map.label + "|" + map.other + "|" + map.name + "|" + map.base + "|" +
         std::to_string(map.form.slice.size()) + "|" + FormatAxes(map.form.axes);
}

TEST(ParseNameMaps, ReadsLabelsNamesAndForms) {
  EXPECT_EQ(Parsed("x=y"), "||x|y|0|");
  EXPECT_EQ(Parsed("jit:x=input[:,64:]"), "jit||x|input|2|");
  EXPECT_EQ(Parsed("jit:x=input[0]@0,3,1,2"), "jit||x|input|1|0,3,1,2");
  EXPECT_EQ(Parsed("ort:jit:p=q"), "ort|jit|p|q|0|");
  EXPECT_EQ(Parsed("onnxrt:p=q"), "onnxrt||p|q|0|");
  EXPECT_EQ(Parsed("jit:state="), "jit||state||0|");
  // Names may have colons, brackets and more.
  EXPECT_EQ(Parsed("input_2=serving_default_input_2:0"), "||input_2|serving_default_input_2:0|0|");
  EXPECT_EQ(Parsed("serving:0=a/b@c"), "||serving:0|a/b@c|0|");
  EXPECT_EQ(Parsed("ort:jit:p=q", 1), "ort||jit:p|q|0|");
}

TEST(ParseNameMaps, ReadsPatterns) {
  EXPECT_EQ(Parsed("jit:present.*=cache_*[0]"), "jit||present.*|cache_*|1|");
  EXPECT_EQ(Parsed("present.*="), "||present.*||0|");
  for (const char* const word : {"*.*=", "p*=q", "p=q*", "p*=q*[:,0]*"}) {
    EXPECT_EQ(Parsed(word),
              std::string("--map ") + word + ": expected one '*' in both names, or none");
  }
}

TEST(ParseNameMaps, SaysWhatIsWrong) {
  EXPECT_EQ(Parsed("x"), "--map x: expected NAME=NAME, or NAME= to leave one out");
  EXPECT_EQ(Parsed("=x"), "--map =x: the name of a tensor is missing before '='");
  EXPECT_EQ(Parsed("x=[0]"), "--map x=[0]: the name of a tensor is missing after '='");
  EXPECT_EQ(Parsed("x=y[a]"),
            "--map x=y[a]: expected an index, START:STOP, START:STOP:STEP, ... or None, got 'a'");
  EXPECT_EQ(
      Parsed("x=y@0,2"),
      "--map x=y@0,2: expected the axes from 0 on in another order, as in 0,3,1,2, got '0,2'");
  const Words twice = {"x=y", "x=z"};
  EXPECT_EQ(ParseNameMaps("--map", twice, kRunners, 1).status().message(),
            "--map x=z: 'x' is mapped twice");
}

std::string Fed(const Words& words, const std::string& runner,
                const std::vector<TensorInfo>& inputs) {
  const auto maps = InputMaps::Create(words, kRunners);
  const TensorMap feed = {{"input", Row({1, 2, 3})}, {"state", Row({0})}, {"sr", Row({9})}};
  const auto fed = maps->Apply(runner, inputs, feed);
  if (!fed.ok()) return fed.status().message();
  std::string text;
  for (const NamedTensor& tensor : fed->tensors) {
    text += tensor.name + FormatDims(tensor.tensor.dims()) + " ";
  }
  for (const std::string& name : fed->left_out) text += "-" + name + " ";
  return text;
}

TEST(InputMaps, FeedOneRunner) {
  const std::vector<TensorInfo> inputs = {{"x", DType::kUndefined, {}},
                                          {"sr", DType::kUndefined, {}}};
  const Words words = {"jit:x=input[:,1:]", "jit:state="};
  EXPECT_EQ(Fed(words, "jit", inputs), "x(1, 2) sr(1, 1) -state ");
  EXPECT_EQ(Fed(words, "jit", {}), "x(1, 2) sr(1, 1) -state ");
  EXPECT_EQ(Fed(words, "ort", inputs), "input(1, 3) state(1, 1) sr(1, 1) ");
  // Without a label, for whoever has the input.
  EXPECT_EQ(Fed({"x=input"}, "ort", inputs), "x(1, 3) state(1, 1) sr(1, 1) ");
  EXPECT_EQ(Fed({"y=input"}, "ort", inputs), "input(1, 3) state(1, 1) sr(1, 1) ");
}

TEST(InputMaps, SayWhatDoesNotFit) {
  const std::vector<TensorInfo> inputs = {{"x", DType::kUndefined, {}}};
  EXPECT_EQ(Fed({"jit:y=input"}, "jit", inputs),
            "--map-inputs jit:y=input: jit has no input 'y', but 'x'");
  EXPECT_EQ(Fed({"jit:x=inptu"}, "jit", inputs),
            "--map-inputs jit:x=inptu: the feed has no 'inptu', but 'input', 'state', 'sr'");
  EXPECT_EQ(Fed({"jit:x="}, "jit", inputs), "--map-inputs jit:x=: it is an input of jit");
  EXPECT_EQ(Fed({"jit:q="}, "jit", inputs),
            "--map-inputs jit:q=: the feed has no 'q', but 'input', 'state', 'sr'");
  EXPECT_EQ(Fed({"jit:x=input[3]"}, "jit", inputs),
            "--map-inputs jit:x=input[3]: index 3 is out of range for axis 0 of shape (1, 3)");
  const Words unlabelled = {"jitt:x=input"};
  const std::vector<std::vector<TensorInfo>> both = {inputs, inputs};
  EXPECT_EQ(InputMaps::Create(unlabelled, kRunners)->CheckNames(both).message(),
            "--map-inputs jitt:x=input: no runner has an input 'jitt:x'; there are 'x'");
}

TEST(InputMaps, LeaveOutWhatIsThereAndNotNeeded) {
  const std::vector<TensorInfo> inputs = {{"x", DType::kUndefined, {}}};
  EXPECT_EQ(Fed({"q="}, "jit", inputs),
            "--map-inputs q=: the feed has no 'q', but 'input', 'state', 'sr'");
  const Words needed = {"x="};
  const auto maps = InputMaps::Create(needed, kRunners);
  EXPECT_EQ(maps->CheckNames(std::vector{inputs, inputs}).message(),
            "--map-inputs x=: every runner has an input 'x', so none can go without it");
  EXPECT_TRUE(maps->CheckNames(std::vector{inputs, std::vector<TensorInfo>()}).ok());
}

TEST(InputMaps, PatternsAreAboutAllThatTheyFit) {
  const std::vector<TensorInfo> inputs = {{"sr", DType::kUndefined, {}},
                                          {"n_put", DType::kUndefined, {}}};
  EXPECT_EQ(Fed({"jit:n_*=in*"}, "jit", inputs), "n_put(1, 3) state(1, 1) sr(1, 1) ");
  EXPECT_EQ(Fed({"jit:n_*=in*"}, "jit", {}), "n_put(1, 3) state(1, 1) sr(1, 1) ");
  EXPECT_EQ(Fed({"s*="}, "jit", {{"x", DType::kUndefined, {}}}), "input(1, 3) -state -sr ");
  EXPECT_EQ(Fed({"s*="}, "jit", inputs), "input(1, 3) sr(1, 1) -state ");
  EXPECT_EQ(Fed({"jit:n_*=q*"}, "jit", inputs),
            "--map-inputs jit:n_*=q*: the feed has no 'qput', but 'input', 'state', 'sr'");
  EXPECT_EQ(Fed({"jit:q*="}, "jit", inputs),
            "--map-inputs jit:q*=: the feed has no 'q*', but 'input', 'state', 'sr'");
  const Words wrong = {"jit:z*=in*", "ort:s*="};
  const auto maps = InputMaps::Create(wrong, kRunners);
  EXPECT_EQ(maps->CheckRunner("jit", inputs).message(),
            "--map-inputs jit:z*=in*: jit has no input 'z*', but 'sr', 'n_put'");
  EXPECT_EQ(maps->CheckRunner("ort", inputs).message(),
            "--map-inputs ort:s*=: it is an input of ort");
  const Words unlabelled = {"z*=in*"};
  const std::vector<std::vector<TensorInfo>> one = {inputs};
  EXPECT_EQ(InputMaps::Create(unlabelled, kRunners)->CheckNames(one).message(),
            "--map-inputs z*=in*: no runner has an input 'z*'; there are 'sr', 'n_put'");
  const Words needed = {"s*="};
  const auto all = InputMaps::Create(needed, kRunners);
  EXPECT_FALSE(all->CheckNames(std::vector{inputs, inputs}).ok());
  EXPECT_TRUE(all->CheckNames(std::vector{inputs, std::vector<TensorInfo>()}).ok());
}

// "a=b" for each pair, then the outputs of both sides.
std::string Compared(const Words& words,
                     const TensorMap& a = {{"p", Row({1, 2})}, {"stateN", Row({3})}},
                     const TensorMap& b = {{"q", Row({1})}}) {
  const auto maps = OutputMaps::Create(words, kRunners, "ort", "jit");
  const auto applied = maps->Apply(a, b);
  if (!applied.ok()) return applied.status().message();
  std::string text;
  for (const auto& [a, b] : applied->pairs) text += a + "=" + b + " ";
  text += "|";
  for (const NamedTensor& tensor : applied->a) text += " " + tensor.name;
  text += " |";
  for (const NamedTensor& tensor : applied->b) text += " " + tensor.name;
  for (const bool used : applied->used) text += used ? "" : " unused";
  return text;
}

TEST(OutputMaps, PairAndLeaveOut) {
  EXPECT_EQ(Compared({"jit:stateN=", "p=q"}), "p=q | p | q");
  EXPECT_EQ(Compared({"stateN=", "q=p[:,:1]"}), "p[:,:1]=q | p[:,:1] | q");
  EXPECT_EQ(Compared({"jit:ort:q=p"}), "p=q | p stateN | q");
  EXPECT_EQ(Compared({"ort:jit:stateN=", "p=q"}), "p=q | p | q");
  EXPECT_EQ(Compared({"ort:onnxrt:stateN=", "p=q"}), "p=q | p stateN | q unused");
  EXPECT_EQ(Compared({"onnxrt:p=q", "nobody="}), "| p stateN | q unused unused");
}

TEST(OutputMaps, PatternsAreAboutAllThatTheyFit) {
  const TensorMap a = {{"y", Row({1})}, {"present.0", Row({1})}, {"present.1", Row({1, 2})}};
  const TensorMap b = {{"y", Row({1})}, {"cache_0", Row({1})}, {"cache_1", Row({1, 2})}};
  const std::string paired =
      "present.0=cache_0 present.1=cache_1 | y present.0 present.1 | y cache_0 cache_1";
  EXPECT_EQ(Compared({"present.*=cache_*"}, a, b), paired);
  EXPECT_EQ(Compared({"ort:jit:present.*=cache_*"}, a, b), paired);
  EXPECT_EQ(Compared({"cache_*=present.*"}, a, b), paired);
  EXPECT_EQ(Compared({"present.*=cache_*", "present.1=cache_1"}, a, b), paired);
  EXPECT_EQ(Compared({"present.*=", "cache_*="}, a, b), "| y | y");
  EXPECT_EQ(Compared({"present.*=cache_*[:,:1]"}, a, b),
            "present.0=cache_0[:,:1] present.1=cache_1[:,:1] | y present.0 present.1 | y "
            "cache_0[:,:1] cache_1[:,:1]");
  EXPECT_EQ(Compared({"presents.*=", "p*="}, a, b), "| y | y cache_0 cache_1 unused");
  EXPECT_EQ(Compared({"present.*=", "present.1=cache_1"}, a, b),
            "--map-outputs present.1=cache_1: 'present.1' is mapped twice");
  EXPECT_EQ(Compared({"present.*=cache_*"}, a, {b[0], b[1]}),
            "--map-outputs present.*=cache_*: output 'present.1' would be compared with 'cache_1', "
            "which is none");
  EXPECT_EQ(
      Compared({"ort:jit:presents.*=cache_*"}, a, {b[0]}),
      "--map-outputs ort:jit:presents.*=cache_*: there is no output 'presents.*'; there are 'y', "
      "'present.0', 'present.1'");
}

TEST(OutputMaps, NamesAloneShowWhichAreUsed) {
  const Words words = {"present.*=cache_*[:,:1]", "y=", "nobody="};
  const auto maps = OutputMaps::Create(words, kRunners, "ort", "jit");
  const Words a = {"y", "present.0"}, b = {"y", "cache_0"};
  EXPECT_EQ(*maps->Check(a, b), (std::vector<bool>{true, true, false}));
  EXPECT_FALSE((*maps->Check(b, b))[0]);
  const Words labelled = {"ort:jit:present.0=cache_1"};
  EXPECT_EQ(OutputMaps::Create(labelled, kRunners, "ort", "jit")->Check(a, b).status().message(),
            "--map-outputs ort:jit:present.0=cache_1: the other side has no 'cache_1', but 'y', "
            "'cache_0'");
}

TEST(OutputMaps, SayWhatDoesNotFit) {
  EXPECT_EQ(Compared({"p=q", "stateN=q"}), "--map-outputs stateN=q: 'q' is mapped twice");
  EXPECT_EQ(Compared({"p=q", "q=stateN"}), "--map-outputs q=stateN: 'q' is mapped twice");
  EXPECT_EQ(Compared({"ort:jit:x=q"}),
            "--map-outputs ort:jit:x=q: there is no output 'x'; there are 'p', 'stateN'");
  EXPECT_EQ(Compared({"ort:jit:p=x"}),
            "--map-outputs ort:jit:p=x: the other side has no 'x', but 'q'");
}

}  // namespace
}  // namespace vernier
