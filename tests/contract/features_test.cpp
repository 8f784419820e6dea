// UP Function Features as a set (TS 29.244 8.2.25): what each plane's associations advertise, and
// the tests that prove it. A bit that is set and has no proof fails here, and so does a proof that
// is not to be found, or that proves what nobody advertises.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "netlink/gtp5g/plane.hpp"
#include "src/control/features.hpp"
#include "upf/pfcp/codec.hpp"
#include "upf/userplane/user_plane.hpp"

namespace upf::control {
namespace {

using Features = pfcp::UpFunctionFeatures;

constexpr const char* kControl = "unit/control/promises_test.cpp";
constexpr const char* kProcedures = "unit/control/procedures_test.cpp";
constexpr const char* kEstablishment = "unit/session/establishment_test.cpp";
constexpr const char* kModification = "unit/session/modification_test.cpp";
constexpr const char* kUsage = "unit/usage/engine_test.cpp";
constexpr const char* kPlanes = "contract/data_plane_contract.hpp";
constexpr const char* kUserspace = "unit/userplane/packet_path_test.cpp";
constexpr const char* kGtp5g = "standin/buffer_test.cpp";

struct Proof {
  const char* file;
  const char* test;
};
struct Row {
  const char* name;
  bool Features::*bit;
  std::vector<Proof> proofs;
};

// Of a feature that the control half promises alone, the test of the control half; of one that the
// plane keeps, a test of each plane that has it.
const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {"BUCP",
       &Features::bucp,
       {{kControl, "DownlinkDataMayBeBufferedInTheCpFunction"},
        {kUserspace, "RouterSolicitationsReachTheCpFunctionAndItsPacketsTheUe"}}},
      {"DDND",
       &Features::ddnd,
       {{kControl, "ABarsDelayReachesThePlane"},
        {kUserspace, "ABarDelaysTheNotificationAndBoundsTheQueue"},
        {kGtp5g, "WaitsForTheBarsDelayAndKeepsToItsCount"}}},
      {"FTUP",
       &Features::ftup,
       {{kEstablishment, "ChooseIdsShareATeidAndAreToldBack"},
        {"e2e/test_sessions.py", "test_choose_gives_a_teid_of_ours_in_created_pdr"}}},
      {"PFDM",
       &Features::pfdm,
       {{kProcedures, "TheFlowsOfAnApplicationAreInItsPdrsAndFollowTheirChange"}}},
      {"PFDE", &Features::pfde, {{kControl, "APfdMayHaveSeveralFlows"}}},
      {"EMPU", &Features::empu, {{kPlanes, "AHandoverSendsOneEndMarkerToTheOldTunnel"}}},
      {"PDIU", &Features::pdiu, {{kEstablishment, "TrafficEndpointsGiveTheirPdrsWhatTheyHave"}}},
      {"QUOAC",
       &Features::quoac,
       {{kUsage, "AFarForQuotaActionTakesOver"},
        {"e2e/test_rules.py", "test_a_used_up_quota_has_its_own_far_in_force"}}},
      {"FRRT",
       &Features::frrt,
       {{kEstablishment, "PrefixesOfUesAndFramedRoutes"},
        {kUserspace, "FramedRoutesByLongestPrefix"}}},
      {"ADPDP", &Features::adpdp, {{kModification, "PredefinedRulesAreActivatedAndDeactivated"}}},
      {"UEIP",
       &Features::ueip,
       {{kEstablishment, "UeAddressesAreChosenOncePerSessionAndReturned"},
        {kEstablishment, "DelegatedPrefixesAreAsLongAsAsked"}}},
      {"SSET", &Features::sset, {{kProcedures, "SetModificationMovesTheReportsToAnotherSmf"}}},
      {"MPAS", &Features::mpas, {{kProcedures, "AnotherSmfOfTheSetGoesOnWithASession"}}},
      {"MNOP", &Features::mnop, {{kControl, "PacketsAreCountedWhereTheUrrAsks"}}},
      {"BUNDL", &Features::bundl, {{kControl, "BundledRequestsAreAnsweredOneByOne"}}},
      {"VTIME", &Features::vtime, {{kUsage, "QuotaValidityNeedsItsTrigger"}}},
      {"RESPS", &Features::resps, {{kControl, "SessionsOfASetAreMovedByEachOfTheirNames"}}},
  };
  return all;
}

struct Plane {
  const char* name;
  dataplane::Capabilities can;
};
std::vector<Plane> planes() {
  return {{"gtp5g", gtp5g::Plane::abilities()}, {"userspace", userplane::UserPlane::abilities({})}};
}

/// With everything configured that a feature depends on.
session::Settings everything() {
  session::Settings settings;
  settings.pools = {{"internet", *parse_ip_prefix("10.60.0.0/16")}};
  settings.predefined["gold"] = {};
  return settings;
}

std::string read(const std::string& path) {
  std::ifstream in{std::string{KUPF_SOURCE_DIR "/tests/"} + path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// `TEST_F(Suite, Name)` or `def name(`.
bool has_test(const Proof& proof) {
  const std::string text = read(proof.file);
  return text.find(", " + std::string{proof.test} + ")") != std::string::npos ||
         text.find("def " + std::string{proof.test} + "(") != std::string::npos;
}

TEST(UpFunctionFeatures, EveryBitThatAPlaneAdvertisesIsProven) {
  for (const Plane& plane : planes()) {
    const Features advertised = features_of(plane.can, everything());
    Features proven;
    for (const Row& row : rows()) proven.*row.bit = advertised.*row.bit;
    // Compared as a whole: a bit that no row knows is left.
    EXPECT_EQ(pfcp::to_string(advertised), pfcp::to_string(proven)) << plane.name;
    EXPECT_EQ(pfcp::encode(advertised), pfcp::encode(proven)) << plane.name;
  }
}

TEST(UpFunctionFeatures, EveryProofIsThere) {
  for (const Row& row : rows()) {
    EXPECT_FALSE(row.proofs.empty()) << row.name;
    for (const Proof& proof : row.proofs) {
      EXPECT_TRUE(has_test(proof)) << row.name << ": no " << proof.test << " in " << proof.file;
    }
    const auto all = planes();
    EXPECT_TRUE(std::ranges::any_of(
        all, [&](const Plane& plane) { return features_of(plane.can, everything()).*row.bit; }))
        << row.name << " is advertised by no plane";
  }
}

std::string names_of(const Features& features) {
  std::string names;
  for (const Row& row : rows()) {
    if (features.*row.bit) names += (names.empty() ? "" : " ") + std::string{row.name};
  }
  return names;
}

// What peers are told, so that a change of it is seen.
TEST(UpFunctionFeatures, OfEachPlane) {
  const auto of = [](const dataplane::Capabilities& can, const session::Settings& settings) {
    return names_of(features_of(can, settings));
  };
  EXPECT_EQ(of(gtp5g::Plane::abilities(), {}),
            "DDND FTUP PFDM PFDE EMPU PDIU QUOAC SSET MPAS MNOP BUNDL VTIME RESPS");
  EXPECT_EQ(of(userplane::UserPlane::abilities({}), everything()),
            "BUCP DDND FTUP PFDM PFDE EMPU PDIU QUOAC FRRT ADPDP UEIP SSET MPAS MNOP BUNDL VTIME "
            "RESPS");
  EXPECT_EQ(of({}, {}), "FTUP PFDM PFDE PDIU SSET MPAS MNOP BUNDL VTIME RESPS")
      << "what is promised whatever the plane";
}

}  // namespace
}  // namespace upf::control
