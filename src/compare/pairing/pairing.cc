#include "compare/pairing/pairing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "util/text/number_text.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

size_t IndexOf(const TensorMap& map, std::string_view name) {
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i].name == name) return i;
  }
  return kNone;
}

// Shorter names lie within others by chance: "ob" in "probs".
constexpr size_t kTellingName = 3;

bool Overlap(std::string_view x, std::string_view y) {
  return x.find(y) != std::string_view::npos || y.find(x) != std::string_view::npos;
}

// TensorFlow appends the number of the producing operation's output.
std::string Fold(std::string_view name) {
  std::string folded = ToLower(name);
  if (folded.ends_with(":0")) folded.resize(folded.size() - 2);
  return folded;
}

bool Agree(const NamedTensor& a, const NamedTensor& b) {
  return a.tensor.dtype() == b.tensor.dtype() && a.tensor.dims() == b.tensor.dims() &&
         CountedBy(a.name) == CountedBy(b.name);
}

// That an optional is there shows by what it holds, which is all that runners without optionals
// have.
bool IsImplied(const TensorMap& map, const NamedTensor& output) {
  const bool tells = CountedBy(output.name) == '?' && output.tensor.dtype() == DType::kBool &&
                     output.tensor.dims().empty();
  if (!tells) return false;
  const std::string_view whole = std::string_view(output.name).substr(0, output.name.size() - 1);
  return std::any_of(map.begin(), map.end(), [&](const NamedTensor& other) {
    return &other != &output && BelongsTo(other.name, whole);
  });
}

/// The one-to-one algorithm. Each step only looks at what the steps before have left.
class OneToOne {
 public:
  OneToOne(const TensorMap& a, const TensorMap& b)
      : a_(a), b_(b), partner_of_a_(a.size()), taken_b_(b.size(), false) {}

  void MatchKnown(std::span<const KnownPair> known) {
    for (const KnownPair& pair : known) {
      const size_t i = IndexOf(a_, pair.a), j = IndexOf(b_, pair.b);
      if (i == kNone || j == kNone || partner_of_a_[i] || taken_b_[j]) continue;
      Take(i, j, pair.how);
    }
  }

  void MatchExact() {
    std::map<std::string_view, size_t> by_name;
    for (size_t j = b_.size(); j-- > 0;) by_name[b_[j].name] = j;
    for (size_t i = 0; i < a_.size(); ++i) {
      const auto it = by_name.find(a_[i].name);
      const bool free = it != by_name.end() && !taken_b_[it->second] && !partner_of_a_[i];
      if (free) Take(i, it->second, PairedBy::kExact);
    }
  }

  // Only where folding leaves one name on each side: "Out" and "out" must not both claim "OUT".
  void MatchFolded() {
    std::map<std::string, std::vector<size_t>> left;
    std::map<std::string, std::vector<size_t>> right;
    for (const size_t i : FreeA()) left[Fold(a_[i].name)].push_back(i);
    for (const size_t j : FreeB()) right[Fold(b_[j].name)].push_back(j);
    for (const auto& [name, indices] : left) {
      const auto it = right.find(name);
      if (it == right.end() || indices.size() != 1 || it->second.size() != 1) continue;
      Take(indices[0], it->second[0], PairedBy::kFolded);
    }
  }

  void MatchSubstring() {
    const std::vector<size_t> free_a = FreeA();
    const std::vector<size_t> free_b = FreeB();
    std::vector<std::string> names_a;
    std::vector<std::string> names_b;
    for (const size_t i : free_a) names_a.push_back(Fold(a_[i].name));
    for (const size_t j : free_b) names_b.push_back(Fold(b_[j].name));
    for (size_t i = 0; i < free_a.size(); ++i) {
      const size_t j = OnlyOverlap(names_a[i], names_b);
      if (j == kNone || OnlyOverlap(names_b[j], names_a) != i) continue;
      if (Agree(a_[free_a[i]], b_[free_b[j]])) {
        Take(free_a[i], free_b[j], PairedBy::kSubstring);
      }
    }
  }

  void MatchLastOne() {
    const std::vector<size_t> free_a = FreeA();
    const std::vector<size_t> free_b = FreeB();
    if (free_a.size() != 1 || free_b.size() != 1) return;
    if (Agree(a_[free_a[0]], b_[free_b[0]])) {
      Take(free_a[0], free_b[0], PairedBy::kPosition);
    }
  }

  void MatchShape() {
    using Kind = std::tuple<DType, Dims, char>;
    const auto kind_of = [](const NamedTensor& output) -> Kind {
      return {output.tensor.dtype(), output.tensor.dims(), CountedBy(output.name)};
    };
    std::map<Kind, std::vector<size_t>> left, right;
    for (const size_t i : FreeA()) left[kind_of(a_[i])].push_back(i);
    for (const size_t j : FreeB()) right[kind_of(b_[j])].push_back(j);
    for (const auto& [kind, indices] : left) {
      const auto it = right.find(kind);
      if (it == right.end() || indices.size() != 1 || it->second.size() != 1) continue;
      Take(indices[0], it->second[0], PairedBy::kShape);
    }
  }

  Pairing Finish() const {
    Pairing pairing;
    for (size_t i = 0; i < a_.size(); ++i) {
      if (partner_of_a_[i]) {
        pairing.pairs.push_back(*partner_of_a_[i]);
      } else if (!IsImplied(a_, a_[i])) {
        pairing.left_only.push_back(a_[i].name);
      }
    }
    for (const size_t j : FreeB()) {
      if (!IsImplied(b_, b_[j])) pairing.right_only.push_back(b_[j].name);
    }
    return pairing;
  }

 private:
  // The index of the only name that overlaps with `name`; kNone if there is none or several, or if
  // one of the two is too short to tell.
  static size_t OnlyOverlap(const std::string& name, const std::vector<std::string>& names) {
    size_t found = kNone;
    for (size_t i = 0; i < names.size(); ++i) {
      if (!Overlap(name, names[i])) continue;
      if (found != kNone) return kNone;
      found = i;
    }
    const bool tells = found != kNone && std::min(name.size(), names[found].size()) >= kTellingName;
    return tells ? found : kNone;
  }

  void Take(size_t i, size_t j, PairedBy how) {
    partner_of_a_[i] = OutputPair{i, j, how};
    taken_b_[j] = true;
  }
  std::vector<size_t> FreeA() const {
    std::vector<size_t> free;
    for (size_t i = 0; i < a_.size(); ++i) {
      if (!partner_of_a_[i]) free.push_back(i);
    }
    return free;
  }
  std::vector<size_t> FreeB() const {
    std::vector<size_t> free;
    for (size_t j = 0; j < b_.size(); ++j) {
      if (!taken_b_[j]) free.push_back(j);
    }
    return free;
  }

  const TensorMap& a_;
  const TensorMap& b_;
  std::vector<std::optional<OutputPair>> partner_of_a_;
  std::vector<bool> taken_b_;
};

std::optional<OutputPair> FindLenient(const TensorMap& a, size_t index, const TensorMap& b) {
  const size_t exact = IndexOf(b, a[index].name);
  if (exact != kNone) return OutputPair{index, exact, PairedBy::kExact};
  const std::string name = ToLower(a[index].name);
  for (size_t j = 0; j < b.size(); ++j) {
    const std::string other = ToLower(b[j].name);
    if (!Overlap(name, other)) continue;
    return OutputPair{index, j, name == other ? PairedBy::kFolded : PairedBy::kSubstring};
  }
  if (index < b.size()) return OutputPair{index, index, PairedBy::kPosition};
  return std::nullopt;
}

std::optional<OutputPair> FindKnown(const TensorMap& a, size_t index, const TensorMap& b,
                                    std::span<const KnownPair> known) {
  for (const KnownPair& pair : known) {
    const size_t j = pair.a == a[index].name ? IndexOf(b, pair.b) : kNone;
    if (j != kNone) return OutputPair{index, j, pair.how};
  }
  return std::nullopt;
}

Pairing PairLenient(const TensorMap& a, const TensorMap& b, std::span<const KnownPair> known) {
  Pairing pairing;
  std::vector<bool> used(b.size(), false);
  for (size_t i = 0; i < a.size(); ++i) {
    const std::optional<OutputPair> given = FindKnown(a, i, b, known);
    const std::optional<OutputPair> pair = given ? given : FindLenient(a, i, b);
    const bool taken =
        !given && pair && pair->how != PairedBy::kExact && IndexOf(a, b[pair->b].name) != kNone;
    if (taken) pairing.taken.push_back({a[i].name, b[pair->b].name});
    if (!pair || taken) {
      pairing.left_only.push_back(a[i].name);
      continue;
    }
    pairing.pairs.push_back(*pair);
    used[pair->b] = true;
  }
  for (size_t j = 0; j < b.size(); ++j) {
    if (!used[j]) pairing.right_only.push_back(b[j].name);
  }
  return pairing;
}

}  // namespace

Pairing PairOutputs(const TensorMap& a, const TensorMap& b, PairingRule rule,
                    std::span<const KnownPair> known) {
  if (rule == PairingRule::kLenient) return PairLenient(a, b, known);
  OneToOne matcher(a, b);
  matcher.MatchKnown(known);
  if (rule == PairingRule::kKnownAlone) return matcher.Finish();
  matcher.MatchExact();
  matcher.MatchFolded();
  if (rule == PairingRule::kOneToOneFormats) return matcher.Finish();
  matcher.MatchSubstring();
  if (rule == PairingRule::kOneToOne) {
    matcher.MatchLastOne();
    matcher.MatchShape();
  }
  return matcher.Finish();
}

}  // namespace vernier
