// What the control half has to say: nothing of an idle day, and of nobody more than the SMF's own
// names.
#include <algorithm>

#include "unit/control/support.hpp"

namespace upf::control::test {
namespace {

using Log = UpFunctionTest;

/// Lines that an operator sees at the level that is the default.
std::size_t lines(const Output& output) {
  return static_cast<std::size_t>(std::ranges::count_if(
      output.log, [](const LogRecord& record) { return record.level >= LogRecord::Level::Info; }));
}

TEST_F(Log, AnIdleDayIsNotALine) {
  Settings beating = settings();
  beating.heartbeat_interval = seconds{30};
  restart(beating);
  associate();
  establish();
  std::size_t said = 0;
  std::size_t beats = 0;
  for (int second = 10; second <= 86400; second += 10) {
    const Output due = at(seconds{second});
    said += lines(due);
    for (const auto& sent : due.send) {
      ++beats;
      said += lines(reply(sent, pfcp::HeartbeatResponse{.recovery_time_stamp = {1000}}));
    }
    // And the SMF's own, once a minute.
    if (second % 60 == 0)
      said += lines(send(pfcp::HeartbeatRequest{.recovery_time_stamp = {1000}}));
  }
  EXPECT_GT(beats, 2800U);
  EXPECT_EQ(said, 0U);
  EXPECT_EQ(plane.session_count(), 1U);
}

TEST_F(Log, ASilentSmfIsALineAndNotOneAHeartbeat) {
  Settings beating = settings();
  beating.heartbeat_interval = seconds{30};
  restart(beating);
  associate();
  std::size_t said = 0;
  for (int second = 1; second <= 86400; ++second) said += lines(at(seconds{second}));
  EXPECT_GE(said, 1U);
  EXPECT_LE(said, 3U);
}

// A node's and a session's requests alike: the line is what the operator is told of the refusal.
TEST_F(Log, ARefusalIsServedWithItsReasonAndTheLineSaysIt) {
  associate();
  plane.fail_call(0, {dataplane::Failure::Kind::Refused, FarId{2}, "no"});
  const Output node = datagram({0x20, 5, 0, 4, 0, 0, 99, 0});  // a setup without a Node ID
  const Output stranger = send(pfcp::SessionModificationRequest{}, Seid{5});
  const Output rule = send(establishment(), Seid{});
  for (const Output* output : {&node, &stranger, &rule}) {
    ASSERT_EQ(output->served.size(), 1U);
    ASSERT_TRUE(output->served[0].refusal.has_value());
    ASSERT_EQ(output->log.size(), 1U);
    EXPECT_EQ(output->log[0].text, "refused: " + session::to_string(*output->served[0].refusal));
  }
  EXPECT_NE(node.log[0].text.find("Mandatory IE missing, offending IE Node ID"), std::string::npos);
  EXPECT_EQ(stranger.log[0].seid, Seid{5});
  EXPECT_EQ(rule.served[0].type, pfcp::MessageType::SessionEstablishmentRequest);
  EXPECT_EQ(rule.served[0].peer, kSmf);
  EXPECT_EQ(rule.served[0].peer_seid, kCpSeid);
  EXPECT_EQ(session::to_string(rule.served[0].refusal->failed_rule.value()), "FAR 2");
  const Output accepted = send(establishment(), Seid{});
  ASSERT_EQ(accepted.served.size(), 1U);
  EXPECT_FALSE(accepted.served[0].refusal.has_value());
}

// TS 29.244 8.2.101: who the subscriber is stays out of the log.
TEST_F(Log, NamesOfSubscribersAreNotWritten) {
  associate();
  pfcp::SessionEstablishmentRequest request = establishment();
  request.user_id =
      pfcp::UserId{.imsi = "\x02\x08\x39\x10\x32\x54\x76\xf8", .nai = "ann@example.org"};
  Output output = send(request, Seid{});
  const Seid seid = answer<pfcp::SessionEstablishmentResponse>(output).up_f_seid.value().seid;
  const Output end = send(pfcp::SessionDeletionRequest{}, seid);
  output.log.insert(output.log.end(), end.log.begin(), end.log.end());
  EXPECT_GE(output.log.size(), 2U);
  for (const LogRecord& record : output.log) {
    const std::string all = record.procedure + record.text + record.peer + record.ue_address;
    EXPECT_EQ(all.find("2089301234567"), std::string::npos) << all;
    EXPECT_EQ(all.find("ann@"), std::string::npos) << all;
  }
}

}  // namespace
}  // namespace upf::control::test
