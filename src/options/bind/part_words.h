// The structs of a plan as the words of options that fill them.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "options/table/option_table.h"

namespace vernier {

/// A struct to read; see BindTarget.
struct WordsSource {
  template <typename Part>
  WordsSource(const Part& filled) : tag(&kPartTag<Part>), part(&filled) {}  // NOLINT: as BindTarget

  PartTag tag;
  const void* part;
};

/// Appends what a command line says for an option with these values: "--flag=-1" where the value
/// would be taken for a flag, of a positional the values alone.
void AddOptionWords(const OptionRow& row, const OptionWords& given,
                    std::vector<std::string>& words);

/// Appends the words of all options of `table` that have an inverse (Binding::words), in its order.
/// Of rows with the same dest the first one speaks for all. Where nothing differs from a new
/// struct there are no words.
void AddPartWords(const OptionTable& table, std::initializer_list<WordsSource> sources,
                  std::vector<std::string>& words);

}  // namespace vernier
