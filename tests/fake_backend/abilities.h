// What the fake backend says that it can do (behaviour.h), and how it does it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "behaviour.h"
#include "vernier/backend_abi.h"

namespace fake {

/// vn_backend_api.option_at without its status: false behind the end of the list. `out` is filled
/// as far as the host has room.
bool DescribeOption(const Behaviour& behaviour, size_t index, vn_option_info* out);

/// Does a session understand this option?
bool IsOption(const Behaviour& behaviour, std::string_view key);

/// An option that says something that the host can say by itself is logged; others are not, as
/// false.
bool LogMeaning(const Behaviour& behaviour, const vn_host& host, const vn_option& option);

/// What vn_backend_api.model_formats and .traits answer.
vn_str FormatsOf(const Behaviour& behaviour);
uint32_t TraitsOf(const Behaviour& behaviour);

/// Cuts a table off where one of an older minor version ends, for the lies that say so.
void MakeOlder(std::string_view lie, vn_backend_api& api);

/// Its neutral environment of that number; empty behind the end of the list.
std::string_view NeutralEnvironment(const Behaviour& behaviour, size_t index);

/// Was a session or its process given a neutral setting?
bool IsNeutral(std::string_view key);
bool HasNeutralEnvironment();

/// A file of layers for the roles that name one; any other option is passed over.
void WriteLayers(std::string_view key, std::string_view path);

}  // namespace fake
