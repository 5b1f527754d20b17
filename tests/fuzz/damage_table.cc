// What becomes of saved files that are damaged at each of their bytes: inverted, zeroed, and cut
// there. A crash ends the program; whatever else happens is counted.
//
// Usage: damage_table FOLDER FILE...   FOLDER is for the damaged copies
//
// Prints a row of Markdown for each file: bytes, damaged copies, how many were refused, how many
// were read with other tensors than the good file, how many with the same.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/results/feed_reader.h"
#include "io/results/results_reader.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// Everything that a file holds, iteration by iteration.
using Content = std::vector<TensorMap>;

std::optional<Content> ReadOutputs(const std::string& path) {
  const auto reader = ResultsReader::Open(path);
  if (!reader.ok()) return std::nullopt;
  Content content;
  for (size_t run = 0; run < (*reader)->runs().size(); ++run) {
    for (size_t i = 0; i < (*reader)->runs()[run].iterations; ++i) {
      auto result = (*reader)->Read(run, i);
      if (!result.ok()) return std::nullopt;
      content.push_back(std::move(result->outputs));
    }
  }
  return content;
}

std::optional<Content> ReadInputs(const std::string& path) {
  const auto reader = FeedReader::Open({path});
  if (!reader.ok()) return std::nullopt;
  Content content;
  while (true) {
    auto feed = (*reader)->Next();
    if (!feed.ok()) return std::nullopt;
    if (!feed->has_value()) return content;
    content.push_back(*std::move(*feed));
  }
}

bool Same(const TensorMap& a, const TensorMap& b) {
  return std::ranges::equal(a, b, [](const NamedTensor& x, const NamedTensor& y) {
    return x.name == y.name && x.tensor.dtype() == y.tensor.dtype() &&
           x.tensor.dims() == y.tensor.dims() &&
           std::ranges::equal(x.tensor.bytes(), y.tensor.bytes());
  });
}

struct Row {
  size_t copies = 0, refused = 0, other = 0, same = 0;
};

class Damager {
 public:
  Damager(const fs::path& folder, const fs::path& file)
      : copy_((folder / ("damaged" + file.extension().string())).string()) {
    std::ifstream in(file, std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(in), {});
  }

  // nullopt when the good file itself cannot be read.
  std::optional<Row> Run() {
    Write(good_);
    is_outputs_ = ReadOutputs(copy_).has_value();
    const auto expected = Read();
    if (!expected) return std::nullopt;
    for (size_t at = 0; at < good_.size(); ++at) {
      Try(good_.substr(0, at), *expected);
      for (const char byte : {static_cast<char>(~good_[at]), '\0'}) {
        if (byte == good_[at]) continue;
        std::string bad = good_;
        bad[at] = byte;
        Try(bad, *expected);
      }
    }
    return row_;
  }

  size_t size() const { return good_.size(); }

 private:
  std::optional<Content> Read() const {
    return is_outputs_ ? ReadOutputs(copy_) : ReadInputs(copy_);
  }

  void Write(const std::string& bytes) const {
    // Not over the last one: a file that is emptied and written again goes to the disk each time.
    fs::remove(copy_);
    std::ofstream(copy_, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  void Try(const std::string& bytes, const Content& expected) {
    Write(bytes);
    ++row_.copies;
    const auto content = Read();
    if (!content) {
      ++row_.refused;
    } else if (std::ranges::equal(*content, expected, Same)) {
      ++row_.same;
    } else {
      ++row_.other;
    }
  }

  std::string copy_;
  std::string good_;
  bool is_outputs_ = true;
  Row row_;
};

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) {
  const std::span<char*> words(argv + 1, static_cast<size_t>(argc) - 1);
  if (words.size() < 2) {
    std::cerr << "usage: damage_table FOLDER FILE...\n";
    return 2;
  }
  for (const char* file : words.subspan(1)) {
    vernier::Damager damager(words[0], file);
    const auto row = damager.Run();
    if (!row) {
      std::cerr << file << ": the good file cannot be read\n";
      return 1;
    }
    std::cout << "| " << std::filesystem::path(file).filename().string() << " | " << damager.size()
              << " | " << row->copies << " | " << row->refused << " | " << row->other << " | "
              << row->same << " | 0 |" << std::endl;
  }
  return 0;
}
