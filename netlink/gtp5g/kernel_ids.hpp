#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "upf/base/ids.hpp"

namespace upf::gtp5g {

/// IDs of kernel rules that must not collide beyond their own session.
///
/// The module finds rules by SEID and ID, but two of its walks look at less:
///  - exhausting a quota turns to DROP the FARs of every PDR in the URR's hash bucket that lists a
///    URR of that number, whosever session it is in (urr.c, urr_quota_exhaust_action). So a URR's
///    number is used once in the whole link.
///  - deleting a QER switches policing off for every PDR in the QER's hash bucket (qer.c,
///    set_pdr_qer_with_rate_null). So QER numbers are chosen to be alone in their bucket, which can
///    be done because the bucket is a plain hash of SEID and number.
class KernelIds {
 public:
  explicit KernelIds(std::uint32_t hash_size);

  [[nodiscard]] std::uint32_t take_urr();
  [[nodiscard]] std::uint32_t take_qer(Seid seid);
  /// Of one that isn't ours and that will be deleted: its bucket is kept clear until then.
  void reserve_qer(Seid seid, std::uint32_t id);
  void release_qer(Seid seid, std::uint32_t id);
  /// Whether a QER that isn't ours is in the bucket of one that is.
  [[nodiscard]] bool shares_bucket(Seid seid, std::uint32_t id) const {
    return qers_in_bucket_[bucket(seid, id)] != 0;
  }
  /// QERs that had to share a bucket: the table is too small for the sessions.
  [[nodiscard]] std::uint64_t shared_buckets() const { return shared_; }

  /// The module's bucket for a rule.
  [[nodiscard]] std::uint32_t bucket(Seid seid, std::uint32_t id) const;

 private:
  std::vector<std::uint16_t> qers_in_bucket_;
  std::uint32_t next_urr_{};
  std::uint32_t next_qer_{};
  std::uint64_t shared_{};
};

/// Bob Jenkins' lookup3 hash of octets (public domain), which Linux calls jhash.
[[nodiscard]] std::uint32_t lookup3(std::string_view octets, std::uint32_t initial);

}  // namespace upf::gtp5g
