// The functions of Indirect, for the source that instantiates them: `template class Indirect<T>;`.
#pragma once

#include <memory>
#include <utility>

#include "vernier/indirect.h"

namespace vernier {

template <typename T>
Indirect<T>::Indirect() : value_(std::make_unique<T>()) {}
template <typename T>
Indirect<T>::Indirect(const T& value) : value_(std::make_unique<T>(value)) {}
template <typename T>
Indirect<T>::Indirect(const Indirect& other) : value_(std::make_unique<T>(*other)) {}
template <typename T>
Indirect<T>::Indirect(Indirect&& other) : value_(std::make_unique<T>(std::move(*other))) {}
template <typename T>
Indirect<T>& Indirect<T>::operator=(const Indirect& other) {
  *value_ = *other;
  return *this;
}
template <typename T>
Indirect<T>& Indirect<T>::operator=(Indirect&& other) {
  *value_ = std::move(*other);  // references to the value stay valid
  return *this;
}
template <typename T>
Indirect<T>::~Indirect() = default;

}  // namespace vernier
