// A datagram from anyone: whatever decodes must encode to something that decodes to the same,
// print, and be found by the peeks.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/unit/pfcp/any_message.hpp"
#include "upf/pfcp/ies/common.hpp"

namespace {

using upf::pfcp::Frame;

[[noreturn]] void broken(const char* property, const Frame& frame) {
  std::fprintf(stderr, "%s: %s\n", property, to_string(frame.header.type).c_str());
  std::abort();
}

void check(const Frame& frame) {
  (void)upf::pfcp::peek_node_id(frame.body);
  (void)upf::pfcp::peek_f_seid(frame.body);
  const upf::pfcp::MessageDef* def = upf::pfcp::find_message(frame.header.type);
  if (def == nullptr) return;
  upf::pfcp::test::AnyMessage message{*def};
  if (const auto ok = message.decode(frame.body); !ok) {
    if (to_string(ok.error()).empty()) broken("an error without a text", frame);
    return;
  }
  (void)message.text();
  const auto& header = frame.header;
  const auto octets = message.encode({header.seid, header.sequence, header.priority, false});
  const auto again = upf::pfcp::decode_header(octets);
  if (!again) broken("the header we write is not one", frame);
  upf::pfcp::test::AnyMessage second{*def};
  if (!second.decode(again->body)) broken("what we write does not decode", frame);
  if (!(second == message)) broken("what we write decodes to something else", frame);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)upf::pfcp::describe({data, size});
  auto frame = upf::pfcp::decode_header({data, size});
  while (frame) {
    check(*frame);
    if (frame->rest.empty()) break;
    frame = upf::pfcp::decode_header(frame->rest);
  }
  return 0;
}
