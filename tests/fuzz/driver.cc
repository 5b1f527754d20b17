// Runs a fuzz target without libFuzzer: every file that is given, then changed copies of them.
//
// Usage: TARGET [--runs=N] [--seed=N] [--seconds=N] [--every-byte] [--dump=FILE] FILE|FOLDER...
//
// --every-byte damages each file at each of its bytes before that: inverted, zero, and cut there.
// Before each changed input FILE of --dump holds it, so that the one that ends the process is there
// to be looked at. Prints how many inputs were run.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "fuzz_target.h"

namespace {

namespace fs = std::filesystem;
using Input = std::vector<uint8_t>;
using vernier::UniqueFd;

struct Settings {
  uint64_t runs = 0;
  uint64_t seed = 1;
  double seconds = 1e9;
  bool every_byte = false;
  std::string dump;
  std::vector<Input> inputs;
};

Input ReadInput(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void AddInputs(const fs::path& path, std::vector<Input>& inputs) {
  if (!fs::is_directory(path)) {
    inputs.push_back(ReadInput(path));
    return;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) inputs.push_back(ReadInput(file));
}

Settings ReadSettings(std::span<char*> words) {
  Settings settings;
  for (const std::string_view word : words) {
    const size_t equals = word.find('=');
    const std::string value(equals == word.npos ? "" : word.substr(equals + 1));
    if (word.starts_with("--runs=")) {
      settings.runs = std::stoull(value);
    } else if (word.starts_with("--seed=")) {
      settings.seed = std::stoull(value);
    } else if (word.starts_with("--seconds=")) {
      settings.seconds = std::stod(value);
    } else if (word == "--every-byte") {
      settings.every_byte = true;
    } else if (word.starts_with("--dump=")) {
      settings.dump = value;
    } else {
      AddInputs(fs::path(word), settings.inputs);
    }
  }
  return settings;
}

/// Changes inputs as hostile and damaged files differ from good ones.
class Mutator {
 public:
  explicit Mutator(const Settings& settings) : inputs_(settings.inputs), random_(settings.seed) {}

  Input Next() {
    Input input = inputs_[Below(inputs_.size())];
    for (size_t changes = 1 + Below(4); changes > 0; --changes) Change(input);
    return input;
  }

 private:
  size_t Below(size_t limit) { return limit == 0 ? 0 : static_cast<size_t>(random_() % limit); }

  void Change(Input& input) {
    static constexpr uint8_t kEdges[] = {0, 1, 0x7f, 0x80, 0xff, '"', '[', '{', '\\', ':', '-'};
    const size_t at = Below(input.size() + 1);
    switch (Below(7)) {
      case 0:
        input.resize(at);
        break;
      case 1:
        input.insert(input.begin() + static_cast<long>(at), kEdges[Below(11)]);
        break;
      case 2:
        Splice(input, at);
        break;
      case 3:
        Overwrite(input, at);
        break;
      case 4:
        Erase(input, at);
        break;
      case 5:
        if (at < input.size()) input[at] = kEdges[Below(11)];
        break;
      default:
        if (at < input.size()) input[at] ^= static_cast<uint8_t>(1U << Below(8));
    }
  }

  void Splice(Input& input, size_t at) {
    const Input& other = inputs_[Below(inputs_.size())];
    const size_t begin = Below(other.size());
    const size_t size = Below(std::min<size_t>(other.size() - begin, 256) + 1);
    const auto first = other.begin() + static_cast<long>(begin);
    input.insert(input.begin() + static_cast<long>(at), first, first + static_cast<long>(size));
  }

  // A number where one may be: sizes and counts are what readers must not believe.
  void Overwrite(Input& input, size_t at) {
    const uint64_t number = Below(2) == 0 ? random_() : ~uint64_t{0} >> Below(64);
    const size_t size = std::min<size_t>(size_t{1} << Below(4), input.size() - at);
    if (size > 0) std::memcpy(input.data() + at, &number, size);
  }

  void Erase(Input& input, size_t at) {
    const size_t size = Below(std::min<size_t>(input.size() - at, 64) + 1);
    const auto first = input.begin() + static_cast<long>(at);
    input.erase(first, first + static_cast<long>(size));
  }

  const std::vector<Input>& inputs_;
  std::mt19937_64 random_;
};

/// Runs inputs, each of which is on disk first, and counts them.
class Runner {
 public:
  explicit Runner(const std::string& dump) {
    if (dump.empty()) return;
    dump_ = UniqueFd(::open(dump.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    vernier::fuzz::Require(dump_.get() >= 0, "--dump names a file that can be written");
  }

  void Run(const Input& input) {
    if (dump_.get() >= 0) Dump(input);
    // A block of exactly this size, so that a sanitizer sees the first byte read behind it.
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[input.size()]);
    std::ranges::copy(input, exact.get());
    LLVMFuzzerTestOneInput(exact.get(), input.size());
    ++count_;
  }

  uint64_t count() const { return count_; }

 private:
  // Over what is there: a file that is emptied first goes to the disk each time.
  void Dump(const Input& input) const {
    const auto size = static_cast<ssize_t>(input.size());
    const bool written = ::pwrite(dump_.get(), input.data(), input.size(), 0) == size &&
                         ::ftruncate(dump_.get(), size) == 0;
    vernier::fuzz::Require(written, "the input is written");
  }

  UniqueFd dump_;
  uint64_t count_ = 0;
};

void DamageEveryByte(const Input& good, Runner& runner) {
  for (size_t at = 0; at < good.size(); ++at) {
    runner.Run(Input(good.begin(), good.begin() + static_cast<long>(at)));
    for (const uint8_t mask : {uint8_t{0xff}, good[at]}) {
      Input bad = good;
      bad[at] ^= mask;
      runner.Run(bad);
    }
  }
}

void RunChanged(const Settings& settings, Runner& runner) {
  Mutator mutator(settings);
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t run = 0; run < settings.runs; ++run) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (spent.count() > settings.seconds) return;
    runner.Run(mutator.Next());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = ReadSettings(std::span(argv + 1, static_cast<size_t>(argc) - 1));
  if (settings.inputs.empty()) {
    std::cerr << "no inputs: name files or folders of good and bad ones\n";
    return 2;
  }
  Runner runner(settings.dump);
  for (const Input& input : settings.inputs) runner.Run(input);
  if (settings.every_byte) {
    for (const Input& input : settings.inputs) DamageEveryByte(input, runner);
  }
  RunChanged(settings, runner);
  std::cout << settings.inputs.size() << " files, " << runner.count() << " inputs\n";
  return 0;
}
