#include "src/session/translate.hpp"

// Create URR and Update URR to usage rules. What an Update brings is noted apart from the values
// (UsageGrant): the same quota a second time is a second quota.

namespace upf::session {
namespace {

using pfcp::IeType;

std::optional<std::uint32_t> plain(const std::optional<pfcp::Seconds>& ie) {
  if (!ie) return std::nullopt;
  return ie->count();
}
std::optional<rules::VolumeAmount> plain(const std::optional<pfcp::Volumes>& ie) {
  if (!ie) return std::nullopt;
  return rules::VolumeAmount{ie->total, ie->uplink, ie->downlink};
}
std::optional<WallTime> plain(const std::optional<pfcp::NtpTime>& ie) {
  if (!ie) return std::nullopt;
  return ie->to_wall();
}
std::optional<rules::DroppedThreshold> plain(
    const std::optional<pfcp::DroppedDlTrafficThreshold>& ie) {
  if (!ie) return std::nullopt;
  return rules::DroppedThreshold{ie->packets, ie->octets};
}
template <class V>
std::optional<V> plain(const std::optional<V>& ie) {
  return ie;
}

/// What isn't measured is refused: an SMF that is told "accepted" would wait for reports, and give
/// service away for nothing.
Check measurable(const pfcp::UrrParameters& ie) {
  if (ie.event_threshold) return unsupported(IeType::EventThreshold, "events are not measured");
  if (ie.event_quota) return unsupported(IeType::EventQuota, "events are not measured");
  if (ie.time_quota_mechanism) {
    return unsupported(IeType::TimeQuotaMechanism, "envelopes are not measured");
  }
  if (!ie.aggregated_urrs.empty()) {
    return unsupported(IeType::AggregatedUrrs, "credit pools are not served");
  }
  if (!ie.additional_monitoring_times.empty()) {
    return unsupported(IeType::AdditionalMonitoringTime, "one Monitoring Time is served");
  }
  return {};
}

Check reportable(const pfcp::ReportingTriggers& ie) {
  if (ie.envcl || ie.macar || ie.eveth || ie.evequ || ie.ipmjl || ie.reemr || ie.upint) {
    return unsupported(IeType::ReportingTriggers,
                       "one of ENVCL, MACAR, EVETH, EVEQU, IPMJL, REEMR and UPINT is asked for");
  }
  return {};
}

void set(rules::UsageRule& rule, const pfcp::MeasurementMethod& ie) {
  rule.measure_duration = ie.durat;
  rule.measure_volume = ie.volum;
  rule.measure_events = ie.event;
}

void set(rules::UsageRule& rule, const pfcp::ReportingTriggers& ie) {
  rule.triggers = {.periodic = ie.perio,
                   .volume_threshold = ie.volth,
                   .time_threshold = ie.timth,
                   .quota_holding_time = ie.quhti,
                   .start_of_traffic = ie.start,
                   .stop_of_traffic = ie.stopt,
                   .dropped_threshold = ie.droth,
                   .linked = ie.liusa,
                   .volume_quota = ie.volqu,
                   .time_quota = ie.timqu,
                   .quota_validity = ie.quvti};
}

void set(rules::UsageRule& rule, const pfcp::MeasurementInformation& ie) {
  rule.before_qos = ie.mbqe;
  rule.inactive = ie.inam;
  rule.reduced_info = ie.radi;
  rule.immediate_start = ie.istm;
  rule.with_packet_counts = ie.mnop;
}

/// Takes over the parameters that are there, and those that are taken away.
class Merge {
 public:
  Merge(rules::UsageUpdate& out, const pfcp::Removed& removed) : out_(out), removed_(removed) {}

  void all(const pfcp::UrrParameters& ie) {
    rules::UsageRule& rule = out_.rule;
    rules::UsageGrant& grant = out_.grant;
    one(rule.period, ie.measurement_period, IeType::MeasurementPeriod, &grant.period);
    one(rule.volume_threshold, ie.volume_threshold, IeType::VolumeThreshold,
        &grant.volume_threshold);
    one(rule.volume_quota, ie.volume_quota, IeType::VolumeQuota, &grant.volume_quota);
    one(rule.time_threshold, ie.time_threshold, IeType::TimeThreshold, &grant.time_threshold);
    one(rule.time_quota, ie.time_quota, IeType::TimeQuota, &grant.time_quota);
    one(rule.quota_holding_time, ie.quota_holding_time, IeType::QuotaHoldingTime,
        &grant.quota_holding_time);
    one(rule.quota_validity_time, ie.quota_validity_time, IeType::QuotaValidityTime,
        &grant.quota_validity_time);
    one(rule.inactivity_detection_time, ie.inactivity_detection_time,
        IeType::InactivityDetectionTime, &grant.inactivity_detection_time);
    one(rule.dropped_threshold, ie.dropped_dl_traffic_threshold, IeType::DroppedDlTrafficThreshold,
        &grant.dropped_threshold);
    one(rule.monitoring_time, ie.monitoring_time, IeType::MonitoringTime, &grant.monitoring_time);
    one(rule.subsequent_volume_threshold, ie.subsequent_volume_threshold,
        IeType::SubsequentVolumeThreshold);
    one(rule.subsequent_volume_quota, ie.subsequent_volume_quota, IeType::SubsequentVolumeQuota);
    one(rule.subsequent_time_threshold, ie.subsequent_time_threshold,
        IeType::SubsequentTimeThreshold);
    one(rule.subsequent_time_quota, ie.subsequent_time_quota, IeType::SubsequentTimeQuota);
    one(rule.quota_action, ie.far_id_for_quota_action, IeType::FarId);
    one(rule.number_of_reports, ie.number_of_reports, IeType::NumberOfReports);
    if (gone(IeType::LinkedUrrId)) rule.linked.clear();
    if (!ie.linked_urr_ids.empty()) rule.linked = ie.linked_urr_ids;
    if (gone(IeType::MeasurementInformation)) set(rule, pfcp::MeasurementInformation{});
    if (ie.measurement_information) set(rule, *ie.measurement_information);
  }

 private:
  [[nodiscard]] bool gone(IeType ie) const {
    return std::ranges::find(removed_, ie) != removed_.end();
  }
  template <class V, class W>
  void one(std::optional<V>& value, const std::optional<W>& ie, IeType type,
           bool* granted = nullptr) {
    if (!ie && !gone(type)) return;
    value = plain(ie);
    if (granted != nullptr) *granted = true;
  }

  rules::UsageUpdate& out_;
  const pfcp::Removed& removed_;
};

}  // namespace

Result<rules::UsageUpdate, Refusal> usage(const pfcp::CreateUrr& ie) {
  if (auto ok = measurable(ie); !ok) return failure(std::move(ok.error()));
  if (auto ok = reportable(ie.reporting_triggers); !ok) return failure(std::move(ok.error()));
  rules::UsageUpdate update{.rule = {.id = ie.urr_id}, .grant = {.created = true}};
  set(update.rule, ie.measurement_method);
  set(update.rule, ie.reporting_triggers);
  const pfcp::Removed none{};
  Merge{update, none}.all(ie);
  return update;
}

Result<rules::UsageUpdate, Refusal> usage(const rules::UsageRule& before,
                                          const pfcp::UpdateUrr& ie) {
  if (auto ok = measurable(ie); !ok) return failure(std::move(ok.error()));
  rules::UsageUpdate update{.rule = before};
  if (ie.measurement_method) set(update.rule, *ie.measurement_method);
  if (ie.reporting_triggers) {
    if (auto ok = reportable(*ie.reporting_triggers); !ok) return failure(std::move(ok.error()));
    set(update.rule, *ie.reporting_triggers);
    update.grant.triggers = true;
  }
  Merge{update, ie.removed}.all(ie);
  return update;
}

}  // namespace upf::session
