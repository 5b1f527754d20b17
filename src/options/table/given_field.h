// What was given for a field of a plan, asked for by the field itself and not by the name of an
// option: a field that is not there does not compile.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "options/table/option_values.h"
#include "options/table/parsed_args.h"

namespace vernier {

/// Does the row set this field, by Sets(), Saves() or the like?
template <auto Member>
bool SetsField(const OptionRow& row) {
  const auto set = row.sets.set;
  if constexpr (std::same_as<
                    std::decay_t<decltype(std::declval<binding_detail::Owner<Member>>().*Member)>,
                    std::string>) {
    if (set == Saves<Member>().set || set == SavesFolder<Member>().set) return true;
  }
  return set == Sets<Member>().set;
}

/// The option that set the field, as it was given last; nullptr: none was.
template <auto Member>
const GivenOption* FindGiven(const ParsedArgs& args) {
  const GivenOption* found = nullptr;
  for (const GivenOption& given : args.given()) {
    if (SetsField<Member>(*given.row)) found = &given;
  }
  return found;
}

template <auto Member>
bool IsGiven(const ParsedArgs& args) {
  return FindGiven<Member>(args) != nullptr;
}

/// The flag by which it was given, for messages; empty: it was not.
template <auto Member>
std::string_view FlagOf(const ParsedArgs& args) {
  const GivenOption* const given = FindGiven<Member>(args);
  return given == nullptr ? std::string_view() : given->flag;
}

/// The value of the field, where nothing else of its struct is of interest: its default if no
/// option set it. Words that cannot be read are refused where the struct as a whole is bound.
template <auto Member>
auto ReadField(const ParsedArgs& args, const BindContext& context = {}) {
  binding_detail::Owner<Member> part{};
  for (const GivenOption& given : args.given()) {
    if (SetsField<Member>(*given.row)) (void)given.row->sets.set({given, context}, &part);
  }
  return part.*Member;
}

}  // namespace vernier
