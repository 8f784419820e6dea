// What TS 29.244 7.6 says about IEs in general, tried on every IE of every vector: cut short, left
// out, repeated, prolonged, and with strangers among them.

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/pfcp/vectors.hpp"

namespace upf::pfcp::test {
namespace {

class Sweep : public testing::TestWithParam<Vector> {
 protected:
  void SetUp() override {
    const auto frame = decode_header(GetParam().octets);
    ASSERT_TRUE(frame);
    def_ = find_message(frame->header.type);
    ASSERT_NE(def_, nullptr);
    tree_ = parse_tree(def_->members, frame->body);
    ASSERT_EQ(octets_of(tree_), Octets(frame->body.begin(), frame->body.end()));
  }

  struct Outcome {
    Result<void, DecodeError> decoded{};
    bool same{};  ///< as the vector itself
  };
  /// Decodes the tree as it now is.
  Outcome outcome() {
    AnyMessage changed{*def_};
    auto decoded = changed.decode(octets_of(tree_));
    AnyMessage unchanged{*def_};
    EXPECT_TRUE(unchanged.decode(decode_header(GetParam().octets)->body));
    const bool same = decoded && changed == unchanged;
    return {std::move(decoded), same};
  }

  template <class Visit>
  void visit(const Visit& visitor) {
    for_each_node(tree_, def_->members, false, visitor);
  }

  const MessageDef* def_ = nullptr;
  std::vector<Node> tree_{};
};

/// Leaves that are still whole when the last octets are missing: text that fills its IE, and octets
/// that a later release appended.
bool may_be_shorter(const Node& node) {
  static const std::set<IeType> kGrown = {
      IeType::UpFunctionFeatures,
      IeType::CpFunctionFeatures,
      IeType::ApplyAction,
      IeType::ReportingTriggers,
      IeType::UsageReportTrigger,
      IeType::OuterHeaderRemoval,
      IeType::NodeId,
      IeType::MacAddressesDetected,
      IeType::MacAddressesRemoved,
      IeType::UserPlaneIpResourceInformation,
      IeType::FqCsid,
      IeType::GroupId,
      IeType::DlBufferingSuggestedPacketCount,
      IeType::SmfSetId,
      IeType::RedirectInformation,
      IeType::OffendingIeInformation,
  };
  return info(node.type)->length == LengthKind::Variable || kGrown.count(node.type) != 0;
}

TEST_P(Sweep, EveryLeafCutShortIsAnInvalidLengthOfItsType) {
  visit([&](std::vector<Node>& siblings, std::size_t i, std::span<const MemberRow> rows,
            bool removable) {
    Node& node = siblings[i];
    if (node.def == nullptr || node.def->is_group()) return;
    const Octets whole = node.value;
    for (std::size_t length = 0; length < whole.size(); ++length) {
      node.value.resize(length);
      const MemberRow* row = row_of(rows, node.type);
      const bool removes = length == 0 && removable && row->multiplicity != Multiplicity::Mandatory;
      const auto decoded = outcome().decoded;
      if (!decoded) {
        EXPECT_EQ(decoded.error(), (DecodeError{Cause::InvalidLength, node.type, {}}))
            << to_string(decoded.error()) << ", cut to " << length;
      } else {
        EXPECT_TRUE(removes || may_be_shorter(node))
            << to_string(node.type) << " cut to " << length << " of " << whole.size();
      }
      node.value = whole;
    }
  });
}

TEST_P(Sweep, EveryCutOfTheBodyIsRefusedOrWhole) {
  const Octets body = octets_of(tree_);
  for (std::size_t length = 0; length < body.size(); ++length) {
    AnyMessage message{*def_};
    const auto decoded = message.decode(Bytes{body}.first(length));
    if (!decoded) {
      const Cause cause = decoded.error().cause;
      EXPECT_TRUE(cause == Cause::InvalidLength || cause == Cause::MandatoryIeMissing)
          << to_string(decoded.error()) << ", cut to " << length;
    }
  }
}

TEST_P(Sweep, EveryMandatoryIeLeftOutIsNamed) {
  visit([&](std::vector<Node>& siblings, std::size_t i, std::span<const MemberRow> rows, bool) {
    const MemberRow* row = row_of(rows, siblings[i].type);
    if (row == nullptr || row->multiplicity == Multiplicity::Optional ||
        row->multiplicity == Multiplicity::Repeated) {
      return;
    }
    const IeType type = siblings[i].type;
    const std::vector<Node> before = siblings;
    std::erase_if(siblings, [&](const Node& node) { return node.type == type; });
    // A group of an updating group that is left empty means something else (5.6.3).
    const bool nothing_left = siblings.empty() && &siblings != &tree_;
    const auto decoded = outcome().decoded;
    siblings = before;
    if (nothing_left && decoded) return;
    ASSERT_FALSE(decoded) << to_string(type);
    EXPECT_EQ(decoded.error(), (DecodeError{Cause::MandatoryIeMissing, type, {}}))
        << to_string(decoded.error());
  });
}

TEST_P(Sweep, OfAnIeThatMayComeOnceTheFirstCounts) {
  visit([&](std::vector<Node>& siblings, std::size_t i, std::span<const MemberRow> rows, bool) {
    const MemberRow* row = row_of(rows, siblings[i].type);
    if (row == nullptr) return;
    const bool single =
        row->multiplicity == Multiplicity::Mandatory || row->multiplicity == Multiplicity::Optional;
    const std::vector<Node> before = siblings;
    // The second one is not even well-formed: it must not be looked at.
    const Node second = single ? Node{before[i].type, nullptr, {0xff}, {}} : Node{before[i]};
    siblings.push_back(second);
    const Outcome after = outcome();
    siblings = before;
    ASSERT_TRUE(after.decoded) << to_string(before[i].type) << ": "
                               << to_string(after.decoded.error());
    if (single) {
      EXPECT_TRUE(after.same) << to_string(before[i].type);
    }
  });
}

TEST_P(Sweep, StrangersAreSkippedWhereverTheyStand) {
  const Node unknown{static_cast<IeType>(0x7abc), nullptr, {1, 2, 3}, {}};
  const Node empty{static_cast<IeType>(0x7abd), nullptr, {}, {}};
  const Node vendor{static_cast<IeType>(0x8001), nullptr, {0, 0, 0x28, 0xaf, 9, 9}, {}};
  visit([&](std::vector<Node>& siblings, std::size_t i, std::span<const MemberRow>, bool) {
    const std::vector<Node> before = siblings;
    for (const Node& stranger : {unknown, empty, vendor}) {
      siblings.insert(siblings.begin() + static_cast<std::ptrdiff_t>(i), stranger);
      EXPECT_TRUE(outcome().same) << "before " << to_string(before[i].type);
      siblings = before;
    }
    siblings.push_back(unknown);
    EXPECT_TRUE(outcome().same);
    siblings = before;
  });
}

TEST_P(Sweep, LongerValuesAreOfALaterReleaseUnlessTheLengthIsFixed) {
  visit([&](std::vector<Node>& siblings, std::size_t i, std::span<const MemberRow>, bool) {
    Node& node = siblings[i];
    if (node.def == nullptr || node.def->is_group() || may_be_shorter(node)) return;
    if (node.value.empty()) return;  // a removal
    const Octets whole = node.value;
    node.value.push_back(0xff);
    const Outcome after = outcome();
    const IeType type = node.type;
    node.value = whole;
    if (info(type)->length == LengthKind::Fixed) {
      ASSERT_FALSE(after.decoded) << to_string(type);
      EXPECT_EQ(after.decoded.error(), (DecodeError{Cause::InvalidLength, type, {}}));
    } else {
      EXPECT_TRUE(after.same) << to_string(type);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Vectors, Sweep, testing::ValuesIn(all_vectors()),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace upf::pfcp::test
