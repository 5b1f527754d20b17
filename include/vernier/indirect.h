// A member whose type the header only forward-declares, so that including the struct does not
// include the member's header.
#pragma once

#include <memory>

namespace vernier {

/// Holds a T and copies it with itself, as std::indirect of C++26 does; T may be incomplete. Never
/// empty: after a move it holds a moved-from T. The functions are instantiated in one source for
/// each T, with indirect-inl.h.
template <typename T>
class Indirect {
 public:
  Indirect();
  Indirect(const T& value);  // NOLINT(google-explicit-constructor): is one
  Indirect(const Indirect& other);
  Indirect(Indirect&& other);  // NOLINT: allocates, as `other` keeps a value
  Indirect& operator=(const Indirect& other);
  Indirect& operator=(Indirect&& other);
  ~Indirect();

  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  operator const T&() const { return *value_; }  // NOLINT(google-explicit-constructor)

 private:
  std::unique_ptr<T> value_;
};

}  // namespace vernier
