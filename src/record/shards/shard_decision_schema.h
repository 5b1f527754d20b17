// The fields of what parts keep of decisions. Only for this folder.
#pragma once

#include "record/schema/decision_schema.h"
#include "record/shards/shard_decisions.h"

namespace vernier {

template <typename Fields>
void ListFields(Fields& field, Some<DecisionSample> auto& sample) {
  field("first", sample.first);
  field("second", sample.second);
  field("first_margin", sample.first_margin);
  field("second_margin", sample.second_margin);
  field("near_tie", sample.near_tie);
  field("similarity", sample.similarity);
  field.Word("flip", sample.flip, kFlipNames);
  field.TextIfAny("detail", sample.detail);
  field.TextIfAny("label", sample.label);
  field("first_score", sample.first_score);
  field("second_score", sample.second_score);
}

template <typename Fields>
void ListFields(Fields& field, Some<DetectedBox> auto& box) {
  field("x", box.x);
  field("y", box.y);
  field("width", box.width);
  field("height", box.height);
  field("score", box.score);
  field("category", box.category);
}

template <typename Fields>
void ListFields(Fields& field, Some<SampleDetections> auto& detections) {
  field("boxes", detections.boxes);
  field("has_nan", detections.has_nan);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardUnfitLabel> auto& unfit) {
  field("sample", unfit.sample);
  field("why", unfit.why);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardScores> auto& scores) {
  field("place", scores.place);
  field.TextIfAny("fault", scores.fault);
  field.IfAny("unfit", scores.unfit);
}

template <typename Fields>
void ListFields(Fields& field, Some<BoxCounts> auto& boxes) {
  field("matched", boxes.matched);
  field("lost", boxes.lost);
  field("invented", boxes.invented);
  field("class_changed", boxes.class_changed);
  field("overlap", boxes.overlap);
}

template <typename Fields>
void ListFields(Fields& field, Some<ClassOverlap> auto& of) {
  field("class", of.category);
  field("first", of.first);
  field("second", of.second);
  field("both", of.both);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardExtra> auto& extra) {
  field("sample", extra.sample);
  field("negative_boxes", extra.negative_boxes);
  field("scores_above_one", extra.scores_above_one);
  field("all_above", extra.all_above);
  field("first_error", extra.first_error);
  field("second_error", extra.second_error);
  field("label_size", extra.label_size);
  field("over_bound", extra.over_bound);
  field.Given("boxes", extra.boxes);
  field.IfAny("classes", extra.classes);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardDecision> auto& decision) {
  field("output", decision.row.output);
  field("kind", decision.row.kind);
  field("samples", decision.row.samples);
  field("bounded", decision.bounded);
  field("over_bound", decision.over_bound);
  field.IfAny("extras", decision.extras);
  field.Given("classes", decision.row.classes);
  field.Given("scores", decision.scores);
  field.IfAny("first", decision.first);
  field.IfAny("second", decision.second);
  field.TextIfAny("undetected", decision.undetected);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardDecided> auto& decided) {
  field("outputs", decided.outputs);
  field.TextIfAny("why", decided.why);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardPlacement> auto& placement) {
  field("known", placement.known);
  field("scale_x", placement.scale_x);
  field("scale_y", placement.scale_y);
  field("left", placement.left);
  field("top", placement.top);
  field("height", placement.height);
  field("width", placement.width);
  field.TextIfAny("other_size", placement.other_size);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardImage> auto& image) {
  field("path", image.path);
  field.IfAny("placements", image.placements);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardPicture> auto& picture) {
  ListFields(field, picture.picture);
  field("images", picture.images);
}

}  // namespace vernier
