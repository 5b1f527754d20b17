// Heat maps: where in a tensor the errors lie.
#pragma once

#include "picture/slices.h"
#include "picture/subject.h"

namespace vernier {

/// More pages than this are not drawn of one kind of error; the worst are.
inline constexpr size_t kMostPages = 8;

/// One page of slices with a colour bar. Every element is in some cell, and a cell shows the worst
/// of its elements; not a number, infinite and (on a logarithmic scale) equal cells have colours of
/// their own. All pages of a kind share one scale, linear for absolute errors and logarithmic for
/// relative ones. Errors are those of VisitDifferences.
Result<Figure> DrawHeatmap(const PictureSubject& subject, ErrorKind kind, const SliceLayout& layout,
                           const ErrorSurvey& survey, int64_t page, const Typeface& typeface);

/// Is this kind of error drawn on a logarithmic scale? Relative errors are, unless they are all the
/// same or all zero.
bool IsLogarithmic(ErrorKind kind, const ErrorRange& range);

/// "Absolute Error | y", as Polygraphy calls it; `logarithmic` adds " (Log Scale)".
std::string HeatmapName(ErrorKind kind, std::string_view output, bool logarithmic);

}  // namespace vernier
