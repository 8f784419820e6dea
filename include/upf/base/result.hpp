#pragma once

#include <tl/expected.hpp>
#include <utility>

namespace upf {

/// A value or the reason there is none. Every function that returns one is [[nodiscard]] (the
/// class itself can't be, see src/adr/0002), which tests/lint checks.
template <class T, class E>
using Result = tl::expected<T, E>;

/// `return failure(error);`
template <class E>
[[nodiscard]] constexpr auto failure(E&& error) {
  return tl::make_unexpected(std::forward<E>(error));
}

}  // namespace upf
