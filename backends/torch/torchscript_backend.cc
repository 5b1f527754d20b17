// What is linked against PyTorch: opens TorchScript modules. torch_backend.cc loads it once the
// right PyTorch is there.
#include <torch/script.h>
#include <torch/version.h>

#include <istream>
#include <streambuf>

#include "torchscript_session.h"
#include "vernier/backend_sdk.hpp"

namespace vernier {
namespace {

/// Bytes as a stream that can be read from anywhere.
class MemoryBuffer final : public std::streambuf {
 public:
  explicit MemoryBuffer(std::span<char> bytes) {
    setg(bytes.data(), bytes.data(), bytes.data() + bytes.size());
  }

 protected:
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) override {
    const off_type base = from == std::ios_base::beg   ? 0
                          : from == std::ios_base::cur ? gptr() - eback()
                                                       : egptr() - eback();
    const off_type place = base + offset;
    if (place < 0 || place > egptr() - eback()) return pos_type(off_type(-1));
    setg(eback(), eback() + place, egptr());
    return pos_type(place);
  }
  pos_type seekpos(pos_type place, std::ios_base::openmode mode) override {
    return seekoff(off_type(place), std::ios_base::beg, mode);
  }
};

LoadModule Reader(const vn_model& model) {
  if (model.bytes == nullptr) {
    return [path = std::string(sdk::View(model.path))] { return torch::jit::load(path, at::kCPU); };
  }
  const auto* const bytes = static_cast<const char*>(model.bytes);
  return [kept = std::string(bytes, model.byte_count)]() mutable {
    MemoryBuffer buffer(kept);
    std::istream in(&buffer);
    return torch::jit::load(in, at::kCPU);
  };
}

OutputNames NamesFor(const vn_model& model, const sdk::Options& options) {
  OutputNames names = options.GetAll("output_names");
  if (!names.empty()) return names;
  for (const vn_str& name : std::span(model.outputs, model.output_count)) {
    names.emplace_back(sdk::View(name));
  }
  return names;
}

class TorchScriptBackend {
 public:
  static constexpr std::string_view kName = "torch";
  static constexpr std::string_view kVersion = "1";

  static std::span<const vn_option_info> OptionTable() { return {}; }
  static Result<std::unique_ptr<TorchScriptBackend>> Create(const sdk::Host& host, sdk::Options) {
    return std::make_unique<TorchScriptBackend>(host);
  }
  explicit TorchScriptBackend(const sdk::Host& host) : host_(host) {}
  std::string_view framework_version() const { return TORCH_VERSION; }
  std::string_view framework_path() const { return ""; }

  Result<std::unique_ptr<sdk::Session>> Open(const vn_model& model, sdk::Options options) {
    const std::string path(sdk::View(model.path));
    try {
      return TorchScriptSession::Create(host_, Reader(model),
                                        {.outputs = NamesFor(model, options),
                                         .asked = !options.GetAll("output_names").empty(),
                                         .reset = std::string(options.Get("reset"))});
    } catch (const c10::Error& error) {
      const std::string why = error.what_without_backtrace();
      return Malformed("'" + path +
                       "' cannot be read as TorchScript: " + why.substr(0, why.find('\n')));
    }
  }

 private:
  const sdk::Host host_;
};

}  // namespace
}  // namespace vernier

VERNIER_EXPORT_BACKEND(vernier::TorchScriptBackend)
