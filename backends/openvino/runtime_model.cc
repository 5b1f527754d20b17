#include "runtime_model.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>

namespace vernier::ov {
namespace {

namespace fs = std::filesystem;

// ov::serialize(model, xml, weights, version), which the C interface lacks. The names below say in
// which C++ ABI paths are passed, so that a library of another one is not taken for this.
using SharedModel = std::shared_ptr<const void>;
using ToPaths = void (*)(const SharedModel&, const fs::path&, const fs::path&, uint8_t);
using ToTexts = void (*)(const SharedModel&, const std::string&, const std::string&, uint8_t);
constexpr char kToPaths[] =
    "_ZN2ov9serializeERKSt10shared_ptrIKNS_5ModelEERKNSt10filesystem7__cxx114pathESA_NS_4pass9"
    "Serialize7VersionE";
constexpr char kToTexts[] =
    "_ZN2ov9serializeERKSt10shared_ptrIKNS_5ModelEERKNSt7__cxx1112basic_stringIcSt11char_traitsIc"
    "ESaIcEEESD_NS_4pass9Serialize7VersionE";
constexpr uint8_t kAnyVersion = 0;

// ov_model_t is a struct of one shared pointer.
const SharedModel& Inside(const ov_model_t* model) {
  return *reinterpret_cast<const SharedModel*>(model);
}

bool WriteModel(const Api& api, const ov_model_t* model, const std::string& xml,
                const std::string& weights) {
  const auto to_paths = reinterpret_cast<ToPaths>(::dlsym(api.library, kToPaths));
  const auto to_texts = reinterpret_cast<ToTexts>(::dlsym(api.library, kToTexts));
  try {
    if (to_paths != nullptr) {
      to_paths(Inside(model), xml, weights, kAnyVersion);
    } else if (to_texts != nullptr) {
      to_texts(Inside(model), xml, weights, kAnyVersion);
    }
  } catch (...) {  // OpenVINO's own
    return false;
  }
  return to_paths != nullptr || to_texts != nullptr;
}

struct Entity {
  std::string_view written;
  char meant;
};
constexpr Entity kEntities[] = {
    {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};

std::string Unescape(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    size_t taken = 1;
    char c = text[0];
    for (const Entity& entity : kEntities) {
      if (!text.starts_with(entity.written)) continue;
      taken = entity.written.size();
      c = entity.meant;
    }
    plain += c;
    text.remove_prefix(taken);
  }
  return plain;
}

// Of one tag; empty when it has none of that name.
std::string Attribute(std::string_view tag, std::string_view name) {
  const std::string start = " " + std::string(name) + "=\"";
  const size_t at = tag.find(start);
  if (at == std::string_view::npos) return {};
  tag.remove_prefix(at + start.size());
  return Unescape(tag.substr(0, tag.find('"')));
}

// Up to its end; within quotes a ">" is none.
std::string_view TagAt(std::string_view xml, size_t at) {
  bool quoted = false;
  size_t end = at;
  for (; end < xml.size() && (quoted || xml[end] != '>'); ++end) quoted ^= xml[end] == '"';
  return xml.substr(at, end - at);
}

}  // namespace

bool KeepsVariables(const vn_model& model) {
  constexpr std::string_view kVariable = " type=\"ReadValue\"";
  const std::string path(sdk::View(model.path));
  if (!path.ends_with(".xml")) return false;
  if (model.bytes != nullptr) {
    const std::string_view text(static_cast<const char*>(model.bytes), model.byte_count);
    return text.find(kVariable) != std::string_view::npos;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return text.find(kVariable) != std::string::npos;
}

std::vector<sdk::LayerTime> KernelsIn(std::string_view xml) {
  constexpr std::string_view kLayer = "<layer ", kData = "<data ";
  std::vector<sdk::LayerTime> kernels;
  size_t at = xml.find(kLayer);
  while (at != std::string_view::npos) {
    const size_t next = xml.find(kLayer, at + 1);
    const std::string_view layer = TagAt(xml, at);
    const size_t data = xml.find(kData, at);
    sdk::LayerTime kernel{Attribute(layer, "name"), Attribute(layer, "type"), 0};
    std::string nodes;
    if (data != std::string_view::npos && data < next) {
      nodes = Attribute(TagAt(xml, data), "originalLayersNames");
    }
    for (size_t start = 0; start < nodes.size();) {
      const size_t end = std::min(nodes.find(',', start), nodes.size());
      if (end > start) kernel.name += " + " + nodes.substr(start, end - start);
      start = end + 1;
    }
    kernels.push_back(std::move(kernel));
    at = next;
  }
  return kernels;
}

std::vector<sdk::LayerTime> ReadKernels(const Api& api, const ov_compiled_model_t* compiled,
                                        const std::string& scratch) {
  ov_model_t* raw = nullptr;
  if (api.ov_compiled_model_get_runtime_model(compiled, &raw) != OK) return {};
  const Handle<ov_model_t> model(raw, api.ov_model_free);
  const std::string weights = scratch + ".bin", xml = scratch + ".xml";
  std::vector<sdk::LayerTime> kernels;
  if (WriteModel(api, raw, xml, weights)) {
    std::ifstream file(xml, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    kernels = KernelsIn(text);
  }
  std::error_code ignored;
  fs::remove(weights, ignored);
  fs::remove(xml, ignored);
  return kernels;
}

}  // namespace vernier::ov
