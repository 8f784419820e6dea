#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/session/members.hpp"

/// Values as octets, in as few as they take: numbers without their leading zeros, flags and the
/// presence of optionals one bit each. Only the process that packed them unpacks them: there is no
/// version, and nothing is checked.
namespace upf::session {

class Packer {
 public:
  explicit Packer(std::vector<std::uint8_t>& out) : out_(out) {}

  void put(bool value) {
    if (bit_ == 0) {
      flags_ = out_.size();
      out_.push_back(0);
      bit_ = 1;
    }
    if (value) out_[flags_] |= bit_;
    bit_ = static_cast<std::uint8_t>(bit_ << 1U);
  }
  template <std::unsigned_integral T>
  void put(T value) {
    std::uint64_t left = value;
    for (; left >= 0x80; left >>= 7U) out_.push_back(static_cast<std::uint8_t>(left | 0x80U));
    out_.push_back(static_cast<std::uint8_t>(left));
  }
  template <class T>
  requires std::is_enum_v<T>
  void put(T value) { put(static_cast<std::make_unsigned_t<std::underlying_type_t<T>>>(value)); }
  void put(WallTime value) {
    put(std::bit_cast<std::uint64_t>(std::int64_t{value.time_since_epoch().count()}));
  }
  template <std::size_t N>
  void put(const std::array<std::uint8_t, N>& octets) {
    out_.insert(out_.end(), octets.begin(), octets.end());
  }
  void put(const std::string& text) {
    put(text.empty());
    if (text.empty()) return;
    put(text == text_);
    if (text == text_) return;
    put(text.size());
    out_.insert(out_.end(), text.begin(), text.end());
    text_ = text;
  }
  template <class T>
  void put(const std::vector<T>& all) {
    put(all.size());
    for (const T& one : all) put(one);
  }
  template <class K, class V>
  void put(const std::map<K, V>& all) {
    put(all.size());
    for (const auto& one : all) put(one);
  }
  template <class A, class B>
  void put(const std::pair<A, B>& both) {
    put(both.first);
    put(both.second);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class A, class B>
  void put(const std::variant<A, B>& value) {
    put(value.index() == 1);
    std::visit([this](const auto& held) { this->put(held); }, value);
  }
  template <class T>
  requires requires(const T& value) { members(value); }
  void put(const T& value) {
    std::apply([this](const auto&... each) { (this->put(each), ...); }, members(value));
  }

 private:
  std::vector<std::uint8_t>& out_;
  std::string_view text_{};  ///< the last one that isn't empty: rules name one network many times
  std::size_t flags_{};      ///< where the octet is that takes the next flag
  std::uint8_t bit_{};       ///< which of its bits; 0: an octet has to be begun
};

class Unpacker {
 public:
  explicit Unpacker(const std::uint8_t* octets) : at_(octets) {}

  void get(bool& value) {
    if (bit_ == 0) {
      flags_ = *at_++;
      bit_ = 1;
    }
    value = (flags_ & bit_) != 0;
    bit_ = static_cast<std::uint8_t>(bit_ << 1U);
  }
  template <std::unsigned_integral T>
  void get(T& value) {
    std::uint64_t whole = *at_ & 0x7fU;
    for (unsigned shift = 7; (*at_++ & 0x80U) != 0; shift += 7) {
      whole |= std::uint64_t{*at_ & 0x7fU} << shift;
    }
    value = static_cast<T>(whole);
  }
  template <class T>
  requires std::is_enum_v<T>
  void get(T& value) {
    value = static_cast<T>(next<std::make_unsigned_t<std::underlying_type_t<T>>>());
  }
  void get(WallTime& value) {
    value = WallTime{WallTime::duration{std::bit_cast<std::int64_t>(next<std::uint64_t>())}};
  }
  template <std::size_t N>
  void get(std::array<std::uint8_t, N>& octets) {
    std::memcpy(octets.data(), at_, N);
    at_ += N;
  }
  void get(std::string& text) {
    text.clear();
    if (next<bool>()) return;
    if (!next<bool>()) {
      const auto size = next<std::size_t>();
      text_ = {reinterpret_cast<const char*>(at_), size};
      at_ += size;
    }
    text = text_;
  }
  template <class T>
  void get(std::vector<T>& all) {
    all.resize(next<std::size_t>());
    for (T& one : all) get(one);
  }
  template <class K, class V>
  void get(std::map<K, V>& all) {
    all.clear();
    for (auto left = next<std::size_t>(); left > 0; --left) {
      auto key = next<K>();
      get(all.emplace_hint(all.end(), std::move(key), V{})->second);
    }
  }
  template <class A, class B>
  void get(std::pair<A, B>& both) {
    get(both.first);
    get(both.second);
  }
  template <class T>
  void get(std::optional<T>& value) {
    value.reset();
    if (next<bool>()) get(value.emplace());
  }
  template <class A, class B>
  void get(std::variant<A, B>& value) {
    if (next<bool>()) {
      get(value.template emplace<1>());
    } else {
      get(value.template emplace<0>());
    }
  }
  template <class T>
  requires requires(T& value) { members(value); }
  void get(T& value) {
    std::apply([this](auto&... each) { (this->get(each), ...); }, members(value));
  }

 private:
  template <class T>
  T next() {
    T value{};
    get(value);
    return value;
  }

  const std::uint8_t* at_;
  std::string_view text_{};
  std::uint8_t flags_{};
  std::uint8_t bit_{};
};

}  // namespace upf::session
