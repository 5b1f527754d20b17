#include "placement.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

namespace vernier::ort {
namespace {

// So many nodes are named where not all are where they were wanted.
constexpr size_t kNamed = 5;

// " All nodes placed on [X]. Number of nodes: 5", or " Node(s) placed on [X]. ...", after which
// each node has a line "  Operator (name)". The C API of our headers has no function that says
// this.
struct Line {
  std::string_view provider;
  size_t count = 0;
};

std::optional<Line> ReadLine(std::string_view text) {
  constexpr std::string_view kBegin = " placed on [", kCount = "Number of nodes: ";
  const size_t begin = text.find(kBegin), end = text.find(']', begin), count = text.find(kCount);
  if (begin == std::string_view::npos || end == std::string_view::npos ||
      count == std::string_view::npos)
    return std::nullopt;
  const size_t name = begin + kBegin.size();
  Line line{text.substr(name, end - name)};
  const char* const digits = text.data() + count + kCount.size();
  if (std::from_chars(digits, text.data() + text.size(), line.count).ec != std::errc()) {
    return std::nullopt;
  }
  return line;
}

std::string Nodes(size_t count) {
  return std::to_string(count) + (count == 1 ? " node" : " nodes");
}

}  // namespace

std::string ShortName(std::string_view provider) {
  constexpr std::string_view kSuffix = "ExecutionProvider";
  if (provider.ends_with(kSuffix)) provider.remove_suffix(kSuffix.size());
  return std::string(provider);
}

Status Placement::Listen(const Api& api, OrtSessionOptions* options, OrtLoggingLevel least) {
  least_ = least;
  logs_to_host_ = api.logs_to_host;
  VERNIER_TRY(ort::Take(api, api.table->SetUserLoggingFunction(options, &OnLine, this)));
  return ort::Take(api, api.table->SetSessionLogSeverityLevel(options, ORT_LOGGING_LEVEL_VERBOSE));
}

void Placement::OnLine(void* self, OrtLoggingLevel severity, const char* /*category*/,
                       const char* /*id*/, const char* /*place*/, const char* message) {
  static_cast<Placement*>(self)->Take(severity, message);
}

void Placement::Take(OrtLoggingLevel severity, std::string_view message) {
  constexpr int32_t kWarning = 30, kError = 40;
  const std::scoped_lock lock(mutex_);
  if (severity >= least_ && !logs_to_host_) {
    // Where ONNX Runtime's own words go.
    std::fprintf(stderr, "[%c:onnxruntime] %.*s\n", severity >= ORT_LOGGING_LEVEL_ERROR ? 'E' : 'W',
                 static_cast<int>(message.size()), message.data());
  } else if (severity >= least_) {
    host_.Log(severity >= ORT_LOGGING_LEVEL_ERROR ? kError : kWarning, message);
  }
  if (severity != ORT_LOGGING_LEVEL_VERBOSE) return;
  if (const std::optional<Line> line = ReadLine(message)) {
    described_ = &shares_[std::string(line->provider)];
    *described_ = {line->count, {}};
  } else if (described_ != nullptr && message.starts_with("  ")) {
    if (described_->nodes.size() < kNamed) described_->nodes.emplace_back(message.substr(2));
  } else {
    described_ = nullptr;
  }
}

size_t Placement::Total() const {
  size_t total = 0;
  for (const auto& [provider, share] : shares_) total += share.count;
  return total;
}

// "2 on CPUExecutionProvider (Shape (s), Gather (g))"
std::string Placement::Shares(std::string_view but) const {
  std::string text;
  for (const auto& [provider, share] : shares_) {
    if (provider == but || share.count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(share.count) + " on " + provider;
    for (size_t i = 0; i < share.nodes.size(); ++i) text += (i == 0 ? ": " : ", ") + share.nodes[i];
    if (!share.nodes.empty() && share.count > share.nodes.size()) text += ", ...";
  }
  return text;
}

void Placement::LogPlacement(std::span<const std::string> asked) const {
  const size_t total = Total();
  if (total == 0) {
    host_.Warning("--providers: this ONNX Runtime does not say which provider runs which node");
    return;
  }
  const auto count = [&](std::string_view provider) {
    const auto found = shares_.find(provider);
    return found == shares_.end() ? size_t{0} : found->second.count;
  };
  for (const std::string& provider : asked) {
    if (provider == kCpuProvider || count(provider) > 0) continue;
    host_.Warning("--providers: no node of the model runs on " + provider + ": " + Shares());
  }
  const std::string& first = asked.front();
  if (count(first) == 0) return;
  if (count(first) == total) {
    host_.Info("ONNX Runtime runs all " + Nodes(total) + " on " + first);
    return;
  }
  const std::string text = "ONNX Runtime runs " + std::to_string(count(first)) + " of " +
                           Nodes(total) + " on " + first + ", " + Shares(first);
  const bool wanted = std::all_of(shares_.begin(), shares_.end(), [&](const auto& share) {
    return std::find(asked.begin(), asked.end(), share.first) != asked.end();
  });
  if (wanted) {
    host_.Info(text);
  } else {
    host_.Warning(text);
  }
}

std::string Placement::Device(std::span<const std::string> asked) const {
  const size_t total = Total();
  std::vector<std::pair<std::string, size_t>> places;
  for (const auto& [provider, share] : shares_) {
    if (share.count > 0) places.emplace_back(provider, share.count);
  }
  const auto preference = [&](const auto& place) {
    return std::find(asked.begin(), asked.end(), place.first) - asked.begin();
  };
  std::stable_sort(places.begin(), places.end(),
                   [&](const auto& a, const auto& b) { return preference(a) < preference(b); });
  std::string text;
  if (places.empty()) {
    for (const std::string& provider : asked)
      text += (text.empty() ? "" : ", ") + ShortName(provider);
  }
  for (const auto& [provider, count] : places) {
    text += (text.empty() ? "" : ", ") + ShortName(provider);
    if (places.size() == 1) break;
    const bool first = provider == places.front().first;
    text += " (" + std::to_string(count) + (first ? " of " + Nodes(total) : "") + ")";
  }
  return text;
}

}  // namespace vernier::ort
