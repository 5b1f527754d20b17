// A row as text without a tree of JSON values: of these there are millions. Only for this folder.
#pragma once

#include <string>

#include "vernier/row_record.h"

namespace vernier {

/// RowLine() of a row without decisions and tokens: the same bytes as by way of RecordJson.
std::string PlainRowText(const IterationRow& row);

}  // namespace vernier
