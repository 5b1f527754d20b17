// Which inputs have a value for each token of a prompt.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "vernier/tensor.h"

namespace vernier {

/// Has an input of this name usually a value for each token? "position_ids", "attention_mask".
bool IsUsuallyPerToken(std::string_view input);

bool IsMaskName(std::string_view input);

/// The name that a model gives the last axis of an input; empty: none, or there is no such input.
std::string LastAxisName(std::span<const TensorInfo> inputs, const std::string& input);

/// Integers of so many axes that are no mask, positions or types of tokens.
bool MayBeTokens(const TensorInfo& input, size_t rank = 2);

/// Whether an input belongs to other tokens than those that the input `tokens` takes, as those of
/// an encoder do. `inputs` are those of the model, as far as it says. By the names of the last
/// axes; else by a name without "decoder_" beside one with it, or with "encoder_" beside one
/// without; else, where axes have no names, by the shape of an input in `feed` that may take other
/// tokens.
bool IsOfOtherTokens(const std::string& input, const std::string& tokens,
                     std::span<const TensorInfo> inputs, const TensorMap& feed);

/// An input that stays as it was, with as many values as the prompt has tokens: does the next token
/// have one of them, rather than all? By its name, or by that of the last axis.
bool HasOneForNextToken(const std::string& input, const std::string& tokens,
                        std::span<const TensorInfo> inputs);

}  // namespace vernier
