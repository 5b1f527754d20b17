#include "torchscript_writer.h"

#include <zlib.h>

#include <cstdint>

namespace vernier {
namespace {

/// A ZIP archive of stored members.
class Archive {
 public:
  void Add(const std::string& name, const std::string& content) {
    const auto crc = static_cast<uint32_t>(::crc32(
        0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
    std::string common;
    Append<uint16_t>(common, 20);  // version needed
    Append<uint16_t>(common, 0);   // flags
    Append<uint16_t>(common, 0);   // stored
    Append<uint32_t>(common, 0);   // time and date
    Append<uint32_t>(common, crc);
    Append<uint32_t>(common, static_cast<uint32_t>(content.size()));
    Append<uint32_t>(common, static_cast<uint32_t>(content.size()));
    Append<uint16_t>(common, static_cast<uint16_t>(name.size()));
    Append<uint16_t>(common, 0);  // extra field
    const auto offset = static_cast<uint32_t>(bytes_.size());
    bytes_ += "PK\x03\x04" + common + name + content;
    directory_ += std::string("PK\x01\x02") + "\x14" + std::string(1, 0) + common;
    directory_ += std::string(6, 0);  // comment, disk, attributes of the content
    Append<uint32_t>(directory_, 0);
    Append<uint32_t>(directory_, offset);
    directory_ += name;
    ++count_;
  }

  std::string Finish() {
    std::string end = "PK\x05\x06" + std::string(4, 0);
    Append<uint16_t>(end, count_);
    Append<uint16_t>(end, count_);
    Append<uint32_t>(end, static_cast<uint32_t>(directory_.size()));
    Append<uint32_t>(end, static_cast<uint32_t>(bytes_.size()));
    Append<uint16_t>(end, 0);
    return bytes_ + directory_ + end;
  }

 private:
  template <typename T>
  static void Append(std::string& out, T value) {
    for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i));
  }

  std::string bytes_, directory_;
  uint16_t count_ = 0;
};

std::string Source(const std::vector<TensorInfo>& inputs) {
  std::string arguments, values, types;
  for (const TensorInfo& input : inputs) {
    arguments += ",\n    " + input.name + ": Tensor";
    values += (values.empty() ? "" : ", ") + input.name;
    types += (types.empty() ? "" : ", ") + std::string("Tensor");
  }
  const bool one = inputs.size() == 1;
  return "class Echo(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
         "  def forward(self: __torch__.Echo" +
         arguments + ") -> " + (one ? types : "Tuple[" + types + "]") + ":\n    return " +
         (one ? values : "(" + values + ")") + "\n";
}

// Pickles: an object of the class with its one attribute, and an empty tuple of constants.
constexpr char kObject[] =
    "\x80\x02"
    "c__torch__\nEcho\nq\x00)\x81}(X\x08\x00\x00\x00trainingq\x01\x89ubq\x02.";
constexpr char kConstants[] = "\x80\x02).";

}  // namespace

std::string WriteTorchScriptModel(const std::vector<TensorInfo>& inputs) {
  Archive archive;
  archive.Add("echo/data.pkl", std::string(kObject, sizeof(kObject) - 1));
  archive.Add("echo/code/__torch__.py", Source(inputs));
  archive.Add("echo/constants.pkl", std::string(kConstants, sizeof(kConstants) - 1));
  archive.Add("echo/version", "3\n");
  return archive.Finish();
}

}  // namespace vernier
