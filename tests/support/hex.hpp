#pragma once

#include <cctype>
#include <string>
#include <string_view>

#include "upf/wire/cursor.hpp"

namespace upf::test {

/// "21 32 00" or "213200"; what is not a hexadecimal digit is skipped.
inline wire::Octets octets_of(std::string_view hex) {
  wire::Octets octets;
  int high = -1;
  for (const char c : hex) {
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) continue;
    const int digit = std::isdigit(static_cast<unsigned char>(c)) != 0
                          ? c - '0'
                          : std::tolower(static_cast<unsigned char>(c)) - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      octets.push_back(static_cast<std::uint8_t>(high * 16 + digit));
      high = -1;
    }
  }
  return octets;
}

inline std::string hex_of(wire::Bytes octets) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t octet : octets) {
    if (!text.empty()) text += ' ';
    text += kDigits[octet >> 4U];
    text += kDigits[octet & 0xfU];
  }
  return text;
}

}  // namespace upf::test
