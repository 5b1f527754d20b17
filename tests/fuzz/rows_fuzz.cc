// Saved rows: JSON lines and, behind the first byte 'z', arrays. Lines in the usual form are read
// in a quick way, and have to say what they say in any other form.
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.h"
#include "record/rows/decision_rows.h"
#include "record/rows/row_lines.h"

namespace {

using namespace vernier;

struct ReadRows {
  StatusCode code = StatusCode::kOk;
  RowsExtent extent;
  std::vector<std::string> rows;
};

ReadRows ReadAll(const std::string& path) {
  ReadRows read;
  const Result<RowsExtent> extent = ForEachDecisionRow(path, [&](const IterationRow& row) {
    read.rows.push_back(RowLine(row));
    return Status();
  });
  if (extent.ok()) {
    read.extent = *extent;
  } else {
    read.code = extent.status().code();
    fuzz::Require(!extent.status().message().empty(), "a refusal says why");
  }
  return read;
}

// The same lines with a blank, which the quick way does not take.
std::string WithBlanks(std::string_view text) {
  std::string blank;
  bool begins = true;
  for (const char c : text) {
    if (begins && c == '{') blank += ' ';
    blank += c;
    begins = c == '\n';
  }
  return blank;
}

void RequireSame(const ReadRows& quick, const ReadRows& slow) {
  fuzz::Require(quick.code == slow.code, "both forms of a line are rows, or neither");
  fuzz::Require(quick.rows == slow.rows, "both forms of a line say the same");
  fuzz::Require(quick.extent.whole() == slow.extent.whole(), "both are whole, or neither");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::NamedFiles files;
  if (size > 0 && data[0] == 'z') {
    (void)ReadAll(files.Write("rows.npz", fuzz::Bytes(data + 1, size - 1)));
    return 0;
  }
  const auto text = fuzz::Bytes(data, size);
  const std::string path = files.Write("rows.jsonl", text);
  const std::string blank = WithBlanks(std::string_view(reinterpret_cast<const char*>(data), size));
  RequireSame(ReadAll(path), ReadAll(files.Write("blank.jsonl", std::as_bytes(std::span(blank)))));
  (void)ForEachRowColumn(path, [](const RowColumn&) { return Status(); });
  return 0;
}
