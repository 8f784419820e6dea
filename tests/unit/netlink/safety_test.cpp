// The "never send" table, row by row: what is held back, and that what is like it passes.
#include "netlink/gtp5g/safety.hpp"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include <cerrno>
#include <functional>

namespace upf::gtp5g {
namespace {

using netlink::GenlRequest;

constexpr std::uint16_t kFamily = 0x20;

GenlRequest begin(Command command, std::uint16_t flags = 0, std::uint8_t version = 0) {
  GenlRequest request{kFamily, static_cast<std::uint8_t>(command), flags, version};
  request.put(kLink, 4);
  return request;
}

/// A PDR that may be sent, made worse by `edit`.
struct PdrParts {
  std::uint16_t flags = NLM_F_EXCL;
  std::uint8_t version = 0;
  std::optional<std::uint32_t> far = 1;
  bool pdi = true;
  bool side = true;
  bool role = true;
  bool tunnel = true;
  bool removal = true;
  int filters = 1;
  std::optional<std::string> path = "/";
  std::uint32_t qer = 1;
  std::uint32_t urr = 1;
};

GenlRequest add_pdr(const PdrParts& p) {
  GenlRequest request = begin(Command::AddPdr, p.flags, p.version);
  request.put(pdr::kId, 1);
  request.put(pdr::kSeid, 7);
  request.put(pdr::kPrecedence, 255);
  if (p.pdi) {
    request.nest(pdr::kPdi, [&] {
      if (p.side) request.put(pdi::kSourceInterface, 0);
      if (p.tunnel) {
        request.nest(pdi::kFTeid, [&] {
          request.put(f_teid::kTeid, 1);
          request.put(f_teid::kAddress, {});
        });
      }
      for (int i = 0; i < p.filters; ++i) request.nest(pdi::kSdfFilter, [] {});
    });
  }
  if (p.removal) request.put(pdr::kOuterHeaderRemoval, 0);
  if (p.role) request.put(pdr::kRoleAddress, {});
  if (p.path) request.put(pdr::kUnixSocketPath, *p.path);
  if (p.far) request.put(pdr::kFarId, *p.far);
  request.put(pdr::kQerId, p.qer);
  request.put(pdr::kUrrId, p.urr);
  return request;
}

struct FarParts {
  std::uint16_t flags = NLM_F_REPLACE;
  std::uint32_t id = 1;
  bool peer = true;
  std::string policy = "7";
  std::uint8_t sm_flags = 0;
};

GenlRequest add_far(const FarParts& p) {
  GenlRequest request = begin(Command::AddFar, p.flags);
  request.put(far::kId, p.id);
  request.put(far::kSeid, 7);
  request.put(far::kApplyAction, action::kForward);
  request.nest(far::kForwarding, [&] {
    request.nest(forwarding::kOuterHeader, [&] {
      request.put(outer_header::kDescription, outer_header::kGtpuUdpIpv4);
      request.put(outer_header::kTeid, 1);
      if (p.peer) request.put(outer_header::kPeer, {});
      request.put(outer_header::kPort, 2152);
    });
    request.put(forwarding::kPolicy, p.policy);
    request.put(forwarding::kSmReqFlags, p.sm_flags);
  });
  return request;
}

GenlRequest add_urr(std::uint32_t trigger, std::uint16_t flags = NLM_F_EXCL, std::uint32_t id = 1) {
  GenlRequest request = begin(Command::AddUrr, flags);
  request.put(urr::kId, id);
  request.put(urr::kSeid, 7);
  request.put(urr::kTrigger, trigger);
  return request;
}

GenlRequest add_qer(std::uint16_t flags, std::uint32_t id = 1) {
  GenlRequest request = begin(Command::AddQer, flags);
  request.put(qer::kId, id);
  request.put(qer::kSeid, 7);
  return request;
}

GenlRequest remove(Command command, U32 id, U64 seid) {
  GenlRequest request = begin(command);
  request.put(id, 1);
  request.put(seid, 7);
  return request;
}

GenlRequest multi_reports(std::uint32_t count, std::vector<std::uint32_t> urrs, bool count_first) {
  GenlRequest request = begin(Command::GetMultiReports);
  if (count_first) request.put(urr::kCount, count);
  for (const std::uint32_t id : urrs) {
    request.nest(urr::kSeidAndId, [&] {
      request.put(urr::kId, id);
      request.put(urr::kSeid, 7);
    });
  }
  if (!count_first) request.put(urr::kCount, count);
  return request;
}

/// FAR, QER and URR 1 of session 7 are installed, and PDR 1 that uses them if asked for.
class Safety : public testing::Test {
 protected:
  Safety() {
    for (const GenlRequest& request :
         {add_far({.flags = NLM_F_EXCL}), add_qer(NLM_F_EXCL), add_urr(urr::kTriggerPeriodic)}) {
      EXPECT_EQ(verdict(request), std::nullopt);
      mirror.settle(request, 0);
    }
  }
  void install_pdr() { mirror.settle(add_pdr({}), 0); }
  [[nodiscard]] std::optional<Hazard> verdict(const GenlRequest& request) const {
    return mirror.check({&request, 1});
  }
  KernelMirror mirror;
};

TEST_F(Safety, PdrWithoutFar) {
  // cases.md 8
  EXPECT_EQ(verdict(add_pdr({})), std::nullopt);
  EXPECT_EQ(verdict(add_pdr({.far = std::nullopt})), Hazard::PdrWithoutFar);
  EXPECT_EQ(verdict(add_pdr({.flags = NLM_F_REPLACE, .far = std::nullopt})), Hazard::PdrWithoutFar);
}
TEST_F(Safety, PdrWithoutPdi) {
  EXPECT_EQ(verdict(add_pdr({.pdi = false})), Hazard::PdrWithoutPdi);
}
TEST_F(Safety, PdrUpdate) {
  install_pdr();
  EXPECT_EQ(verdict(add_pdr({.flags = NLM_F_REPLACE})), Hazard::PdrUpdate);
}
TEST_F(Safety, PdrWithoutSide) {
  EXPECT_EQ(verdict(add_pdr({.side = false})), Hazard::PdrWithoutSide);
  EXPECT_EQ(verdict(add_pdr({.role = false})), Hazard::PdrWithoutSide);
}
TEST_F(Safety, TunnelWithoutRemoval) {
  EXPECT_EQ(verdict(add_pdr({.removal = false})), Hazard::TunnelWithoutRemoval);
  EXPECT_EQ(verdict(add_pdr({.tunnel = false, .removal = false})), std::nullopt);
}
TEST_F(Safety, GenlVersion) {
  EXPECT_EQ(verdict(add_pdr({.version = 1})), Hazard::GenlVersion);
  EXPECT_EQ(verdict(begin(Command::GetPdr, 0, 1)), Hazard::GenlVersion);
}
TEST_F(Safety, SocketPath) {
  EXPECT_EQ(verdict(add_pdr({.path = std::string(200, 'x')})), Hazard::SocketPath);
  EXPECT_EQ(verdict(add_pdr({.path = "/tmp/x"})), Hazard::SocketPath);
  EXPECT_EQ(verdict(add_pdr({.path = std::nullopt})), Hazard::SocketPath);
}
TEST_F(Safety, SeveralFilters) {
  // cases.md 40
  EXPECT_EQ(verdict(add_pdr({.filters = 2})), Hazard::SeveralFilters);
  EXPECT_EQ(verdict(add_pdr({.filters = 0})), std::nullopt);
}
TEST_F(Safety, DanglingReference) {
  // cases.md 9
  EXPECT_EQ(verdict(add_pdr({.far = 2})), Hazard::DanglingReference);
  EXPECT_EQ(verdict(add_pdr({.qer = 2})), Hazard::DanglingReference);
  EXPECT_EQ(verdict(add_pdr({.urr = 2})), Hazard::DanglingReference);
}
TEST_F(Safety, BarUpdate) {
  // cases.md 45
  EXPECT_EQ(verdict(begin(Command::AddBar, NLM_F_REPLACE)), Hazard::BarUpdate);
  EXPECT_EQ(verdict(begin(Command::AddBar, NLM_F_EXCL)), std::nullopt);
}
TEST_F(Safety, UpdateThatFails) {
  // cases.md 46, 47
  install_pdr();
  EXPECT_EQ(verdict(add_far({})), std::nullopt);
  EXPECT_EQ(verdict(add_far({.id = 2})), Hazard::UpdateThatFails);
  EXPECT_EQ(verdict(add_far({.peer = false})), Hazard::UpdateThatFails);
  for (const std::string policy : {"", "0", "007", "internet", "7x", "-5", "42949672960"}) {
    EXPECT_EQ(verdict(add_far({.policy = policy})), Hazard::UpdateThatFails) << policy;
  }
  EXPECT_EQ(verdict(add_qer(NLM_F_REPLACE)), std::nullopt);
  EXPECT_EQ(verdict(add_qer(NLM_F_REPLACE, 2)), Hazard::UpdateThatFails);
  EXPECT_EQ(verdict(add_urr(1, NLM_F_REPLACE)), std::nullopt);
  EXPECT_EQ(verdict(add_urr(1, NLM_F_REPLACE, 2)), Hazard::UpdateThatFails);
}
TEST_F(Safety, EndMarkerUnused) {
  EXPECT_EQ(verdict(add_far({.sm_flags = 2})), Hazard::EndMarkerUnused);
  install_pdr();
  EXPECT_EQ(verdict(add_far({.sm_flags = 2})), std::nullopt);
}
TEST_F(Safety, ReportCount) {
  EXPECT_EQ(verdict(multi_reports(1, {1}, true)), std::nullopt);
  EXPECT_EQ(verdict(multi_reports(2, {1}, true)), Hazard::ReportCount);
  EXPECT_EQ(verdict(multi_reports(0, {1}, true)), Hazard::ReportCount);
  EXPECT_EQ(verdict(multi_reports(1, {1}, false)), Hazard::ReportCount);
  EXPECT_EQ(verdict(begin(Command::GetMultiReports)), Hazard::ReportCount);
}
TEST_F(Safety, ReportOfNoUrr) {
  EXPECT_EQ(verdict(multi_reports(2, {1, 2}, true)), Hazard::ReportOfNoUrr);
}
TEST_F(Safety, ThresholdWithQuota) {
  EXPECT_EQ(verdict(add_urr(urr::kTriggerThreshold | urr::kTriggerQuota)),
            Hazard::ThresholdWithQuota);
}
TEST_F(Safety, UrrWithoutTrigger) { EXPECT_EQ(verdict(add_urr(0)), Hazard::UrrWithoutTrigger); }
TEST_F(Safety, DeletedWhileInUse) {
  install_pdr();
  const std::vector<GenlRequest> rules{remove(Command::DelFar, far::kId, far::kSeid),
                                       remove(Command::DelQer, qer::kId, qer::kSeid)};
  for (const GenlRequest& rule : rules) EXPECT_EQ(verdict(rule), Hazard::DeletedWhileInUse);
  GenlRequest del_pdr = begin(Command::DelPdr);
  del_pdr.put(pdr::kId, 1);
  del_pdr.put(pdr::kSeid, 7);
  std::vector<GenlRequest> in_order{remove(Command::DelUrr, urr::kId, urr::kSeid), del_pdr};
  in_order.insert(in_order.end(), rules.begin(), rules.end());
  EXPECT_EQ(mirror.check(in_order), std::nullopt);
  for (const GenlRequest& request : in_order) mirror.settle(request, 0);
  EXPECT_EQ(mirror.sessions(), 0U);
}
TEST_F(Safety, UnknownCommand) {
  EXPECT_EQ(verdict(begin(static_cast<Command>(0))), Hazard::UnknownCommand);
  EXPECT_EQ(verdict(begin(static_cast<Command>(21))), Hazard::UnknownCommand);
  EXPECT_EQ(verdict(begin(Command::Event)), Hazard::UnknownCommand);
}

TEST_F(Safety, AFailedUpdateIsRememberedAsGone) {
  mirror.settle(add_far({}), EINVAL);
  EXPECT_EQ(verdict(add_far({})), Hazard::UpdateThatFails);
  EXPECT_EQ(verdict(add_pdr({})), Hazard::DanglingReference);
}

TEST_F(Safety, AFailedCreationIsNotThere) {
  mirror.settle(add_pdr({}), ENOMEM);
  EXPECT_EQ(verdict(remove(Command::DelFar, far::kId, far::kSeid)), std::nullopt);
}

TEST(SafetyTable, EveryHazardHasItsWords) {
  std::set<std::string_view> words;
  for (std::size_t i = 0; i < kHazards; ++i) words.insert(describe(static_cast<Hazard>(i)));
  EXPECT_EQ(words.size(), kHazards);
  EXPECT_FALSE(words.contains("unknown"));
  EXPECT_EQ(describe(static_cast<Hazard>(kHazards)), "unknown");
}

}  // namespace
}  // namespace upf::gtp5g
