#!/usr/bin/python3
"""Writes *.vec: PFCP messages built by scapy (Debian's python3-scapy) and by go-pfcp (which knows the later
releases), so that the codec is tested against bytes that it did not make itself.

    tests/vectors/generate.py DESCRIBE     DESCRIBE: build/dev/pfcp_describe

Each vector is run through tshark, which must find nothing malformed, and every value that was given
to scapy must occur in the text that DESCRIBE prints for the bytes.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scapy.all import IP, UDP, Ether, Packet, StrField, conf, wrpcap
from scapy.contrib.pfcp import *  # noqa: F403

HERE = Path(__file__).parent


def node(text="10.100.200.1"):
    if re.fullmatch(r"[0-9.]+", text):
        return IE_NodeId(id_type=0, ipv4=text)
    if ":" in text:
        return IE_NodeId(id_type=1, ipv6=text)
    return IE_NodeId(id_type=2, id=text)


def raw(ie_type, octets):
    """An IE that scapy has no class for, or not in this release."""
    return bytes([ie_type >> 8, ie_type & 255, len(octets) >> 8, len(octets) & 255]) + octets


class Octets(Packet):
    """Lets raw IEs stand in an IE_list."""
    name = "octets"
    fields_desc = [StrField("data", b"")]


def extra(ie_type, octets):
    return Octets(data=raw(ie_type, octets))


def group(cls, *ies):
    return cls(IE_list=list(ies))


def header(seid=None, seq=1, **more):
    return PFCP(version=1, S=0 if seid is None else 1, seid=seid or 0, seq=seq, **more)


PERIO_VOLTH = dict(periodic_reporting=1, volume_threshold=1)


def far(far_id, *ies, **action):
    return group(IE_CreateFAR, IE_FAR_Id(id=far_id), IE_ApplyAction(**action), *ies)


def free5gc_uplink_pdr():
    return group(
        IE_CreatePDR, IE_PDR_Id(id=1), IE_Precedence(precedence=255),
        group(IE_PDI, IE_SourceInterface(interface=0),
              IE_FTEID(V4=1, TEID=0x11223344, ipv4="10.100.200.2"),
              IE_NetworkInstance(instance="internet"),
              IE_UE_IP_Address(V4=1, ipv4="10.60.0.1")),
        IE_OuterHeaderRemoval(header=0), IE_FAR_Id(id=1), IE_URR_Id(id=1), IE_URR_Id(id=2),
        IE_QER_Id(id=1), IE_QER_Id(id=2))


def free5gc_downlink_pdr():
    return group(
        IE_CreatePDR, IE_PDR_Id(id=2), IE_Precedence(precedence=255),
        group(IE_PDI, IE_SourceInterface(interface=1), IE_NetworkInstance(instance="internet"),
              IE_UE_IP_Address(V4=1, SD=1, ipv4="10.60.0.1"),
              IE_SDF_Filter(FD=1, flow_description="permit out ip from any to assigned")),
        IE_FAR_Id(id=2), IE_QER_Id(id=1))


def establishment_free5gc():
    return header(0, 3, MP=1) / group(
        PFCPSessionEstablishmentRequest, node(),
        IE_FSEID(v4=1, seid=0x1a, ipv4="10.100.200.1"), free5gc_uplink_pdr(),
        free5gc_downlink_pdr(),
        far(1, group(IE_ForwardingParameters, IE_DestinationInterface(interface=1),
                     IE_NetworkInstance(instance="internet")), FORW=1),
        far(2, group(IE_ForwardingParameters, IE_DestinationInterface(interface=0)), FORW=1),
        group(IE_CreateURR, IE_URR_Id(id=1), IE_MeasurementMethod(VOLUM=1),
              IE_ReportingTriggers(**PERIO_VOLTH), IE_MeasurementPeriod(period=10),
              IE_VolumeThreshold(ULVOL=1, DLVOL=1, uplink=50000, downlink=60000),
              IE_MeasurementInformation(MBQE=1, MNOP=1)),
        group(IE_CreateQER, IE_QER_Id(id=1), IE_GateStatus(), IE_MBR(ul=1000000, dl=2000000),
              IE_QFI(QFI=1)),
        IE_PDNType(pdn_type=1))


def establishment_open5gs():
    choose = IE_FTEID(CH=1, CHID=1, V4=1, V6=1, choose_id=5)
    network = IE_NetworkInstance(instance="internet")
    return header(0, 9) / group(
        PFCPSessionEstablishmentRequest, node("10.45.0.4"),
        IE_FSEID(v4=1, seid=0x7d1, ipv4="10.45.0.4"),
        group(IE_CreatePDR, IE_PDR_Id(id=1), IE_Precedence(precedence=65535),
              group(IE_PDI, IE_SourceInterface(interface=1), network,
                    IE_UE_IP_Address(V4=1, SD=1, ipv4="10.45.0.2"),
                    IE_3GPP_InterfaceType(interface_type=17)),
              IE_FAR_Id(id=1), IE_URR_Id(id=1), IE_QER_Id(id=1)),
        group(IE_CreatePDR, IE_PDR_Id(id=2), IE_Precedence(precedence=65535),
              group(IE_PDI, IE_SourceInterface(interface=0), choose, network,
                    IE_QFI(QFI=1), IE_3GPP_InterfaceType(interface_type=11)),
              IE_OuterHeaderRemoval(header=6), IE_FAR_Id(id=2), IE_QER_Id(id=1)),
        group(IE_CreatePDR, IE_PDR_Id(id=4), IE_Precedence(precedence=255),
              group(IE_PDI, IE_SourceInterface(interface=0), choose, network,
                    IE_SDF_Filter(FD=1, BID=1, sdf_filter_id=3,
                                  flow_description="permit out 58 from ff02::2/128 to assigned")),
              IE_OuterHeaderRemoval(header=6), IE_FAR_Id(id=3)),
        group(IE_CreateFAR, IE_FAR_Id(id=1), extra(44, b"\x0c\x00"), IE_BAR_Id(id=1)),
        far(2, group(IE_ForwardingParameters, IE_DestinationInterface(interface=1), network), FORW=1),
        far(3, group(IE_ForwardingParameters, IE_DestinationInterface(interface=3),
                     IE_OuterHeaderCreation(GTPUUDPIPV4=1, TEID=77, ipv4="10.45.0.4")), FORW=1),
        group(IE_CreateURR, IE_URR_Id(id=1), IE_MeasurementMethod(VOLUM=1),
              extra(37, b"\x02\x00\x00"), IE_VolumeThreshold(TOVOL=1, total=104857600)),
        group(IE_CreateQER, IE_QER_Id(id=1), IE_GateStatus(), IE_MBR(ul=1048576, dl=1048577),
              IE_QFI(QFI=1)),
        group(IE_Create_BAR, IE_BAR_Id(id=1)), IE_PDNType(pdn_type=3),
        extra(141, b"\x01\x08" + bytes.fromhex("00010100000000f1")),
        IE_APN_DNN(apn_dnn="internet"), extra(257, b"\x01\xff\xff\xff"))


def establishment_full():
    """Every member that scapy has, once at least, with a value of its own."""
    ue6 = IE_UE_IP_Address(V4=1, V6=1, SD=1, ipv4="10.60.0.9", ipv6="2001:db8:60::9")
    redirect = IE_RedirectInformation(type=2, address="http://pay.example/")
    create_pdr = group(
        IE_CreatePDR, IE_PDR_Id(id=301), IE_Precedence(precedence=70001),
        group(IE_PDI, IE_SourceInterface(interface=1),
              IE_FTEID(V4=1, V6=1, TEID=0xa1b2c3d4, ipv4="192.0.2.5", ipv6="2001:db8::5"),
              IE_NetworkInstance(instance="ims.mnc001"), ue6, IE_TrafficEndpointId(id=17),
              IE_SDF_Filter(FD=1, TTC=1, SPI=1, FL=1, BID=1,
                            flow_description="permit out 17 from 198.51.100.7 to assigned",
                            tos_traffic_class=0x88, tos_traffic_mask=0xfc,
                            security_parameter_index=0xcafe, flow_label=0x12345,
                            sdf_filter_id=991),
              IE_SDF_Filter(FD=1, flow_description="permit out 6 from any 443 to assigned"),
              IE_ApplicationId(id="video"), IE_EthernetPDUSessionInformation(ETHI=1),
              group(IE_EthernetPacketFilter, IE_EthernetFilterId(id=555),
                    IE_EthernetFilterProperties(BIDE=1),
                    IE_MACAddress(SOUR=1, DEST=1, USOU=1, UDES=1, source_mac="02:00:00:00:00:01",
                                  destination_mac="02:00:00:00:00:02",
                                  upper_source_mac="02:00:00:00:00:03",
                                  upper_destination_mac="02:00:00:00:00:04"),
                    IE_Ethertype(type=0x88f7),
                    IE_C_TAG(VID=1, DEI=1, PCP=1, cvid_value_hi=3, cvid_value_low=0x21, dei_flag=1,
                             pcp_value=5),
                    IE_S_TAG(VID=1, svid_value_hi=2, svid_value_low=0x43)),
              IE_QFI(QFI=33), IE_QFI(QFI=34),
              IE_FramedRoute(framed_route="203.0.113.0/24 10.60.0.9 1"),
              extra(154, bytes([0, 0, 0, 3])),
              IE_FramedIPv6Route(framed_ipv6_route="2001:db8:f::/48 :: 1"),
              IE_3GPP_InterfaceType(interface_type=21)),
        IE_OuterHeaderRemoval(header=6, pdu_session_container=1), IE_FAR_Id(id=0x80000301),
        IE_URR_Id(id=303), IE_URR_Id(id=304), IE_QER_Id(id=305), IE_QER_Id(id=306),
        IE_ActivatePredefinedRules(name="gold"), IE_ActivatePredefinedRules(name="silver"))
    create_far = group(
        IE_CreateFAR, IE_FAR_Id(id=0x80000301), IE_ApplyAction(FORW=1, DUPL=1),
        group(IE_ForwardingParameters, IE_DestinationInterface(interface=1),
              IE_NetworkInstance(instance="ims.mnc001"), redirect,
              IE_OuterHeaderCreation(GTPUUDPIPV4=1, GTPUUDPIPV6=1, TEID=0x55667788,
                                     ipv4="192.0.2.77", ipv6="2001:db8::77"),
              IE_TransportLevelMarking(tos=0xb8, traffic_class=0xfc),
              IE_ForwardingPolicy(policy_identifier="42"),
              IE_HeaderEnrichment(header_type=0, name="X-User", value="abc"),
              IE_TrafficEndpointId(id=18), IE_Proxying(ARP=1, INS=1),
              IE_3GPP_InterfaceType(interface_type=16)),
        group(IE_DuplicatingParameters, IE_DestinationInterface(interface=4),
              IE_OuterHeaderCreation(UDPIPV4=1, ipv4="192.0.2.99", port=9999),
              IE_TransportLevelMarking(tos=0x20, traffic_class=0xfc),
              IE_ForwardingPolicy(policy_identifier="tap")),
        IE_BAR_Id(id=9))
    create_urr = group(
        IE_CreateURR, IE_URR_Id(id=303), IE_MeasurementMethod(DURAT=1, VOLUM=1, EVENT=1),
        IE_ReportingTriggers(periodic_reporting=1, volume_threshold=1, time_threshold=1,
                             quota_holding_time=1, start_of_traffic=1, stop_of_traffic=1,
                             dropped_dl_traffic_threshold=1, linked_usage_reporting=1,
                             volume_quota=1, time_quota=1, envelope_closure=1,
                             mac_addresses_reporting=1, event_threshold=1, event_quota=1),
        IE_MeasurementPeriod(period=3601),
        IE_VolumeThreshold(TOVOL=1, ULVOL=1, DLVOL=1, total=11 << 40, uplink=12 << 40,
                           downlink=13 << 40),
        IE_VolumeQuota(TOVOL=1, total=14 << 40), IE_EventThreshold(event_threshold=21),
        IE_EventQuota(event_quota=22), IE_TimeThreshold(threshold=3602), IE_TimeQuota(quota=3603),
        IE_QuotaHoldingTime(time_value=3604),
        IE_DroppedDLTrafficThreshold(DLPA=1, DLBY=1, packet_count=3605, byte_count=3606),
        IE_MonitoringTime(time_value=3800000001),
        IE_SubsequentVolumeThreshold(DLVOL=1, downlink=15 << 40),
        IE_SubsequentTimeThreshold(threshold=3607),
        IE_SubsequentVolumeQuota(ULVOL=1, uplink=16 << 40), IE_SubsequentTimeQuota(quota=3608),
        IE_SubsequentEventThreshold(subsequent_event_threshold=23),
        IE_SubsequentEventQuota(subsequent_event_quota=24),
        IE_InactivityDetectionTime(time_value=3609), IE_LinkedURR_Id(id=304),
        IE_MeasurementInformation(MBQE=1, INAM=1, RADI=1, ISTM=1, MNOP=1),
        IE_TimeQuotaMechanism(base_time_interval_type=1, interval=3610),
        group(IE_AggregatedURRs, IE_AggregatedURR_Id(id=307),
              IE_Multiplier(digits=25, exponent=2)),
        IE_FAR_Id(id=308), IE_EthernetInactivityTimer(timer=3611),
        group(IE_AdditionalMonitoringTime, IE_MonitoringTime(time_value=3800000002),
              IE_SubsequentVolumeThreshold(TOVOL=1, total=17 << 40),
              IE_SubsequentTimeThreshold(threshold=3612),
              IE_SubsequentVolumeQuota(TOVOL=1, total=18 << 40),
              IE_SubsequentTimeQuota(quota=3613)))
    create_qer = group(
        IE_CreateQER, IE_QER_Id(id=305), IE_QERCorrelationId(id=309), IE_GateStatus(ul=1, dl=0),
        IE_MBR(ul=(1 << 40) - 1, dl=123456789), IE_GBR(ul=4001, dl=4002),
        IE_PacketRate(ULPR=1, DLPR=1, ul_time_unit=1, ul_max_packet_rate=4003, dl_time_unit=2,
                      dl_max_packet_rate=4004),
        extra(97, b"\x03\x2e\xfc\x0f\xa5"),  # scapy 2.5: an indicator of one octet, not two
        IE_QFI(QFI=63), IE_RQI(RQI=1), IE_PagingPolicyIndicator(ppi=5),
        IE_AveragingWindow(averaging_window=2000))
    return header(0, 0xabcdef) / group(
        PFCPSessionEstablishmentRequest, node("smf.5gc.example"),
        IE_FSEID(v4=1, v6=1, seid=0x1122334455667788, ipv4="192.0.2.1", ipv6="2001:db8::1"),
        create_pdr, create_far, create_urr, create_qer,
        group(IE_Create_BAR, IE_BAR_Id(id=9), IE_DownlinkDataNotificationDelay(delay=7),
              IE_SuggestedBufferingPacketsCount(count=8)),
        group(IE_CreateTrafficEndpoint, IE_TrafficEndpointId(id=17), IE_FTEID(CH=1, V4=1),
              IE_NetworkInstance(instance="ims.mnc001"), ue6,
              IE_EthernetPDUSessionInformation(ETHI=1),
              IE_FramedRoute(framed_route="203.0.113.0/25"), extra(154, bytes([0, 0, 0, 1])),
              IE_FramedIPv6Route(framed_ipv6_route="2001:db8:e::/48")),
        IE_PDNType(pdn_type=5),
        IE_FqCSID(node_id_type=0, num_csids=1, ipv4="192.0.2.8", csids=[1234]),
        IE_UserPlaneInactivityTimer(timer=3614),
        IE_TraceInformation(mcc_digit_1=2, mcc_digit_2=0, mcc_digit_3=8, mnc_digit_1=9,
                            mnc_digit_2=3, mnc_digit_3=15, trace_id=0x010203,
                            triggering_events="\x0f", session_trace_depth=2,
                            list_of_interfaces="\x07", ip_address=b"\xc0\x00\x02\x0b"),
        IE_APN_DNN(apn_dnn="ims.mnc001"))


def activation(seq=4, action=None, sndem=0, teid=0x100):
    return header(0x99, seq, MP=1, priority=12) / group(
        PFCPSessionModificationRequest, IE_FSEID(v4=1, seid=0x1a, ipv4="10.100.200.1"),
        group(IE_UpdatePDR, IE_PDR_Id(id=2), IE_Precedence(precedence=255),
              group(IE_PDI, IE_SourceInterface(interface=1),
                    IE_NetworkInstance(instance="internet"),
                    IE_UE_IP_Address(V4=1, SD=1, ipv4="10.60.0.1")),
              IE_FAR_Id(id=2), IE_URR_Id(id=1), IE_QER_Id(id=1)),
        group(IE_UpdateFAR, IE_FAR_Id(id=2), IE_ApplyAction(**(action or dict(FORW=1))),
              group(IE_UpdateForwardingParameters, IE_DestinationInterface(interface=0),
                    IE_NetworkInstance(instance="internet"),
                    IE_OuterHeaderCreation(GTPUUDPIPV4=1, TEID=teid, ipv4="10.100.200.3"),
                    IE_PFCPSMReqFlags(SNDEM=sndem))))


def modification_full():
    fseid = IE_FSEID(v6=1, seid=0x42, ipv6="2001:db8::42")
    return header(0x8899aabbccddeeff, 77) / group(
        PFCPSessionModificationRequest, fseid,
        group(IE_RemovePDR, IE_PDR_Id(id=401)), group(IE_RemoveFAR, IE_FAR_Id(id=402)),
        group(IE_RemoveURR, IE_URR_Id(id=403)), group(IE_RemoveQER, IE_QER_Id(id=404)),
        group(IE_Remove_BAR, IE_BAR_Id(id=41)),
        group(IE_RemoveTrafficEndpoint, IE_TrafficEndpointId(id=42)),
        free5gc_uplink_pdr(), free5gc_downlink_pdr(), far(405, DROP=1),
        group(IE_CreateURR, IE_URR_Id(id=406), IE_MeasurementMethod(DURAT=1),
              IE_ReportingTriggers(time_threshold=1)),
        group(IE_CreateQER, IE_QER_Id(id=407), IE_GateStatus(ul=1, dl=1)),
        group(IE_Create_BAR, IE_BAR_Id(id=43)),
        group(IE_CreateTrafficEndpoint, IE_TrafficEndpointId(id=44)),
        group(IE_UpdatePDR, IE_PDR_Id(id=408), IE_OuterHeaderRemoval(header=1),
              IE_Precedence(precedence=409), group(IE_PDI, IE_SourceInterface(interface=0)),
              IE_FAR_Id(id=410), IE_URR_Id(id=411), IE_QER_Id(id=412),
              IE_ActivatePredefinedRules(name="on"), IE_DeactivatePredefinedRules(name="off")),
        group(IE_UpdateFAR, IE_FAR_Id(id=413), IE_ApplyAction(BUFF=1, NOCP=1),
              group(IE_UpdateForwardingParameters, IE_DestinationInterface(interface=2),
                    IE_NetworkInstance(instance="lan"),
                    IE_RedirectInformation(type=0, address="192.0.2.200"),
                    IE_OuterHeaderCreation(UDPIPV6=1, ipv6="2001:db8::66", port=6666),
                    IE_TransportLevelMarking(tos=0x28, traffic_class=0xfc),
                    IE_ForwardingPolicy(policy_identifier="43"),
                    IE_HeaderEnrichment(header_type=0, name="X-N", value="v"),
                    IE_PFCPSMReqFlags(SNDEM=1, DROBU=1, QUARR=1), IE_TrafficEndpointId(id=45)),
              group(IE_UpdateDuplicatingParameters, IE_DestinationInterface(interface=4),
                    IE_OuterHeaderCreation(IPV4=1, ipv4="192.0.2.67")),
              IE_BAR_Id(id=46)),
        group(IE_UpdateURR, IE_URR_Id(id=414), IE_MeasurementMethod(EVENT=1),
              IE_ReportingTriggers(event_quota=1), IE_EventQuota(event_quota=415)),
        group(IE_UpdateQER, IE_QER_Id(id=416), IE_QERCorrelationId(id=417),
              IE_GateStatus(ul=0, dl=1), IE_MBR(ul=418, dl=419), IE_GBR(ul=420, dl=421),
              IE_QFI(QFI=9), IE_RQI(RQI=0), IE_PagingPolicyIndicator(ppi=2),
              IE_AveragingWindow(averaging_window=422)),
        group(IE_Update_BAR_SMR, IE_BAR_Id(id=47), IE_DownlinkDataNotificationDelay(delay=48),
              IE_SuggestedBufferingPacketsCount(count=49)),
        group(IE_UpdateTrafficEndpoint, IE_TrafficEndpointId(id=50),
              IE_FTEID(V6=1, TEID=423, ipv6="2001:db8::67"),
              IE_UE_IP_Address(V4=1, ipv4="10.60.0.200")),
        IE_PFCPSMReqFlags(DROBU=1), group(IE_QueryURR, IE_URR_Id(id=424)),
        group(IE_QueryURR, IE_URR_Id(id=425)),
        IE_UserPlaneInactivityTimer(timer=426), IE_QueryURRReference(reference=427))


def removal_by_length_zero():
    """TS 29.244 5.6.3: children of length 0 in the groups that update."""
    return header(0x99, 12) / group(
        PFCPSessionModificationRequest,
        group(IE_UpdatePDR, IE_PDR_Id(id=2), extra(81, b""), extra(109, b"")),
        group(IE_UpdateFAR, IE_FAR_Id(id=2),
              group(IE_UpdateForwardingParameters, IE_DestinationInterface(interface=0),
                    extra(84, b""))),
        group(IE_UpdateURR, IE_URR_Id(id=1), extra(31, b"")),
        group(IE_UpdateQER, IE_QER_Id(id=1), extra(26, b"")))


def measured(cls, urr_id, **trigger):
    return group(
        cls, IE_URR_Id(id=urr_id), IE_UR_SEQN(number=501),
        extra(63, bytes([trigger.get("first", 0), trigger.get("second", 0), 0])),
        IE_StartTime(timestamp=3900000001), IE_EndTime(timestamp=3900000002),
        IE_VolumeMeasurement(TOVOL=1, ULVOL=1, DLVOL=1, total=7 << 32, uplink=3 << 32,
                             downlink=4 << 32),
        IE_DurationMeasurement(duration=502), IE_TimeOfFirstPacket(timestamp=3900000003),
        IE_TimeOfLastPacket(timestamp=3900000004), IE_UsageInformation(BEF=1, UBE=1))


def report_full():
    remote = IE_FTEID(V4=1, TEID=0x7a7b7c7d, ipv4="192.0.2.120")
    usage = group(
        IE_UsageReport_SRR, IE_URR_Id(id=503), IE_UR_SEQN(number=504),
        extra(63, b"\x02\x00\x00"), IE_StartTime(timestamp=3900000011),
        IE_EndTime(timestamp=3900000012),
        extra(66, b"\x3f" + b"".join((n << 33).to_bytes(8, "big") for n in range(1, 7))),
        IE_DurationMeasurement(duration=505),
        group(IE_ApplicationDetectionInformation, IE_ApplicationId(id="video"),
              IE_ApplicationInstanceId(id="i1"),
              IE_FlowInformation(direction=1, flow="permit out ip from any to assigned")),
        IE_UE_IP_Address(V4=1, ipv4="10.60.0.77"), IE_NetworkInstance(instance="internet"),
        IE_TimeOfFirstPacket(timestamp=3900000013), IE_TimeOfLastPacket(timestamp=3900000014),
        IE_UsageInformation(AFT=1, UAE=1), IE_QueryURRReference(reference=506),
        IE_EventTimeStamp(timestamp=3900000015),
        group(IE_EthernetTrafficInformation,
              extra(144, b"\x02\x02\0\0\0\0\x0a\x02\0\0\0\0\x0b\x03\x04\x10\x05\x00"),
              extra(145, b"\x01\x02\0\0\0\0\x0c\x00\x00")))
    return header(0x1a, 88) / group(
        PFCPSessionReportRequest, IE_ReportType(DLDR=1, USAR=1, ERIR=1, UPIR=1),
        group(IE_DownlinkDataReport, IE_PDR_Id(id=507), IE_PDR_Id(id=508),
              IE_DownlinkDataServiceInformation(PPI=1, QFII=1, ppi_val=46, qfi_val=9)),
        usage, group(IE_ErrorIndicationReport, remote),
        group(IE_LoadControlInformation, IE_SequenceNumber(number=509), IE_Metric(metric=51)),
        group(IE_OverloadControlInformation, IE_SequenceNumber(number=510), IE_Metric(metric=52),
              IE_Timer(timer_unit="1 minute", timer_value=13), IE_OCIFlags(AOCI=1)),
        IE_AdditionalUsageReportsInformation(AURI=1, reports=511))


def failure(cls, seid, cause, offending=None, rule=None, with_node=True, seq=3, more=()):
    ies = [node("10.100.200.9")] if with_node else []
    ies.append(IE_Cause(cause=cause))
    ies += more
    if offending:
        ies.append(IE_OffendingIE(type=offending))
    if rule:
        ies.append(rule)
    return header(seid, seq) / group(cls, *ies)


def pfd_contents():
    return IE_PFDContents(
        FD=1, URL=1, DN=1, CP=1, DNP=1, AFD=1, AURL=1, ADNP=1,
        flow="permit out 6 from 198.51.100.1 to assigned", url="http://a.example/", domain="b.example",
        custom="c", dnp="d",
        additional_flow=[b"permit out 17 from 198.51.100.2 to assigned", b"permit out ip from 198.51.100.3 to assigned"],
        additional_url=[b"http://e.example/"], additional_dn_dnp=[b"f.example", b"g"])


NODE = {
    "heartbeat_request": lambda: header(seq=0xfffffe) / group(
        PFCPHeartbeatRequest, IE_RecoveryTimeStamp(timestamp=3900000021)),
    "heartbeat_request_source_ip_address": lambda: header(seq=5) / group(
        PFCPHeartbeatRequest, IE_RecoveryTimeStamp(timestamp=3900000021),
        extra(192, b"\x02\xc0\x00\x02\x01")),
    "heartbeat_response": lambda: header(seq=0) / group(
        PFCPHeartbeatResponse, IE_RecoveryTimeStamp(timestamp=3900000022)),
    "pfd_management_request": lambda: header(seq=6) / group(
        PFCPPFDManagementRequest,
        group(IE_ApplicationID_PFDs, IE_ApplicationId(id="app-one"),
              group(IE_PFDContext, IE_PFDContents(FD=1, flow="permit out ip from 192.0.2.0/24 to assigned")),
              group(IE_PFDContext, IE_PFDContents(URL=1, url="http://a.example/"),
                    IE_PFDContents(DN=1, DNP=1, domain="b.example", dnp="SNI"))),
        group(IE_ApplicationID_PFDs, IE_ApplicationId(id="app-two"))),
    "pfd_management_request_all": lambda: header(seq=6) / group(
        PFCPPFDManagementRequest),
    "pfd_management_response": lambda: header(seq=6) / group(
        PFCPPFDManagementResponse, IE_Cause(cause=69), IE_OffendingIE(type=61)),
    "association_setup_request_free5gc": lambda: header(seq=1) / group(
        PFCPAssociationSetupRequest, node(), IE_RecoveryTimeStamp(timestamp=3900000023),
        IE_CPFunctionFeatures()),
    "association_setup_request_up": lambda: header(seq=2) / group(
        PFCPAssociationSetupRequest, node("upf.example.org"),
        IE_RecoveryTimeStamp(timestamp=3900000024),
        IE_UPFunctionFeatures(FTUP=1, BUCP=1, EMPU=1, QUOAC=1),
        IE_CPFunctionFeatures(LOAD=1, OVRL=1),
        IE_UserPlaneIPResourceInformation(V4=1, TEIDRI=2, teid_range=3, ipv4="192.0.2.30",
                                          ASSONI=1, ASSOSI=1, network_instance="internet",
                                          interface=0),
        IE_UserPlaneIPResourceInformation(V6=1, ipv6="2001:db8::30")),
    "association_setup_response": lambda: header(seq=1) / group(
        PFCPAssociationSetupResponse, node("2001:db8::9"), IE_Cause(cause=1),
        IE_RecoveryTimeStamp(timestamp=3900000025),
        extra(43, b"\x11\x29\x12\x20\x00\x00\x10"), IE_CPFunctionFeatures(LOAD=1)),
    "association_setup_response_rejected": lambda: failure(
        PFCPAssociationSetupResponse, None, 66, 60,
        more=[IE_RecoveryTimeStamp(timestamp=3900000025)]),
    "association_update_request": lambda: header(seq=7) / group(
        PFCPAssociationUpdateRequest, node(), IE_UPFunctionFeatures(FTUP=1, PDIU=1),
        IE_CPFunctionFeatures(OVRL=1), IE_PFCPAssociationReleaseRequest(SARR=1),
        IE_GracefulReleasePeriod(release_timer_unit="10 minutes", release_timer_value=3)),
    "association_update_response": lambda: header(seq=7) / group(
        PFCPAssociationUpdateResponse, node(), IE_Cause(cause=1), IE_UPFunctionFeatures(FTUP=1)),
    "association_release_request": lambda: header(seq=8) / group(
        PFCPAssociationReleaseRequest, node()),
    "association_release_response": lambda: header(seq=8) / group(
        PFCPAssociationReleaseResponse, node(), IE_Cause(cause=72)),
    "version_not_supported_response": lambda: header(seq=9) / PFCPVersionNotSupportedResponse(),
    "node_report_request": lambda: header(seq=10) / group(
        PFCPNodeReportRequest, node(), IE_NodeReportType(UPFR=1),
        group(IE_UserPlanePathFailureReport, IE_RemoteGTP_U_Peer(V4=1, ipv4="192.0.2.40"),
              # By hand: scapy 2.5 gives the two lengths one octet, the standard two.
              extra(103, b"\x0d" + bytes.fromhex("20010db8000000000000000000000040")
                    + b"\x00\x01\x01\x00\x04core"))),
    "node_report_response": lambda: header(seq=10) / group(
        PFCPNodeReportResponse, node(), IE_Cause(cause=64), IE_OffendingIE(type=101)),
    "session_set_deletion_request": lambda: header(seq=11) / group(
        PFCPSessionSetDeletionRequest, node(),
        IE_FqCSID(node_id_type=0, num_csids=2, ipv4="192.0.2.8", csids=[1234, 4321]),
        IE_FqCSID(node_id_type=1, num_csids=1, ipv6="2001:db8::8", csids=[77])),
    "session_set_deletion_response": lambda: header(seq=11) / group(
        PFCPSessionSetDeletionResponse, node(), IE_Cause(cause=1)),
    # scapy 2.5 has no Session Set Modification: only the IEs inside are its.
    "session_set_modification_request": lambda: header(seq=12, message_type=16) / Octets(
        data=bytes(node()) + raw(290, bytes(IE_FqCSID(node_id_type=0, num_csids=1,
                                                      ipv4="192.0.2.8", csids=[5]))
                                 + raw(291, b"group-a") + raw(292, b"\x02\xc0\x00\x02\x09")
                                 + raw(178, b"\x02\xc0\x00\x02\x0a"))),
    "session_set_modification_response": lambda: header(seq=12, message_type=17) / Octets(
        data=bytes(node()) + bytes(IE_Cause(cause=1))),
}

SESSION = {
    "establishment_request_free5gc": establishment_free5gc,
    "establishment_request_open5gs": establishment_open5gs,
    "establishment_request_full": establishment_full,
    "establishment_response": lambda: header(0x1a, 3) / group(
        PFCPSessionEstablishmentResponse, node("10.100.200.9"), IE_Cause(cause=1),
        IE_FSEID(v4=1, seid=0x99, ipv4="10.100.200.9"),
        group(IE_CreatedPDR, IE_PDR_Id(id=1),
              IE_FTEID(V4=1, V6=1, TEID=0x01020304, ipv4="192.0.2.50", ipv6="2001:db8::50")),
        group(IE_CreatedPDR, IE_PDR_Id(id=2)),
        group(IE_LoadControlInformation, IE_SequenceNumber(number=601), IE_Metric(metric=61)),
        group(IE_OverloadControlInformation, IE_SequenceNumber(number=602), IE_Metric(metric=62),
              IE_Timer(timer_unit="2 seconds", timer_value=15)),
        group(IE_CreatedTrafficEndpoint, IE_TrafficEndpointId(id=63),
              IE_FTEID(V4=1, TEID=0x05060708, ipv4="192.0.2.51"))),
    "establishment_response_refused": lambda: failure(
        PFCPSessionEstablishmentResponse, 0x1a, 73, None, IE_FailedRuleId(type=0, pdr_id=701)),
    "establishment_response_missing": lambda: failure(PFCPSessionEstablishmentResponse, 0, 66, 57),
    "modification_request_activation": activation,
    "modification_request_idle": lambda: activation(5, dict(BUFF=1, NOCP=1)),
    "modification_request_handover": lambda: activation(6, None, 1, 0x200),
    "modification_request_full": modification_full,
    "modification_request_removal_by_length_zero": removal_by_length_zero,
    "modification_response": lambda: header(0x1a, 4) / group(
        PFCPSessionModificationResponse, IE_Cause(cause=1),
        group(IE_CreatedPDR, IE_PDR_Id(id=801), IE_FTEID(V4=1, TEID=802, ipv4="192.0.2.52")),
        measured(IE_UsageReport_SMR, 803, first=0x80),
        IE_AdditionalUsageReportsInformation(AURI=0, reports=804)),
    "modification_response_failed_far": lambda: failure(
        PFCPSessionModificationResponse, 0x1a, 73, None, IE_FailedRuleId(type=1, far_id=805), False),
    "modification_response_failed_qer": lambda: failure(
        PFCPSessionModificationResponse, 0x1a, 73, None, IE_FailedRuleId(type=2, qer_id=806), False),
    "modification_response_failed_urr": lambda: failure(
        PFCPSessionModificationResponse, 0x1a, 73, None, IE_FailedRuleId(type=3, urr_id=807), False),
    "modification_response_failed_bar": lambda: failure(
        PFCPSessionModificationResponse, 0x1a, 73, None, IE_FailedRuleId(type=4, bar_id=208), False),
    "deletion_request": lambda: header(0x99, 7, MP=1, priority=12) / PFCPSessionDeletionRequest(),
    "deletion_response": lambda: header(0x1a, 7) / group(
        PFCPSessionDeletionResponse, IE_Cause(cause=1),
        measured(IE_UsageReport_SDR, 901, second=0x08),
        measured(IE_UsageReport_SDR, 902, second=0x08)),
    "deletion_response_unknown_session": lambda: failure(
        PFCPSessionDeletionResponse, 0, 65, None, None, False, 7),
    "report_request_downlink_data": lambda: header(0x1a, 86) / group(
        PFCPSessionReportRequest, IE_ReportType(DLDR=1),
        group(IE_DownlinkDataReport, IE_PDR_Id(id=2))),
    "report_request_full": report_full,
    "report_response": lambda: header(0x99, 88) / group(
        PFCPSessionReportResponse, IE_Cause(cause=1),
        group(IE_UpdateBAR_SRR, IE_BAR_Id(id=91), IE_DownlinkDataNotificationDelay(delay=92),
              IE_DLBufferingDuration(timer_unit="10 hours", timer_value=14),
              IE_DLBufferingSuggestedPacketCount(count=93),
              IE_SuggestedBufferingPacketsCount(count=94)),
        IE_PFCPSRRspFlags(DROBU=1)),
    "report_response_unknown_session": lambda: failure(
        PFCPSessionReportResponse, 0, 65, None, None, False, 88),
}


def check_with_tshark(datagrams):
    with tempfile.NamedTemporaryFile(suffix=".pcap") as capture:
        wrpcap(capture.name, [
            Ether() / IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=8805, dport=8805) / octets
            for octets in datagrams.values()])
        out = subprocess.run(
            ["tshark", "-r", capture.name, "-T", "fields", "-e", "frame.number", "-Y",
             "_ws.malformed or _ws.expert.severity >= 6291456"],
            capture_output=True, text=True, check=True).stdout.split()
    names = list(datagrams)
    for number in out:
        sys.exit(f"tshark finds {names[int(number) - 1]} malformed")


def given_values(packet):
    """What was said to scapy, as text may show it."""
    for name, value in packet.fields.items():
        if name == "IE_list":
            for ie in value:
                yield from given_values(ie)
        elif isinstance(value, bytes) and value.isascii() and value.decode().isprintable():
            yield {value.decode()}
        elif isinstance(value, str) and value.isprintable():
            yield {value}
        elif isinstance(value, int) and not isinstance(value, bool) and value > 9:
            yield {str(value), hex(value)}


def check_text(name, packet, text):
    if isinstance(packet, Octets):
        return
    for values in given_values(packet.payload):
        if not any(v in text for v in values):
            sys.exit(f"{name}: {values} is not in {text}")


def write(path, maker, datagrams, describe, check=lambda name, text: None):
    # tshark 4.0 can't read the eight octets of validity time in a Packet Rate Status (8.2.139).
    check_with_tshark({name: octets for name, octets in datagrams.items() if "packet_rate_status" not in name})
    out = [f"# Written by {Path(__file__).name}: bytes by {maker}, checked by tshark."]
    for name, octets in datagrams.items():
        text = subprocess.run([describe, octets.hex()], capture_output=True, text=True,
                              check=True).stdout.strip()
        check(name, text)
        out += ["", f"vector {name}", f"text {text}"]
        out += [f"hex {octets[i:i + 32].hex(' ')}" for i in range(0, len(octets), 32)]
    path.write_text("\n".join(out) + "\n")


def write_scapy(path, vectors, describe):
    write(path, f"scapy {conf.version}", {name: bytes(make()) for name, make in vectors.items()}, describe,
          lambda name, text: check_text(name, vectors[name](), text))


def write_go_pfcp(path, describe):
    """Releases 16 and 17, by tests/interop/vectors."""
    lines = subprocess.run(["go", "run", "./vectors"], cwd=HERE.parent / "interop", capture_output=True,
                           text=True, check=True).stdout.splitlines()
    write(path, "go-pfcp 0.0.24", {name: bytes.fromhex(octets) for name, octets in map(str.split, lines)},
          describe)


if __name__ == "__main__":
    write_scapy(HERE / "node.vec", NODE, sys.argv[1])
    write_scapy(HERE / "session.vec", SESSION, sys.argv[1])
    write_go_pfcp(HERE / "go-pfcp.vec", sys.argv[1])
