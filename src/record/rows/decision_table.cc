#include "record/rows/decision_table.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace vernier {

struct DecisionTable::Cells {
  const std::vector<const Tensor*>& arrays;
  size_t row;

  std::optional<std::string_view> Text(size_t place) const {
    if (arrays[place]->dtype() != DType::kString) return std::nullopt;
    return arrays[place]->StringAt(static_cast<int64_t>(row));
  }
  std::optional<int64_t> Whole(size_t place) const {
    if (arrays[place]->dtype() != DType::kInt64) return std::nullopt;
    return arrays[place]->As<int64_t>()[row];
  }
  std::optional<double> Number(size_t place) const {
    if (arrays[place]->dtype() != DType::kFloat64) return std::nullopt;
    return arrays[place]->As<double>()[row];
  }
};

DecisionTable::DecisionTable(const std::map<std::string, Tensor>& arrays) {
  for (const auto& [name, array] : arrays) {
    plain_ &= array.dims().size() == 1;
    columns_.push_back(name);
    arrays_.push_back(&array);
  }
  const auto pair = arrays.find("pair");
  plain_ &= pair != arrays.end() && pair->second.dtype() == DType::kString;
  if (plain_) pairs_ = &pair->second;
}

const DecisionTable::Layout* DecisionTable::FindLayout(std::string_view pair) {
  if (last_ < layouts_.size() && layouts_[last_].pair == pair) return &layouts_[last_];
  for (last_ = 0; last_ < layouts_.size(); ++last_) {
    if (layouts_[last_].pair == pair) return &layouts_[last_];
  }
  std::optional<RowPlaces> places = FindRowPlaces(columns_, pair);
  if (!places) {
    plain_ = false;
    return nullptr;
  }
  return &layouts_.emplace_back(Layout{std::string(pair), *std::move(places)});
}

bool DecisionTable::Read(size_t number, IterationRow& row) {
  if (!plain_) return false;
  const Cells cells{arrays_, number};
  const Layout* const layout = FindLayout(pairs_->StringAt(static_cast<int64_t>(number)));
  return layout != nullptr && RowReading<Cells>(layout->places, cells).Read(row);
}

}  // namespace vernier
