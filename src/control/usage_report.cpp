#include "upf/control/usage_report.hpp"

namespace upf::control {
namespace {

pfcp::UsageReportTrigger to_pfcp(usage::Trigger trigger) {
  using Trigger = usage::Trigger;
  switch (trigger) {
    case Trigger::Periodic:
      return {.perio = true};
    case Trigger::VolumeThreshold:
      return {.volth = true};
    case Trigger::TimeThreshold:
      return {.timth = true};
    case Trigger::QuotaHoldingTime:
      return {.quhti = true};
    case Trigger::StartOfTraffic:
      return {.start = true};
    case Trigger::StopOfTraffic:
      return {.stopt = true};
    case Trigger::DroppedThreshold:
      return {.droth = true};
    case Trigger::Immediate:
      return {.immer = true};
    case Trigger::VolumeQuota:
      return {.volqu = true};
    case Trigger::TimeQuota:
      return {.timqu = true};
    case Trigger::Linked:
      return {.liusa = true};
    case Trigger::Termination:
      return {.termr = true};
    case Trigger::MonitoringTime:
      return {.monit = true};
    case Trigger::QuotaValidityTime:
      return {.quvti = true};
  }
  return {};
}

pfcp::VolumeMeasurement volume_of(const usage::Report& report) {
  pfcp::VolumeMeasurement volume{.total = report.octets.total(),
                                 .uplink = report.octets.uplink,
                                 .downlink = report.octets.downlink};
  if (report.with_packets) {
    volume.total_packets = report.packets.total();
    volume.uplink_packets = report.packets.uplink;
    volume.downlink_packets = report.packets.downlink;
  }
  return volume;
}

std::optional<pfcp::NtpTime> to_pfcp(const std::optional<WallTime>& time) {
  if (!time) return std::nullopt;
  return pfcp::NtpTime::from(*time);
}

// 8.2.59: only where it says something that the URR doesn't: which side of the Monitoring Time.
// Whether the URR counts before QoS enforcement is the URR's own Measurement Information, and
// free5GC's SMF drops every message that has this IE (its type has no coding for it), and all the
// usage with it.
std::optional<pfcp::UsageInformation> information_of(const usage::Report& report) {
  using Part = usage::Report::Part;
  if (report.part == Part::Whole) return std::nullopt;
  return pfcp::UsageInformation{.bef = report.part == Part::BeforeMonitoringTime,
                                .aft = report.part == Part::AfterMonitoringTime,
                                .uae = !report.before_qos,
                                .ube = report.before_qos};
}

}  // namespace

pfcp::UsageReport to_pfcp(const usage::Report& report) {
  pfcp::UsageReport ie;
  ie.urr_id = report.urr;
  ie.ur_seqn = report.sequence;
  ie.usage_report_trigger = to_pfcp(report.trigger);
  ie.start_time = to_pfcp(report.start);
  ie.end_time = to_pfcp(report.end);
  ie.volume_measurement = volume_of(report);
  if (report.duration_s) ie.duration_measurement = pfcp::Seconds{*report.duration_s};
  ie.time_of_first_packet = to_pfcp(report.first_packet);
  ie.time_of_last_packet = to_pfcp(report.last_packet);
  ie.usage_information = information_of(report);
  ie.query_urr_reference = report.query_reference;
  return ie;
}

}  // namespace upf::control
