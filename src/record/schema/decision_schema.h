// What runners decided, as JSON. Only for this folder.
#pragma once

#include <array>
#include <string_view>

#include "record/schema/record_schema.h"
#include "vernier/decision_record.h"
#include "vernier/precision_record.h"

namespace vernier {

/// In the order of the enumerators.
inline constexpr std::array<std::string_view, 4> kFlipNames = {"none", "near tie", "clear",
                                                               "invalid"};

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

template <typename Fields>
void ListPlace(Fields& field, auto& place) {
  field("iteration", place.iteration);
  field("step", place.step);
  field.Given("sequence", place.sequence);
  field("row", place.row);
}

template <typename Fields>
void ListFields(Fields& field, Some<FlipPlace> auto& place) {
  ListPlace(field, place);
}

template <typename Fields>
void ListFields(Fields& field, Some<WorstFlip> auto& worst) {
  ListPlace(field, worst);
  field.Word("flip", worst.sample.flip, kFlipNames);
  field("first", worst.sample.first);
  field("second", worst.sample.second);
  field("first_margin", worst.sample.first_margin);
  field("second_margin", worst.sample.second_margin);
  field("near_tie", worst.sample.near_tie);
  field("similarity", worst.sample.similarity);
  field.TextIfAny("detail", worst.sample.detail);
  field.Later("rows", worst.rows);
  field.IfAny("pictures", worst.pictures);
}

template <typename Fields>
void ListFields(Fields& field, Some<InputPictureRecord> auto& picture) {
  field("iteration", picture.iteration);
  field("image", picture.image);
  field("input", picture.input);
  field("how", picture.how);
  field("png", picture.png);
}

template <typename Fields>
void ListFields(Fields& field, Some<LabelErrorRecord> auto& error) {
  field("metric", error.metric);
  field("first", error.first);
  field("first_low", error.first_low);
  field("first_high", error.first_high);
  field("second", error.second);
  field("second_low", error.second_low);
  field("second_high", error.second_high);
  field("rise", error.rise);
  field("rise_low", error.rise_low);
  field("rise_high", error.rise_high);
}

template <typename Fields>
void ListFields(Fields& field, Some<LabelRecord> auto& labels) {
  field("metric", labels.metric);
  field("samples", labels.samples);
  field("first", labels.first);
  field("first_low", labels.first_low);
  field("first_high", labels.first_high);
  field("second", labels.second);
  field("second_low", labels.second_low);
  field("second_high", labels.second_high);
  field("drop", labels.drop);
  field("drop_low", labels.drop_low);
  field("drop_high", labels.drop_high);
  field("right_to_wrong", labels.right_to_wrong);
  field("wrong_to_right", labels.wrong_to_right);
  field("wrong_to_wrong", labels.wrong_to_wrong);
  field("both_right", labels.both_right);
  field("p", labels.p);
  field("change", labels.change);
  field("samples_to_see", labels.samples_to_see);
  field.IfAny("errors", labels.errors);
}

template <typename Fields>
void ListFields(Fields& field, Some<BoxTotalsRecord> auto& boxes) {
  field("matched", boxes.matched);
  field("lost", boxes.lost);
  field("invented", boxes.invented);
  field("class_changed", boxes.class_changed);
  field("mean_iou", boxes.mean_iou);
}

template <typename Fields>
void ListFields(Fields& field, Some<ClassIouRecord> auto& of) {
  field("class", of.category);
  field.TextIfAny("name", of.name);
  field("first", of.first);
  field("second", of.second);
  field("both", of.both);
  field("iou", of.iou);
}

template <typename Fields>
void ListFields(Fields& field, Some<DecisionRecord> auto& decision) {
  field("output", decision.output);
  field("kind", decision.kind);
  field("samples", decision.samples);
  field.Derived("agree", [&] { return decision.samples - decision.flips; });
  field("flips", decision.flips);
  field("clear_flips", decision.clear_flips);
  field("near_ties", decision.near_ties);
  field("invalid", decision.invalid);
  field("agreement", decision.agreement);
  field("interval_low", decision.interval_low);
  field("interval_high", decision.interval_high);
  field("similarity", decision.similarity);
  field("near_tie_from_bound", decision.near_tie_from_bound);
  field.TextIfAny("near_tie_rule", decision.near_tie_rule);
  field("margin_most", decision.margin_most);
  field("margin_counts", decision.margin_counts);
  field("margin_flips", decision.margin_flips);
  field.Given("precision", decision.precision);
  field("worst", decision.worst);
  field.Given("first_flip", decision.first_flip);
  field.TextIfAny("vacuous", decision.vacuous);
  field.Given("labels", decision.labels);
  field.Given("negative_boxes", decision.negative_boxes);
  field.Given("scores_above_one", decision.scores_above_one);
  field.Given("boxes", decision.boxes);
  field.IfAny("class_ious", decision.class_ious);
}

template <typename Fields>
void ListFields(Fields& field, Some<DecisionGateRecord> auto& gate) {
  field("gate", gate.gate);
  field("output", gate.output);
  field("kind", gate.kind);
  field("value", gate.value);
  field("limit", gate.limit);
  field("verdict", gate.verdict);
  field("undecided", gate.undecided);
  field.TextIfAny("doubtful_by", gate.doubtful_by);
  field.Given("samples_to_decide", gate.samples_to_decide);
  field.TextIfAny("drop_type", gate.drop_type);
}

}  // namespace vernier
