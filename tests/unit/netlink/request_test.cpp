#include "netlink/request.hpp"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include "netlink/gtp5g/requests.hpp"
#include "support/hex.hpp"

namespace upf::netlink {
namespace {

using gtp5g::Target;
using test::hex_of;

constexpr Target kTarget{.family = 0x20, .ifindex = 4};
constexpr Seid kSeid{0xabcdef0102030405};

/// Without the spaces and line breaks that make it readable.
std::string packed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ') out += c;
  }
  return out;
}

std::string bytes_of(const gtp5g::Op& op) {
  const GenlRequest request = to_request(kTarget, kSeid, op);
  EXPECT_FALSE(request.overflowed());
  return packed(hex_of(request.bytes()));
}

TEST(Request, PaddingIsZeroAndLengthsAreRight) {
  GenlRequest request{0x20, 1};
  request.put(Attr<std::uint8_t>{4}, 7);
  request.put(Text{9}, "/");
  EXPECT_EQ(packed(hex_of(request.bytes())), packed("24000000 2000 0500 00000000 00000000 01000000 "
                                                    "05000400 07000000 "
                                                    "06000900 2f000000"));
}

TEST(Request, AnOverflowIsLatchedAndWritesNothing) {
  GenlRequest request{0x20, 1};
  const wire::Octets much(3000, 0xaa);
  request.put(Blob{1}, much);
  EXPECT_FALSE(request.overflowed());
  const auto before = packed(hex_of(request.bytes()));
  request.put(Blob{2}, much);
  EXPECT_TRUE(request.overflowed());
  request.put(Attr<std::uint8_t>{3}, 1);
  request.nest(Nest{4}, [&] { request.put(Attr<std::uint8_t>{5}, 1); });
  EXPECT_EQ(packed(hex_of(request.bytes())), before);
}

// The module's contract, octet by octet: attribute numbers and widths are those that a v0.10.2 took
// and gave back when it was asked for the rule again.
TEST(Gtp5gRequest, UplinkPdr) {
  const gtp5g::CreatePdr op{
      .id = 1,
      .precedence = 65536,
      .body = {.uplink = true,
               .ue_address = Ipv4{{10, 60, 0, 1}},
               .teid = Teid{0x55},
               .local_address = {{10, 0, 3, 1}},
               .flow = gtp5g::KernelFlow{.protocol = 17,
                                         .source = {{{10, 60, 0, 1}}, 32},
                                         .destination = {{{8, 8, 8, 0}}, 24},
                                         .source_ports = {{53, 53}, {1000, 2000}},
                                         .destination_ports = {{0, 65535}}},
               .removal = true},
      .far = 9,
      .qers = {1},
      .urrs = {1, 2}};
  EXPECT_EQ(bytes_of(op),
            packed("ec000000 2000 0502 00000000 00000000 01000000 "  // REQUEST|ACK|EXCL, ADD_PDR
                   "08000100 04000000 "                              // LINK
                   "06000300 01000000 "                              // ID
                   "0c000b00 0504030201efcdab "                      // SEID
                   "08000400 00000100 "                              // PRECEDENCE
                   "7c000580 "                                       // PDI {
                   "05000400 00000000 "                              //   SRC_INTF access
                   "14000280 08000100 55000000 08000200 0a000301 "  //   F_TEID, host order; address
                   "08000100 0a3c0001 "                             //   UE_ADDR
                   "54000380 50000180 "                             //   SDF_FILTER { FLOW {
                   "05000100 01000000 05000200 02000000 "           //     permit, out
                   "05000300 11000000 "                             //     UDP
                   "08000400 0a3c0001 08000500 ffffffff "           //     source, mask
                   "08000600 08080800 08000700 ffffff00 "           //     destination, mask
                   "0c000800 35003500 e803d007 "                    //     source ports
                   "08000900 0000ffff "                             //     destination ports }}}
                   "05000600 00000000 "                             // OUTER_HEADER_REMOVAL
                   "08000800 0a000301 "                             // ROLE_ADDR_IPV4
                   "06000900 2f000000 "                             // UNIX_SOCKET_PATH "/"
                   "08000700 09000000 "                             // FAR_ID
                   "08000a00 01000000 "                             // QER_ID
                   "08000c00 01000000 08000c00 02000000"));         // URR_ID twice
}

TEST(Gtp5gRequest, Far) {
  const gtp5g::KernelFar far{.action = 2,
                             .tunnel = gtp5g::KernelTunnel{{0x11223344}, {{10, 0, 3, 2}}, 2152},
                             .tos = 0xb8,
                             .mark = 7};
  const std::string head =
      "0800010004000000"
      "0800030001000000"
      "0c0007000504030201efcdab"
      "0600040002000000";
  const std::string parameters = packed(
      "38000580 "
      "24000180 06000100 00010000 08000200 44332211 08000300 0a000302 06000400 68080000 "
      "06000200 37000000 "
      "05000400 b8000000");
  EXPECT_EQ(bytes_of(gtp5g::CreateFar{1, far}),
            packed("70000000 2000 0502 00000000 00000000 02000000 ") + head + parameters);
  EXPECT_EQ(bytes_of(gtp5g::UpdateFar{1, far, true}),
            packed("70000000 2000 0501 00000000 00000000 02000000 ") + head + parameters);
  EXPECT_EQ(bytes_of(gtp5g::UpdateFar{1, far, false}),
            packed("38000000 2000 0501 00000000 00000000 02000000 ") + head);
  EXPECT_EQ(
      bytes_of(gtp5g::DeleteFar{1}),
      packed("30000000 2000 0500 00000000 00000000 05000000 08000100 04000000 08000300 01000000 "
             "0c000700 0504030201efcdab"));
}

TEST(Gtp5gRequest, Qer) {
  const gtp5g::KernelQer qer{.gate = 4, .mbr = rules::BitRate{100000, 200001}, .qfi = 9};
  EXPECT_EQ(bytes_of(gtp5g::CreateQer{1, qer}),
            packed("64000000 2000 0502 00000000 00000000 03000000 "
                   "08000100 04000000 08000300 01000000 0c000d00 0504030201efcdab "
                   "05000400 04000000 "  // GATE: uplink closed
                   "24000580 08000100 86010000 05000200 a0000000 "
                   "08000300 0d030000 05000400 41000000 "  // MBR 100000/200001 as 32 + 8 bits
                   "05000900 09000000"));
}

TEST(Gtp5gRequest, TheThreeUrrsOfAUrr) {
  const auto head = [](const char* length, const char* trigger) {
    return packed(std::string{length} +
                  " 2000 0502 00000000 00000000 0a000000 08000100 04000000 08000300 01000000 "
                  "0c000800 0504030201efcdab 05000400 02000000 08000500 " +
                  trigger + " 08000600 01000000 05000700 10000000");
  };
  using Role = gtp5g::UrrKey::Role;
  EXPECT_EQ(bytes_of(gtp5g::CreateUrr{1, Role::Meter, {}}), head("50000000", "01000000"));
  EXPECT_EQ(
      bytes_of(gtp5g::CreateUrr{1, Role::Threshold, {{.total = 0x0f4240, .uplink = 5}}}),
      head("74000000", "02000000") + packed("24000980 05000100 03000000 0c000200 40420f0000000000 "
                                            "0c000300 0500000000000000"));
  // An uplink quota has a total that is never reached: 0 would be used up at once.
  EXPECT_EQ(
      bytes_of(gtp5g::CreateUrr{1, Role::Quota, {{.uplink = 5}}}),
      head("74000000", "00010000") + packed("24000a80 05000100 02000000 0c000200 ffffffffffffffff "
                                            "0c000300 0500000000000000"));
}

}  // namespace
}  // namespace upf::netlink
