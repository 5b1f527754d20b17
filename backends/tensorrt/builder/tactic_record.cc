#include "tensorrt/builder/tactic_record.h"

#include <charconv>

namespace vernier::trt {
namespace {

std::string QuotedWord(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (code < 0x20) {
      out += std::string("\\u00") + kHex[code >> 4] + kHex[code & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string NumberOrNull(const std::optional<int64_t>& number) {
  return number ? std::to_string(*number) : "null";
}

std::string FormatTensors(const std::vector<TacticTensor>& tensors) {
  std::string out = "[";
  for (const TacticTensor& t : tensors) {
    out += (out.size() > 1 ? ", " : "") + std::string("{\"dtype\": ") + QuotedWord(t.dtype) +
           ", \"strides\": [";
    for (size_t i = 0; i < t.strides.size(); ++i) {
      out += (i > 0 ? ", " : "") + std::to_string(t.strides[i]);
    }
    out += "], \"vectorized_dim\": " + NumberOrNull(t.vectorized_dim) +
           ", \"components_per_element\": " + NumberOrNull(t.components_per_element) +
           ", \"polygraphy_class\": \"TensorInfo\"}";
  }
  return out + "]";
}

// As much of JSON as there is in these files: what is not asked for is skipped.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  bool ok() const { return ok_; }
  size_t place() const { return place_; }

  // Calls member(key) behind every key's colon; it has to read or skip the value.
  template <typename Member>
  void Object(Member member) {
    Expect('{');
    if (Accept('}')) return;
    while (ok_) {
      const std::string key = String();
      Expect(':');
      member(key);
      if (!Accept(',')) break;
    }
    Expect('}');
  }
  template <typename Element>
  void Array(Element element) {
    Expect('[');
    if (Accept(']')) return;
    while (ok_) {
      element();
      if (!Accept(',')) break;
    }
    Expect(']');
  }
  std::string String() {
    std::string out;
    Expect('"');
    while (ok_ && place_ < text_.size() && text_[place_] != '"') {
      char c = text_[place_++];
      if (c == '\\' && place_ < text_.size()) c = Escaped();
      out += c;
    }
    Expect('"');
    return out;
  }
  std::optional<int64_t> Number() {
    if (AcceptWord("null")) return std::nullopt;
    Space();
    int64_t value = 0;
    const char* const begin = text_.data() + place_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    ok_ = ok_ && error == std::errc();
    place_ += static_cast<size_t>(end - begin);
    return value;
  }
  void Skip() {
    Space();
    const char c = place_ < text_.size() ? text_[place_] : 0;
    if (c == '{') return Object([this](const std::string&) { Skip(); });
    if (c == '[') return Array([this] { Skip(); });
    if (c == '"') return static_cast<void>(String());
    const size_t end = text_.find_first_of(",]} \n\t\r", place_);
    ok_ = ok_ && end != std::string_view::npos && end > place_;
    if (ok_) place_ = end;
  }

 private:
  char Escaped() {
    const char c = text_[place_++];
    if (c != 'u') return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    unsigned code = 0;
    const auto [end, error] = std::from_chars(
        text_.data() + place_, text_.data() + std::min(text_.size(), place_ + 4), code, 16);
    ok_ = ok_ && error == std::errc() && code < 0x80;
    place_ = static_cast<size_t>(end - text_.data());
    return static_cast<char>(code);
  }
  void Space() {
    while (place_ < text_.size() &&
           std::string_view(" \n\t\r").find(text_[place_]) != std::string_view::npos) {
      ++place_;
    }
  }
  bool Accept(char c) {
    Space();
    const bool there = ok_ && place_ < text_.size() && text_[place_] == c;
    place_ += there ? 1 : 0;
    return there;
  }
  bool AcceptWord(std::string_view word) {
    Space();
    const bool there = text_.substr(place_, word.size()) == word;
    place_ += there ? word.size() : 0;
    return there;
  }
  void Expect(char c) {
    if (!Accept(c)) ok_ = false;
  }

  std::string_view text_;
  size_t place_ = 0;
  bool ok_ = true;
};

TacticTensor ReadTensor(JsonReader& json) {
  TacticTensor tensor;
  json.Object([&](const std::string& key) {
    if (key == "dtype") {
      tensor.dtype = json.String();
    } else if (key == "strides") {
      json.Array([&] { tensor.strides.push_back(json.Number().value_or(0)); });
    } else if (key == "vectorized_dim") {
      tensor.vectorized_dim = json.Number();
    } else if (key == "components_per_element") {
      tensor.components_per_element = json.Number();
    } else {
      json.Skip();
    }
  });
  return tensor;
}

Tactic ReadTactic(JsonReader& json) {
  Tactic tactic;
  json.Object([&](const std::string& key) {
    if (key == "implementation") {
      tactic.implementation = json.Number().value_or(0);
    } else if (key == "tactic") {
      tactic.tactic = json.Number().value_or(0);
    } else if (key == "inputs" || key == "outputs") {
      auto& tensors = key == "inputs" ? tactic.inputs : tactic.outputs;
      json.Array([&] { tensors.push_back(ReadTensor(json)); });
    } else {
      json.Skip();
    }
  });
  return tactic;
}

bool Agree(const std::optional<int64_t>& a, const std::optional<int64_t>& b) {
  return !a || !b || *a == *b;
}

bool Agree(const std::vector<TacticTensor>& a, const std::vector<TacticTensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].dtype != b[i].dtype || a[i].strides != b[i].strides ||
        !Agree(a[i].vectorized_dim, b[i].vectorized_dim) ||
        !Agree(a[i].components_per_element, b[i].components_per_element)) {
      return false;
    }
  }
  return true;
}

std::string DescribeTensors(const std::vector<TacticTensor>& tensors) {
  std::string out = "(";
  for (const TacticTensor& t : tensors) {
    std::string strides;
    for (const int64_t stride : t.strides) {
      strides += (strides.empty() ? "" : ", ") + std::to_string(stride);
    }
    const auto text = [](const std::optional<int64_t>& n) {
      return n ? std::to_string(*n) : "None";
    };
    out += (out.size() > 1 ? " " : "") + std::string("TensorInfo(") + t.dtype + ", (" + strides +
           (t.strides.size() == 1 ? ",)" : ")") + ", " + text(t.vectorized_dim) + ", " +
           text(t.components_per_element) + "),";
  }
  return out + ")";
}

}  // namespace

bool Matches(const Tactic& a, const Tactic& b) {
  return a.implementation == b.implementation && a.tactic == b.tactic &&
         Agree(a.inputs, b.inputs) && Agree(a.outputs, b.outputs);
}

std::string FormatTactics(const TacticRecord& record) {
  std::string out = "{\n    \"replay\": {";
  bool first = true;
  for (const auto& [layer, tactic] : record) {
    out += (first ? "\n        " : ",\n        ") + QuotedWord(layer) +
           ": {\n            \"implementation\": " + std::to_string(tactic.implementation) +
           ",\n            \"tactic\": " + std::to_string(tactic.tactic) +
           ",\n            \"inputs\": " + FormatTensors(tactic.inputs) +
           ",\n            \"outputs\": " + FormatTensors(tactic.outputs) +
           ",\n            \"polygraphy_class\": \"Algorithm\"\n        }";
    first = false;
  }
  return out + (first ? "}" : "\n    }") + ",\n    \"polygraphy_class\": \"TacticReplayData\"\n}\n";
}

Result<TacticRecord> ParseTactics(std::string_view text) {
  TacticRecord record;
  JsonReader json(text);
  bool found = false;
  json.Object([&](const std::string& key) {
    if (key != "replay") return json.Skip();
    found = true;
    json.Object([&](const std::string& layer) { record[layer] = ReadTactic(json); });
  });
  if (!json.ok()) {
    return Malformed("this is not a record of tactics: unexpected text at byte " +
                     std::to_string(json.place()));
  }
  if (!found) return Malformed("this is not a record of tactics: it has no 'replay'");
  return record;
}

std::string Describe(const Tactic& tactic) {
  return "(Implementation: " + std::to_string(tactic.implementation) +
         ", Tactic: " + std::to_string(tactic.tactic) +
         ") | Inputs: " + DescribeTensors(tactic.inputs) +
         " | Outputs: " + DescribeTensors(tactic.outputs);
}

}  // namespace vernier::trt
