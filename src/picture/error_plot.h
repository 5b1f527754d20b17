// The error metrics plot: how errors grow with the size of the values.
#pragma once

#include "picture/subject.h"

namespace vernier {

/// |B| against the absolute error (linear) and the relative error (logarithmic), one panel above
/// the other, as Polygraphy's. Elements are counted in small squares whose colour is their number,
/// so that a billion of them is no slower to look at than a hundred. An element above the dashed
/// line is outside both tolerances. What cannot be drawn (NaN, infinities) is counted below.
/// `survey` is that of the same source. Errors are those of VisitDifferences.
Result<Figure> DrawErrorPlot(const PictureSubject& subject, const ErrorSurvey& survey,
                             const Typeface& typeface);

}  // namespace vernier
