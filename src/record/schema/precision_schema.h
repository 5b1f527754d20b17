// Mean average precision as JSON. Only for this folder.
#pragma once

#include "record/schema/record_schema.h"
#include "vernier/precision_record.h"

namespace vernier {

template <typename Fields>
void ListFields(Fields& field, Some<CategoryPrecision> auto& own) {
  field("category", own.category);
  field("objects", own.objects);
  field("ap", own.ap);
  field("ap50", own.ap50);
}

template <typename Fields>
void ListFields(Fields& field, Some<AveragePrecision> auto& figures) {
  field("ap", figures.ap);
  field("ap50", figures.ap50);
  field("ap75", figures.ap75);
  field("ap_small", figures.ap_small);
  field("ap_medium", figures.ap_medium);
  field("ap_large", figures.ap_large);
  field("ar1", figures.ar1);
  field("ar10", figures.ar10);
  field("ar100", figures.ar100);
  field("ar_small", figures.ar_small);
  field("ar_medium", figures.ar_medium);
  field("ar_large", figures.ar_large);
  field("categories", figures.categories);
}

template <typename Fields>
void ListFields(Fields& field, Some<PrecisionIntervals> auto& intervals) {
  field("draws", intervals.draws);
  field("first_low", intervals.first_low);
  field("first_high", intervals.first_high);
  field("second_low", intervals.second_low);
  field("second_high", intervals.second_high);
  field("drop_low", intervals.drop_low);
  field("drop_high", intervals.drop_high);
}

template <typename Fields>
void ListFields(Fields& field, Some<PrecisionRecord> auto& precision) {
  field("images", precision.images);
  field("listed", precision.listed);
  field("units", precision.units);
  field("first", precision.first);
  field("second", precision.second);
  field.Derived("ap_drop", [&] { return precision.first.ap - precision.second.ap; });
  field.Derived("ap50_drop", [&] { return precision.first.ap50 - precision.second.ap50; });
  field.Derived("ap75_drop", [&] { return precision.first.ap75 - precision.second.ap75; });
  field.Given("intervals", precision.intervals);
}

}  // namespace vernier
