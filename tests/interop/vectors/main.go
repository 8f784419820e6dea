// vectors prints PFCP messages with the IEs of Releases 16 and 17, built by go-pfcp, as lines "NAME HEX".
// tests/vectors/generate.py makes go-pfcp.vec of them.
package main

import (
	"encoding/hex"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

var (
	v4a = net.ParseIP("192.0.2.11").To4()
	v4b = net.ParseIP("192.0.2.12").To4()
	v6a = net.ParseIP("2001:db8::11")
	v6b = net.ParseIP("2001:db8::12")
	day = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

func mac(last byte) net.HardwareAddr { return net.HardwareAddr{2, 0, 0, 0, 0, last} }

func put(name string, kind uint8, seid uint64, session bool, ies ...*ie.IE) {
	var body []byte
	for i, item := range ies {
		if item == nil {
			log.Fatalf("%s: IE %d can't be made", name, i)
		}
		octets, err := item.Marshal()
		if err != nil {
			log.Fatalf("%s: IE %d: %v", name, item.Type, err)
		}
		body = append(body, octets...)
	}
	header := message.NewHeaderNodeRelated(1, kind, 7, body)
	if session {
		header = message.NewHeaderSessionRelated(1, 0, 0, 1, kind, seid, 7, 0, body)
	}
	octets, err := header.Marshal()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(name, hex.EncodeToString(octets))
}

// pool: go-pfcp 0.0.24 gives the length one octet, later versions and the standard two.
func pool(name string) *ie.IE {
	return ie.New(ie.UEIPAddressPoolIdentity, append([]byte{0, byte(len(name))}, name...))
}

// smfSet: go-pfcp leaves out the spare octet that the figure of 8.2.131 begins with.
func smfSet(name string) *ie.IE {
	return ie.New(ie.SMFSetID, append([]byte{0}, ie.NewSMFSetID(name).Payload...))
}

// pmfAddress: go-pfcp writes the MAC addresses without the flag (8.2.159, bit 3) that announces them.
func pmfAddress() *ie.IE {
	address := ie.NewPMFAddressInformation(v4a, v6a, 104, 105, mac(3), mac(4))
	address.Payload[0] |= 4
	return address
}

func node() *ie.IE { return ie.NewNodeID("192.0.2.1", "", "") }

func pathQosControl() *ie.IE {
	return ie.NewGTPUPathQoSControlInformation(
		ie.NewRemoteGTPUPeer(0x0e, "192.0.2.13", "", 1, "core"),
		ie.NewGTPUPathInterfaceType(1, 0),
		ie.NewQoSReportTrigger(1, 0, 1), ie.NewTransportLevelMarking(0xb8fc),
		ie.NewMeasurementPeriod(61*time.Second), ie.NewAveragePacketDelay(62*time.Millisecond),
		ie.NewMinimumPacketDelay(63*time.Millisecond), ie.NewMaximumPacketDelay(64*time.Millisecond),
		ie.NewTimer(20*time.Minute))
}

func driftControl() *ie.IE {
	return ie.NewClockDriftControlInformation(ie.NewRequestedClockDriftInformation(1, 1),
		ie.NewTSNTimeDomainNumber(9), ie.NewTimeOffsetThreshold(65), ie.NewCumulativeRateRatioThreshold(66))
}

func nodeMessages() {
	put("gopfcp_association_setup_request", message.MsgTypeAssociationSetupRequest, 0, false,
		node(), ie.NewRecoveryTimeStamp(day), ie.NewCPFunctionFeatures(0x3f, 0x03),
		ie.NewAlternativeSMFIPAddress(v4a, v6a), smfSet("set1.smfset.example"),
		ie.NewPFCPSessionRetentionInformation(ie.NewCPPFCPEntityIPAddress(v4b, v6b)),
		ie.NewUEIPAddressPoolInformation(pool("pool-a"),
			ie.NewNetworkInstanceFQDN("internet.example"), ie.NewSNSSAI(1, 0x010203), ie.NewIPVersion(true, true)),
		ie.NewNFInstanceID([]byte("0123456789abcdef")), ie.NewPFCPASReqFlags(1),
		pathQosControl(), driftControl())
	put("gopfcp_association_setup_response", message.MsgTypeAssociationSetupResponse, 0, false,
		node(), ie.NewCause(1), ie.NewRecoveryTimeStamp(day),
		ie.NewUPFunctionFeatures(0xff, 0xff, 0xff, 0xff, 0xff, 0xff), ie.NewAlternativeSMFIPAddress(nil, v6b),
		ie.NewPFCPASRspFlags(3))
	put("gopfcp_association_update_request", message.MsgTypeAssociationUpdateRequest, 0, false,
		node(), ie.NewPFCPAssociationReleaseRequest(1, 1), ie.NewGracefulReleasePeriod(20*time.Hour),
		ie.NewPFCPAUReqFlags(1), smfSet("set2.smfset.example"),
		ie.NewUEIPAddressUsageInformation(ie.NewSequenceNumber(67), ie.NewMetric(68),
			ie.NewValidityTimer(69*time.Second), ie.NewNumberOfUEIPAddresses(3, 70, 71),
			ie.NewNetworkInstanceFQDN("internet"), pool("pool-b")))
	put("gopfcp_node_report_request", message.MsgTypeNodeReportRequest, 0, false,
		node(), ie.NewNodeReportType(0x0e),
		ie.NewUserPlanePathRecoveryReport(ie.NewRemoteGTPUPeer(0x02, "192.0.2.14", "", 0, "")),
		ie.NewClockDriftReport(ie.NewTSNTimeDomainNumber(10), ie.NewTimeOffsetMeasurement(72),
			ie.NewCumulativeRateRatioMeasurement(73), ie.NewEventTimeStamp(day)),
		ie.NewGTPUPathQoSReport(ie.NewRemoteGTPUPeer(0x01, "", "2001:db8::14", 0, ""),
			ie.NewGTPUPathInterfaceType(0, 1), ie.NewQoSReportTrigger(0, 1, 0), ie.NewEventTimeStamp(day),
			ie.NewStartTime(day), ie.NewQoSInformationInGTPUPathQoSReport(
				ie.NewAveragePacketDelay(74*time.Millisecond), ie.NewMinimumPacketDelay(75*time.Millisecond),
				ie.NewMaximumPacketDelay(76*time.Millisecond), ie.NewTransportLevelMarking(0x28fc))))
}

func multicast() *ie.IE {
	return ie.NewIPMulticastAddressingInfo(
		ie.NewIPMulticastAddress(net.ParseIP("239.0.0.1").To4(), nil, net.ParseIP("239.0.0.9").To4(), nil),
		ie.NewSourceIPAddress(v4a, nil, 0))
}

func createPdr() *ie.IE {
	return ie.NewCreatePDR(ie.NewPDRID(1), ie.NewPrecedence(2),
		ie.NewPDI(ie.NewSourceInterface(0),
			ie.NewFTEID(0x03, 3, v4a, v6a, 0),
			ie.NewRedundantTransmissionParametersInPDI(ie.NewFTEID(0x01, 4, v4b, nil, 0),
				ie.NewNetworkInstanceFQDN("backup")),
			ie.NewUEIPAddress(0x49, "", "2001:db8:7::", 8, 56), ie.NewUEIPAddress(0x10, "", "", 0, 0),
			ie.NewTrafficEndpointID(5), ie.NewTrafficEndpointID(6), ie.NewQFI(7),
			ie.NewTGPPInterfaceType(31), multicast()),
		ie.NewOuterHeaderRemoval(0, 1), ie.NewFARID(8), ie.NewActivationTime(day), ie.NewDeactivationTime(day),
		ie.NewMARID(9), ie.NewPacketReplicationAndDetectionCarryOnInformation(0x0f),
		pool("pool-a"), pool("pool-b"),
		ie.NewMPTCPApplicableIndication(1),
		ie.NewTransportDelayReporting(ie.NewRemoteGTPUPeer(0x02, "192.0.2.15", "", 0, ""),
			ie.NewTransportLevelMarking(0x2cfc)))
}

func createFar() *ie.IE {
	return ie.NewCreateFAR(ie.NewFARID(8), ie.NewApplyAction(0x82, 0x1f),
		ie.NewForwardingParameters(ie.NewDestinationInterface(1),
			ie.NewRedirectInformation(4, "192.0.2.80", "2001:db8::80"),
			ie.NewOuterHeaderCreation(0x0100, 10, "192.0.2.16", "", 0, 0, 0),
			ie.NewDataNetworkAccessIdentifier("dnai-1")),
		ie.NewRedundantTransmissionForwardingParameters(
			ie.NewOuterHeaderCreation(0x0200, 11, "", "2001:db8::16", 0, 0, 0),
			ie.NewNetworkInstanceFQDN("backup")))
}

func createMar() *ie.IE {
	return ie.NewCreateMAR(ie.NewMARID(9), ie.NewSteeringFunctionality(1), ie.NewSteeringMode(2),
		ie.NewTGPPAccessForwardingActionInformation(ie.NewFARID(8), ie.NewWeight(60), ie.NewPriority(1),
			ie.NewURRID(12)),
		ie.NewNonTGPPAccessForwardingActionInformation(ie.NewFARID(13), ie.NewWeight(40), ie.NewPriority(2)))
}

func srr(create bool) *ie.IE {
	rules := []*ie.IE{ie.NewSRRID(14),
		ie.NewAccessAvailabilityControlInformation(ie.NewRequestedAccessAvailabilityInformation(1)),
		ie.NewQoSMonitoringPerQoSFlowControlInformation(ie.NewQFI(15), ie.NewRequestedQoSMonitoring(1, 1, 1),
			ie.NewReportingFrequency(1, 1, 1), ie.NewPacketDelayThresholds(7, 81, 82, 83),
			ie.NewMinimumWaitTime(84*time.Second), ie.NewMeasurementPeriod(85*time.Second))}
	if create {
		return ie.NewCreateSRR(rules...)
	}
	return ie.NewUpdateSRR(rules...)
}

func atsss() *ie.IE {
	return ie.NewProvideATSSSControlInformation(ie.NewMPTCPControlInformation(1),
		ie.NewATSSSLLControlInformation(1), ie.NewPMFControlInformation(1))
}

func sessionRequests() {
	put("gopfcp_establishment_request", message.MsgTypeSessionEstablishmentRequest, 0, true,
		node(), ie.NewFSEID(16, v4a, v6a), createPdr(), createFar(),
		ie.NewCreateURR(ie.NewURRID(12), ie.NewMeasurementMethod(0, 1, 1),
			ie.NewReportingTriggers(0x01, 0x80, 0x03), ie.NewQuotaValidityTime(86*time.Second),
			ie.NewNumberOfReports(87), ie.NewApplicationID("free"),
			ie.NewSDFFilter("permit out ip from 192.0.2.0/24 to assigned", "", "", "", 0)),
		ie.NewCreateQER(ie.NewQERID(17), ie.NewGateStatus(0, 0),
			ie.NewPacketRate(3, 1, 88, 2, 89), ie.NewQFI(7),
			ie.NewQERControlIndications(1, 1, 1)),
		ie.NewCreateBAR(ie.NewBARID(18), ie.NewMTEDTControlInformation(1)),
		ie.NewUserID(0x0f, "001010000000001", "3530990123456789", "8190000000", "user@example"),
		ie.NewAPNDNN("ims.example"), ie.NewPFCPSEReqFlags(3), ie.NewRecoveryTimeStamp(day),
		ie.NewSNSSAI(1, 0x010203), createMar(), ie.NewCreateBridgeInfoForTSC(1), srr(true), atsss(),
		ie.NewProvideRDSConfigurationInformation(ie.NewRDSConfigurationInformation(1)))
	put("gopfcp_modification_request", message.MsgTypeSessionModificationRequest, 90, true,
		ie.NewUpdateURR(ie.NewURRID(12), ie.NewSubsequentEventQuota(91)),
		ie.NewPFCPSMReqFlags(0x07), node(),
		ie.NewQueryPacketRateStatusWithinSessionModificationRequest(ie.NewQERID(17)),
		ie.NewSNSSAI(2, 0xffffff), ie.NewRemoveMAR(ie.NewMARID(9)),
		ie.NewUpdateMAR(ie.NewMARID(19), ie.NewSteeringMode(3),
			ie.NewUpdateTGPPAccessForwardingActionInformation(ie.NewFARID(8), ie.NewWeight(50)),
			ie.NewUpdateNonTGPPAccessForwardingActionInformation(ie.NewPriority(3))),
		createMar(),
		ie.NewTSCManagementInformationWithinSessionModificationRequest(
			ie.NewPortManagementInformationContainer("port"), ie.NewBridgeManagementInformationContainer("bridge"),
			ie.NewNWTTPortNumber(92)),
		ie.NewRemoveSRR(ie.NewSRRID(14)), srr(true), srr(false), atsss(),
		ie.NewEthernetContextInformation(ie.NewMACAddressesDetected(ie.NewCTAG(7, 5, 1, 801), ie.NewSTAG(4, 0, 0, 802), mac(1), mac(2))),
		ie.NewAccessAvailabilityInformation(1, 1))
}

func sessionResponses() {
	put("gopfcp_establishment_response", message.MsgTypeSessionEstablishmentResponse, 16, true,
		node(), ie.NewCause(1), ie.NewFSEID(97, v4a, nil),
		ie.NewCreatedPDR(ie.NewPDRID(1), ie.NewFTEID(0x01, 98, v4a, nil, 0),
			ie.NewUEIPAddress(0x02, "10.60.0.1", "", 0, 0), ie.NewUEIPAddress(0x01, "", "2001:db8:7::", 0, 0)),
		ie.NewFQCSID("192.0.2.1", 99, 100),
		ie.NewCreatedBridgeInfoForTSC(ie.NewDSTTPortNumber(101), ie.NewNWTTPortNumber(102)),
		ie.NewATSSSControlParameters(
			ie.NewMPTCPParameters(ie.NewMPTCPAddressInformation(1, 103, v4a, v6a),
				ie.NewUELinkSpecificIPAddress(v4a, v6a, v4b, v6b)),
			ie.NewATSSSLLParameters(ie.NewATSSSLLInformation(1)),
			ie.NewPMFParameters(pmfAddress())),
		ie.NewRDSConfigurationInformation(1))
	put("gopfcp_modification_response", message.MsgTypeSessionModificationResponse, 16, true,
		ie.NewCause(1), ie.NewUpdatedPDR(ie.NewPDRID(1), ie.NewFTEID(0x01, 106, v4a, nil, 0)),
		ie.NewTSCManagementInformationWithinSessionModificationResponse(
			ie.NewPortManagementInformationContainer("port")))
	put("gopfcp_deletion_response", message.MsgTypeSessionDeletionResponse, 16, true,
		ie.NewCause(1), ie.NewUsageReportWithinSessionDeletionResponse(ie.NewURRID(12), ie.NewURSEQN(107),
			ie.NewUsageReportTrigger(0, 8, 0)),
		ie.NewAdditionalUsageReportsInformation(108))
	put("gopfcp_report_request", message.MsgTypeSessionReportRequest, 16, true,
		ie.NewReportType(0, 0, 1, 1),
		ie.NewDownlinkDataReport(ie.NewPDRID(1), ie.NewDownlinkDataServiceInformation(false, true, 0, 7),
			ie.NewDLDataPacketsSize(109), ie.NewDataStatus(3)),
		ie.NewUsageReportWithinSessionReportRequest(ie.NewURRID(12), ie.NewURSEQN(110),
			ie.NewUsageReportTrigger(0, 0, 0x04),
			ie.NewJoinIPMulticastInformationWithinUsageReport(
				ie.NewIPMulticastAddress(net.ParseIP("239.0.0.2").To4(), nil, nil, nil),
				ie.NewSourceIPAddress(nil, v6b, 0)),
			ie.NewLeaveIPMulticastInformationWithinUsageReport(
				ie.NewIPMulticastAddress(net.ParseIP("239.0.0.3").To4(), nil, nil, nil))),
		ie.NewPFCPSRReqFlags(1),
		ie.NewTSCManagementInformationWithinSessionReportRequest(ie.NewNWTTPortNumber(111)),
		ie.NewSessionReport(ie.NewSRRID(14),
			ie.NewAccessAvailabilityReport(ie.NewAccessAvailabilityInformation(1, 0)),
			ie.NewQoSMonitoringReport(ie.NewQFI(7), ie.NewQoSMonitoringMeasurement(7, 112, 113, 114),
				ie.NewEventTimeStamp(day), ie.NewStartTime(day))))
	put("gopfcp_report_response", message.MsgTypeSessionReportResponse, 90, true,
		ie.NewCause(1), ie.NewPFCPSRRspFlags(1), ie.NewFSEID(115, v4b, nil),
		ie.NewFTEID(0x01, 116, v4b, nil, 0), ie.NewAlternativeSMFIPAddress(v4b, nil))
}

// packetRates are apart: tshark 4.0 can't read the eight octets of the validity time.
func packetRates() {
	rate := ie.NewPacketRateStatus(7, 93, 94, 95, 96, day)
	put("gopfcp_packet_rate_status_in_modification", message.MsgTypeSessionModificationResponse, 16, true,
		ie.NewCause(1), ie.NewPacketRateStatusReportWithinSessionModificationResponse(ie.NewQERID(17), rate))
	put("gopfcp_packet_rate_status_in_deletion", message.MsgTypeSessionDeletionResponse, 16, true,
		ie.NewCause(1), ie.NewPacketRateStatusReport(ie.NewQERID(17), rate))
	put("gopfcp_packet_rate_status_in_report", message.MsgTypeSessionReportRequest, 16, true,
		ie.NewReportType(0, 0, 1, 0), ie.NewPacketRateStatusReport(ie.NewQERID(17), rate))
}

func main() {
	nodeMessages()
	sessionRequests()
	sessionResponses()
	packetRates()
}
