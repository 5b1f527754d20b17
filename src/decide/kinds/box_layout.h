// Where an output of boxes has what. Internal to decide.
#pragma once

#include <cstdint>
#include <string>

#include "vernier/decision_plan.h"
#include "vernier/tensor.h"

namespace vernier {

enum class BoxCorners : uint8_t {
  kCorners,  ///< x1, y1, x2, y2
  kCentre,   ///< centre x and y, width, height
  kCorner,   ///< x1, y1, width, height
};

struct BoxLayout {
  int64_t samples = 1;
  int64_t boxes = 0;
  int64_t columns = 0;
  bool columns_first = false;  ///< [samples, columns, boxes]
  BoxCorners corners = BoxCorners::kCentre;
  int64_t box = 0;      ///< the first of the four columns of the box
  int64_t score = -1;   ///< -1: 1
  int64_t label = -1;   ///< the column that holds the class; -1: the best of `classes`, or 0
  int64_t scores = -1;  ///< the first column of scores of classes, which go to the end; -1: none
};

/// Why an output of that shape, with one axis or more, does not fit kBoxes; empty: it fits.
std::string WhyNotBoxes(const DecisionPlan& decision, const Dims& dims);

/// Of a shape that fits.
BoxLayout LayoutOfBoxes(const DecisionPlan& decision, const Dims& dims);

}  // namespace vernier
