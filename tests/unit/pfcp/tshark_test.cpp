// Everything we write, read by another decoder: tshark must find nothing malformed and have no
// warning to give.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/unit/pfcp/vectors.hpp"
#include "upf/pfcp/ies/common.hpp"

namespace upf::pfcp::test {
namespace {

bool have_tshark() { return std::system("tshark --version > /dev/null 2>&1") == 0; }

void put(std::ofstream& out, Bytes octets) {
  out.write(reinterpret_cast<const char*>(octets.data()),
            static_cast<std::streamsize>(octets.size()));
}
void put_u32(std::ofstream& out, std::uint32_t value) {  // pcap: the byte order of who writes
  out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Raw IPv4 and UDP to port 8805 around the payload, without checksums.
Octets packet_of(const Octets& payload) {
  wire::Writer out;
  out.put(upf::test::octets_of("4500"));
  out.be(static_cast<std::uint16_t>(28 + payload.size()));
  out.put(upf::test::octets_of("0000 0000 4011 0000 c0000201 c0000202 2265 2265"));
  out.be(static_cast<std::uint16_t>(8 + payload.size()));
  out.be(std::uint16_t{0});
  out.put(payload);
  return std::move(out).take();
}

void write_capture(const std::string& file, const std::vector<Octets>& datagrams) {
  std::ofstream out{file, std::ios::binary};
  put_u32(out, 0xa1b2c3d4);
  put_u32(out, 4U << 16U | 2U);  // version 2.4, written in one go
  for (const std::uint32_t value : {0U, 0U, 65535U, 101U}) put_u32(out, value);
  for (const Octets& datagram : datagrams) {
    const Octets packet = packet_of(datagram);
    const auto size = static_cast<std::uint32_t>(packet.size());
    for (const std::uint32_t value : {0U, 0U, size, size}) put_u32(out, value);
    put(out, packet);
  }
}

std::string output_of(const std::string& command) {
  std::string text;
  std::array<char, 256> line{};
  FILE* pipe = ::popen(command.c_str(), "r");
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) text += line.data();
  ::pclose(pipe);
  return text;
}

/// Every vector as we write it. tshark 4.0 can't read the eight octets of validity time in a Packet
/// Rate Status (8.2.139).
std::vector<Octets> all_written() {
  std::vector<Octets> datagrams;
  for (const Vector& vector : all_vectors()) {
    if (vector.name.find("packet_rate_status") != std::string::npos) continue;
    const auto frame = decode_header(vector.octets);
    AnyMessage message{*find_message(frame->header.type)};
    EXPECT_TRUE(message.decode(frame->body));
    datagrams.push_back(
        message.encode({frame->header.seid, frame->header.sequence, frame->header.priority}));
  }
  return datagrams;
}

TEST(Tshark, ReadsAllWeWrite) {
  if (!have_tshark()) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "CI must run this test";
    GTEST_SKIP() << "needs tshark";
  }
  const std::string file = testing::TempDir() + "pfcp_written.pcap";
  const std::vector<Octets> datagrams = all_written();
  write_capture(file, datagrams);
  const std::string read = "tshark -r " + file + " -d udp.port==8805,pfcp 2> /dev/null ";
  const std::string messages = output_of(read + "-Y pfcp -T fields -e pfcp.msg_type | wc -l");
  EXPECT_EQ(std::stoul(messages), datagrams.size());
  // 0x600000 is the severity "warning".
  EXPECT_EQ(output_of(read + "-Y '_ws.malformed or _ws.expert.severity >= 0x600000'"), "");
  std::remove(file.c_str());
}

}  // namespace
}  // namespace upf::pfcp::test
