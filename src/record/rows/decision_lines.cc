#include "record/rows/decision_lines.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace vernier {
namespace {

// Each pair of runners has one, or few.
constexpr size_t kMostLayouts = 64;

bool IsDecimal(char c) { return c >= '0' && c <= '9'; }

// Takes the parts of a line from its beginning.
class LineCursor {
 public:
  explicit LineCursor(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  bool AtEnd() const { return at_ == end_; }
  bool Take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  std::optional<std::string_view> TakeQuoted() {
    if (!Take('"')) return std::nullopt;
    const char* const begin = at_;
    while (at_ != end_ && *at_ >= ' ' && *at_ < 0x7f && *at_ != '"' && *at_ != '\\') ++at_;
    const std::string_view text(begin, static_cast<size_t>(at_ - begin));
    return Take('"') ? std::optional(text) : std::nullopt;
  }

  // What JSON has for a number, but for "-0", which is a whole number there.
  std::optional<std::string_view> TakeNumber() {
    const char* const begin = at_;
    const bool negative = Take('-');
    const bool zero = Take('0');
    if (!zero && TakeDigits() == 0) return std::nullopt;
    bool whole = true;
    if (Take('.')) {
      whole = false;
      if (TakeDigits() == 0) return std::nullopt;
    }
    if (Take('e') || Take('E')) {
      whole = false;
      if (!Take('-')) Take('+');
      if (TakeDigits() == 0) return std::nullopt;
    }
    if (negative && zero && whole) return std::nullopt;
    return std::string_view(begin, static_cast<size_t>(at_ - begin));
  }

 private:
  size_t TakeDigits() {
    const char* const begin = at_;
    while (at_ != end_ && IsDecimal(*at_)) ++at_;
    return static_cast<size_t>(at_ - begin);
  }

  const char* at_;
  const char* end_;
};

template <typename Number>
std::optional<Number> WholeNumber(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace

struct DecisionLines::Cells {
  const std::vector<Cell>& cells;

  std::optional<std::string_view> Text(size_t place) const {
    return cells[place].quoted ? std::optional(cells[place].text) : std::nullopt;
  }
  std::optional<int64_t> Whole(size_t place) const {
    return cells[place].quoted ? std::nullopt : WholeNumber<int64_t>(cells[place].text);
  }
  std::optional<double> Number(size_t place) const {
    const auto& [text, quoted] = cells[place];
    if (!quoted) return WholeNumber<double>(text);
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
  }
};

bool DecisionLines::Split(std::string_view line) {
  columns_.clear();
  cells_.clear();
  LineCursor cursor(line);
  if (!cursor.Take('{')) return false;
  do {
    const auto column = cursor.TakeQuoted();
    if (!column || !cursor.Take(':')) return false;
    const auto text = cursor.TakeQuoted();
    const auto value = text ? text : cursor.TakeNumber();
    if (!value) return false;
    columns_.push_back(*column);
    cells_.push_back({*value, text.has_value()});
  } while (cursor.Take(','));
  return cursor.Take('}') && cursor.AtEnd();
}

bool DecisionLines::Fits(const Layout& layout) const {
  return layout.columns.size() == columns_.size() &&
         cells_[layout.places.pair].text == layout.pair &&
         std::equal(columns_.begin(), columns_.end(), layout.columns.begin());
}

const DecisionLines::Layout* DecisionLines::FindLayout() {
  if (last_ < layouts_.size() && Fits(layouts_[last_])) return &layouts_[last_];
  for (last_ = 0; last_ < layouts_.size(); ++last_) {
    if (Fits(layouts_[last_])) return &layouts_[last_];
  }
  const auto pair = std::ranges::find(columns_, std::string_view("pair"));
  if (layouts_.size() == kMostLayouts || pair == columns_.end()) return nullptr;
  Layout layout;
  layout.columns.assign(columns_.begin(), columns_.end());
  layout.pair = cells_[static_cast<size_t>(pair - columns_.begin())].text;
  std::optional<RowPlaces> places = FindRowPlaces(layout.columns, layout.pair);
  if (!places) return nullptr;
  layout.places = *std::move(places);
  return &layouts_.emplace_back(std::move(layout));
}

bool DecisionLines::Read(std::string_view line, IterationRow& row) {
  if (!Split(line)) return false;
  const Layout* const layout = FindLayout();
  if (layout == nullptr) return false;
  const Cells cells{cells_};
  return RowReading<Cells>(layout->places, cells).Read(row);
}

}  // namespace vernier
