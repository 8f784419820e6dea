#pragma once

#include <memory>
#include <string>

#include "src/pfcp/defs.hpp"

namespace upf::pfcp::test {

/// A message whose type is known at run time only.
class AnyMessage {
 public:
  explicit AnyMessage(const MessageDef& def) : def_(&def), message_(def.create(), def.destroy) {}

  [[nodiscard]] Result<void, DecodeError> decode(Bytes body) {
    return detail::decode_message(*def_, body, message_.get());
  }
  [[nodiscard]] Octets encode(const Envelope& envelope) const {
    wire::Writer out;
    detail::encode_message(*def_, message_.get(), envelope, out);
    return std::move(out).take();
  }
  [[nodiscard]] std::string text() const { return detail::print_message(*def_, message_.get()); }
  bool operator==(const AnyMessage& other) const {
    return def_ == other.def_ && def_->equal(message_.get(), other.message_.get());
  }

 private:
  const MessageDef* def_;
  std::unique_ptr<void, void (*)(void*)> message_;
};

}  // namespace upf::pfcp::test
