#include "backend/plugin/plugin_host.h"

#include <cstring>
#include <utility>

#include "backend/plugin/abi_tensors.h"
#include "util/threads/memory_pages.h"

namespace vernier {
namespace {

void LogOfPlugin(void* self, int32_t severity, vn_str message) noexcept {
  static_cast<PluginHost*>(self)->log(severity, View(message));
}

// Below this, making and mapping pages costs more than copying what a framework had in memory that
// it uses again and again.
constexpr size_t kWorthPlacing = size_t{1} << 20;

// The same before the first run: it also pays to have a thread of its own for the pages.
constexpr size_t kWorthPlacingAhead = size_t{32} << 20;

void* OutputMemory(void* self, size_t size) noexcept {
  PluginHost& host = *static_cast<PluginHost*>(self);
  const bool opening = host.stage == PluginHost::Stage::kOpening;
  if (!opening && host.stage != PluginHost::Stage::kRunning) return nullptr;
  if (!opening && host.keeps_outputs) return nullptr;
  if (size < (opening ? kWorthPlacingAhead : kWorthPlacing) && !host.fill) return nullptr;
  if (host.outputs == nullptr) {
    Result<std::shared_ptr<SharedMemory>> memory = SharedMemory::Create();
    if (!memory.ok()) return nullptr;
    host.outputs = *std::move(memory);
  }
  using Pages = SharedMemory::Pages;
  const Result<std::span<std::byte>> bytes =
      host.outputs->Allocate(size, opening ? Pages::kToBeMade : Pages::kMade);
  if (!bytes.ok()) return nullptr;
  if (opening) host.ahead.push_back(*bytes);
  ++host.placed;
  if (host.fill) std::memset(bytes->data(), *host.fill, bytes->size());
  return bytes->data();
}

const vn_tensor* const* NextInputs(void* self, size_t* count) noexcept {
  PluginHost& host = *static_cast<PluginHost*>(self);
  *count = 0;
  if (host.stage != PluginHost::Stage::kRunning || !host.next_feed) return nullptr;
  const TensorMap* const feed = host.next_feed();
  if (feed == nullptr) return nullptr;
  host.next_feed = nullptr;
  host.next_inputs = std::make_shared<AbiTensors>();
  for (const NamedTensor& input : *feed) host.next_inputs->Add(input);
  *count = host.next_inputs->pointers().size();
  return host.next_inputs->pointers().data();
}

// The parent ends a run by killing the worker, so there is nothing to ask while it lives.
int32_t NotCancelled(void*) noexcept { return 0; }

}  // namespace

OutputsAhead::OutputsAhead(PluginHost& host) : memory_(std::exchange(host.outputs, nullptr)) {
  std::vector<std::span<std::byte>> places = std::exchange(host.ahead, {});
  if (places.empty()) return;
  // If no thread is available, Take() does this synchronously.
  pages_ = std::async([places = std::move(places)] {
    for (const std::span<std::byte> place : places) MakePages(place);
  });
}

std::shared_ptr<SharedMemory> OutputsAhead::Take() {
  if (pages_.valid()) pages_.get();
  return std::exchange(memory_, nullptr);
}

vn_host TableOf(PluginHost& host,
                vn_status* (*status_new)(void* self, int32_t code, vn_str message) noexcept) {
  return {sizeof(vn_host), VN_ABI_MAJOR,  VN_ABI_MINOR,  &host,      status_new,
          &LogOfPlugin,    &NotCancelled, &OutputMemory, &NextInputs};
}

}  // namespace vernier
