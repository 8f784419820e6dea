// free5gc-pfcp drives a UPF with free5GC's own PFCP library, as its SMF does: the same structs, the same
// transactions, the order of procedures of a PDU session's life. Each step is a line of output.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"time"

	"github.com/free5gc/pfcp"
	"github.com/free5gc/pfcp/logger"
	"github.com/free5gc/pfcp/pfcpType"
	"github.com/free5gc/pfcp/pfcpUdp"
	"github.com/sirupsen/logrus"

	"kupf/tests/interop/peer"
)

var (
	smfAddress = flag.String("smf", "10.200.3.101", "address of the SMF")
	upfAddress = flag.String("upf", "10.200.3.1", "address of the UPF, N4 and N3")
	gnb1       = flag.String("gnb1", "10.200.3.11", "address of the first gNB")
	gnb2       = flag.String("gnb2", "10.200.3.12", "address of the second gNB")
	ueAddress  = flag.String("ue", "10.60.0.1", "address of the UE")
	host       = flag.String("host", "10.200.6.2", "a host in the data network")
	echoOctets = flag.Uint64("echo-octets", 84, "what the plane counts for an echo of 56 octets of data: 84 the T-PDU, 64 behind its IP header")
)

const (
	cpSeid       = uint64(0x1a)
	uplinkTeid   = uint32(0x1234)
	downlinkTeid = uint32(0x0100)
	movedTeid    = uint32(0x0200)
)

type smf struct {
	server   *pfcpUdp.PfcpServer
	upf      *net.UDPAddr
	sequence uint32
	upSeid   uint64
	node     *pfcpType.NodeID
	incoming chan *pfcpUdp.Message
}

func ip(text string) net.IP { return net.ParseIP(text).To4() }

func newSmf() (*smf, error) {
	s := &smf{
		server:   pfcpUdp.NewPfcpServer(*smfAddress),
		upf:      &net.UDPAddr{IP: ip(*upfAddress), Port: pfcpUdp.PFCP_PORT},
		node:     &pfcpType.NodeID{NodeIdType: pfcpType.NodeIdTypeIpv4Address, IP: ip(*smfAddress)},
		incoming: make(chan *pfcpUdp.Message, 16),
	}
	if err := s.server.Listen(); err != nil {
		return nil, err
	}
	go s.read()
	return s, nil
}

// read hands on what the UPF asks; answers find their transaction inside the library.
func (s *smf) read() {
	for {
		message, err := s.server.ReadFrom()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			fmt.Printf("note: %v\n", err)
			continue
		}
		if message.PfcpMessage.IsRequest() {
			s.incoming <- message
		}
	}
}

// ask sends a request and gives the body of its answer. Session messages have a SEID, and for
// everything after the establishment the priority that free5GC gives them.
func (s *smf) ask(kind pfcp.MessageType, session bool, body interface{}) (*pfcp.Message, error) {
	s.sequence++
	header := pfcp.Header{Version: pfcp.PfcpVersion, MessageType: kind, SequenceNumber: s.sequence}
	if session {
		header.S, header.MP, header.SEID = pfcp.SEID_PRESENT, 1, s.upSeid
		if kind != pfcp.PFCP_SESSION_ESTABLISHMENT_REQUEST {
			header.MessagePriority = 12
		}
	}
	answer, err := s.server.WriteRequestTo(&pfcp.Message{Header: header, Body: body}, s.upf)
	if err != nil {
		return nil, err
	}
	return answer.PfcpMessage, nil
}

// answer replies to the UPF with cause 1.
func (s *smf) answer(request *pfcpUdp.Message) {
	header := request.PfcpMessage.Header
	reply := &pfcp.Message{
		Header: pfcp.Header{
			Version: pfcp.PfcpVersion, S: pfcp.SEID_PRESENT, SEID: s.upSeid,
			MessageType: pfcp.PFCP_SESSION_REPORT_RESPONSE, SequenceNumber: header.SequenceNumber,
		},
		Body: pfcp.PFCPSessionReportResponse{Cause: &pfcpType.Cause{CauseValue: pfcpType.CauseRequestAccepted}},
	}
	s.server.WriteResponseTo(reply, request.RemoteAddr)
}

// report waits for a Session Report Request, answers it and gives its body.
func (s *smf) report() (*pfcp.PFCPSessionReportRequest, error) {
	deadline := time.After(peer.Patience)
	for {
		select {
		case message := <-s.incoming:
			body, ok := message.PfcpMessage.Body.(pfcp.PFCPSessionReportRequest)
			if !ok {
				continue // a heartbeat of the UPF
			}
			if message.PfcpMessage.Header.SEID != cpSeid {
				return nil, fmt.Errorf("a report for SEID %#x", message.PfcpMessage.Header.SEID)
			}
			s.answer(message)
			return &body, nil
		case <-deadline:
			return nil, errors.New("no Session Report Request came")
		}
	}
}

func accepted(cause *pfcpType.Cause) error {
	if cause == nil {
		return errors.New("the answer has no Cause")
	}
	return peer.Want("cause", pfcpType.CauseRequestAccepted, cause.CauseValue)
}

func refused(cause *pfcpType.Cause, wanted uint8) error {
	if cause == nil {
		return errors.New("the answer has no Cause")
	}
	return peer.Want("cause", wanted, cause.CauseValue)
}

func (s *smf) heartbeat() (time.Time, error) {
	answer, err := s.ask(pfcp.PFCP_HEARTBEAT_REQUEST, false, pfcp.HeartbeatRequest{
		RecoveryTimeStamp: &pfcpType.RecoveryTimeStamp{RecoveryTimeStamp: time.Now()},
	})
	if err != nil {
		return time.Time{}, err
	}
	body, ok := answer.Body.(pfcp.HeartbeatResponse)
	if !ok || body.RecoveryTimeStamp == nil {
		return time.Time{}, errors.New("no Recovery Time Stamp in the answer")
	}
	return body.RecoveryTimeStamp.RecoveryTimeStamp, nil
}

func (s *smf) associate() (time.Time, error) {
	answer, err := s.ask(pfcp.PFCP_ASSOCIATION_SETUP_REQUEST, false, pfcp.PFCPAssociationSetupRequest{
		NodeID:             s.node,
		RecoveryTimeStamp:  &pfcpType.RecoveryTimeStamp{RecoveryTimeStamp: time.Now()},
		CPFunctionFeatures: &pfcpType.CPFunctionFeatures{SupportedFeatures: 0},
	})
	if err != nil {
		return time.Time{}, err
	}
	body, ok := answer.Body.(pfcp.PFCPAssociationSetupResponse)
	if !ok || body.NodeID == nil || body.RecoveryTimeStamp == nil || body.UPFunctionFeatures == nil {
		return time.Time{}, fmt.Errorf("the answer lacks an IE: %+v", body)
	}
	return body.RecoveryTimeStamp.RecoveryTimeStamp, peer.First(
		accepted(body.Cause),
		peer.Want("Node ID", *upfAddress, body.NodeID.ResolveNodeIdToIp().String()))
}

func (s *smf) fseid() *pfcpType.FSEID {
	return &pfcpType.FSEID{V4: true, Seid: cpSeid, Ipv4Address: ip(*smfAddress)}
}

func dnn() *pfcpType.NetworkInstance { return &pfcpType.NetworkInstance{NetworkInstance: "internet"} }

func downlinkPdi() *pfcp.PDI {
	return &pfcp.PDI{
		SourceInterface: &pfcpType.SourceInterface{InterfaceValue: pfcpType.SourceInterfaceCore},
		NetworkInstance: dnn(),
		UEIPAddress:     &pfcpType.UEIPAddress{V4: true, Sd: true, Ipv4Address: ip(*ueAddress)},
	}
}

func createPdrs() []*pfcp.CreatePDR {
	qers := []*pfcpType.QERID{{QERID: 1}, {QERID: 2}}
	urrs := []*pfcpType.URRID{{UrrIdValue: 1}}
	uplink := &pfcp.CreatePDR{
		PDRID:      &pfcpType.PacketDetectionRuleID{RuleId: 1},
		Precedence: &pfcpType.Precedence{PrecedenceValue: 255},
		PDI: &pfcp.PDI{
			SourceInterface: &pfcpType.SourceInterface{InterfaceValue: pfcpType.SourceInterfaceAccess},
			LocalFTEID:      &pfcpType.FTEID{V4: true, Teid: uplinkTeid, Ipv4Address: ip(*upfAddress)},
			NetworkInstance: dnn(),
			UEIPAddress:     &pfcpType.UEIPAddress{V4: true, Ipv4Address: ip(*ueAddress)},
		},
		OuterHeaderRemoval: &pfcpType.OuterHeaderRemoval{
			OuterHeaderRemovalDescription: pfcpType.OuterHeaderRemovalGtpUUdpIpv4},
		FARID: &pfcpType.FARID{FarIdValue: 1}, URRID: urrs, QERID: qers,
	}
	downlink := &pfcp.CreatePDR{
		PDRID:      &pfcpType.PacketDetectionRuleID{RuleId: 2},
		Precedence: &pfcpType.Precedence{PrecedenceValue: 255},
		PDI:        downlinkPdi(),
		FARID:      &pfcpType.FARID{FarIdValue: 2}, URRID: urrs, QERID: qers,
	}
	return []*pfcp.CreatePDR{uplink, downlink}
}

func createFars() []*pfcp.CreateFAR {
	forward := &pfcpType.ApplyAction{Forw: true}
	return []*pfcp.CreateFAR{
		{
			FARID: &pfcpType.FARID{FarIdValue: 1}, ApplyAction: forward,
			ForwardingParameters: &pfcp.ForwardingParametersIEInFAR{
				DestinationInterface: &pfcpType.DestinationInterface{
					InterfaceValue: pfcpType.DestinationInterfaceCore},
				NetworkInstance: dnn(),
			},
		},
		{ // Toward the access side, and no tunnel yet.
			FARID: &pfcpType.FARID{FarIdValue: 2}, ApplyAction: forward,
			ForwardingParameters: &pfcp.ForwardingParametersIEInFAR{
				DestinationInterface: &pfcpType.DestinationInterface{
					InterfaceValue: pfcpType.DestinationInterfaceAccess},
			},
		},
	}
}

func createQers() []*pfcp.CreateQER {
	open := &pfcpType.GateStatus{ULGate: pfcpType.GateOpen, DLGate: pfcpType.GateOpen}
	qfi := &pfcpType.QFI{QFI: 1}
	return []*pfcp.CreateQER{
		{QERID: &pfcpType.QERID{QERID: 1}, GateStatus: open, QoSFlowIdentifier: qfi},
		{
			QERID: &pfcpType.QERID{QERID: 2}, GateStatus: open, QoSFlowIdentifier: qfi,
			MaximumBitrate: &pfcpType.MBR{ULMBR: 1000000, DLMBR: 1000000},
		},
	}
}

func createUrr() *pfcp.CreateURR {
	return &pfcp.CreateURR{
		URRID:             &pfcpType.URRID{UrrIdValue: 1},
		MeasurementMethod: &pfcpType.MeasurementMethod{Volum: true},
		ReportingTriggers: &pfcpType.ReportingTriggers{Perio: true, Volth: true},
		MeasurementPeriod: &pfcpType.MeasurementPeriod{MeasurementPeriod: 3600},
		VolumeThreshold: &pfcpType.VolumeThreshold{
			Ulvol: true, Dlvol: true, UplinkVolume: 1 << 30, DownlinkVolume: 1 << 30},
		MeasurementInformation: &pfcpType.MeasurementInformation{Mnop: true},
	}
}

func (s *smf) establish() error {
	s.upSeid = 0
	answer, err := s.ask(pfcp.PFCP_SESSION_ESTABLISHMENT_REQUEST, true, pfcp.PFCPSessionEstablishmentRequest{
		NodeID: s.node, CPFSEID: s.fseid(), CreatePDR: createPdrs(), CreateFAR: createFars(),
		CreateURR: []*pfcp.CreateURR{createUrr()}, CreateQER: createQers(),
		PDNType: &pfcpType.PDNType{PdnType: pfcpType.PDNTypeIpv4},
	})
	if err != nil {
		return err
	}
	body, ok := answer.Body.(pfcp.PFCPSessionEstablishmentResponse)
	if !ok || body.NodeID == nil || body.UPFSEID == nil {
		return fmt.Errorf("the answer lacks an IE: %+v", body)
	}
	s.upSeid = body.UPFSEID.Seid
	return peer.First(accepted(body.Cause), peer.Want("header SEID", cpSeid, answer.Header.SEID),
		peer.Want("Node ID", *upfAddress, body.NodeID.ResolveNodeIdToIp().String()))
}

func (s *smf) modify(request pfcp.PFCPSessionModificationRequest) (pfcp.PFCPSessionModificationResponse, error) {
	request.CPFSEID = s.fseid()
	answer, err := s.ask(pfcp.PFCP_SESSION_MODIFICATION_REQUEST, true, request)
	if err != nil {
		return pfcp.PFCPSessionModificationResponse{}, err
	}
	body, ok := answer.Body.(pfcp.PFCPSessionModificationResponse)
	if !ok || body.Cause == nil {
		return body, errors.New("the answer has no Cause")
	}
	return body, nil
}

// towards points the downlink FAR at a gNB, as an activation and a handover do; with action zero it
// only changes what is done, as free5GC does on AN release, with the old tunnel still in it.
func (s *smf) towards(gnb string, teid uint32, action pfcpType.ApplyAction, endMarker bool) error {
	body, err := s.modify(pfcp.PFCPSessionModificationRequest{
		UpdatePDR: []*pfcp.UpdatePDR{{
			PDRID:      &pfcpType.PacketDetectionRuleID{RuleId: 2},
			Precedence: &pfcpType.Precedence{PrecedenceValue: 255}, PDI: downlinkPdi(),
			FARID: &pfcpType.FARID{FarIdValue: 2}, URRID: []*pfcpType.URRID{{UrrIdValue: 1}},
			QERID: []*pfcpType.QERID{{QERID: 1}, {QERID: 2}},
		}},
		UpdateFAR: []*pfcp.UpdateFAR{{
			FARID: &pfcpType.FARID{FarIdValue: 2}, ApplyAction: &action,
			UpdateForwardingParameters: &pfcp.UpdateForwardingParametersIEInFAR{
				DestinationInterface: &pfcpType.DestinationInterface{
					InterfaceValue: pfcpType.DestinationInterfaceAccess},
				NetworkInstance: dnn(),
				OuterHeaderCreation: &pfcpType.OuterHeaderCreation{
					OuterHeaderCreationDescription: pfcpType.OuterHeaderCreationGtpUUdpIpv4,
					Teid:                           teid, Ipv4Address: ip(gnb)},
				PFCPSMReqFlags: &pfcpType.PFCPSMReqFlags{Sndem: endMarker},
			},
		}},
	})
	if err != nil {
		return err
	}
	return accepted(body.Cause)
}

func (s *smf) queryUsage() error {
	body, err := s.modify(pfcp.PFCPSessionModificationRequest{
		QueryURR: []*pfcp.QueryURR{{URRID: &pfcpType.URRID{UrrIdValue: 1}}},
	})
	if err != nil {
		return err
	}
	if len(body.UsageReport) != 1 {
		return fmt.Errorf("%d usage reports, not 1", len(body.UsageReport))
	}
	report := body.UsageReport[0]
	if report.URRID == nil || report.URSEQN == nil || report.UsageReportTrigger == nil ||
		report.VolumeMeasurement == nil {
		return fmt.Errorf("the report lacks an IE: %+v", report)
	}
	volume := report.VolumeMeasurement
	return peer.First(accepted(body.Cause),
		peer.Want("trigger IMMER", true, report.UsageReportTrigger.Immer),
		peer.Want("uplink octets", *echoOctets, volume.UplinkVolume),
		peer.Want("downlink octets", *echoOctets, volume.DownlinkVolume),
		peer.Want("uplink packets", 1, volume.UplinkPktNum),
		peer.Want("downlink packets", 1, volume.DownlinkPktNum))
}

func (s *smf) page() error {
	report, err := s.report()
	if err != nil {
		return err
	}
	if report.DownlinkDataReport == nil || report.DownlinkDataReport.PDRID == nil {
		return fmt.Errorf("no Downlink Data Report with a PDR ID: %+v", report)
	}
	return peer.First(peer.Want("DLDR", true, report.ReportType.Dldr),
		peer.Want("PDR ID", 2, report.DownlinkDataReport.PDRID.RuleId))
}

// periodic changes the URR to a period of a second and waits for its report.
func (s *smf) periodic() error {
	body, err := s.modify(pfcp.PFCPSessionModificationRequest{UpdateURR: []*pfcp.UpdateURR{{
		URRID:             &pfcpType.URRID{UrrIdValue: 1},
		ReportingTriggers: &pfcpType.ReportingTriggers{Perio: true},
		MeasurementPeriod: &pfcpType.MeasurementPeriod{MeasurementPeriod: 1},
	}}})
	if err != nil {
		return err
	}
	if err := accepted(body.Cause); err != nil {
		return err
	}
	report, err := s.report()
	if err != nil {
		return err
	}
	if len(report.UsageReport) != 1 || report.UsageReport[0].UsageReportTrigger == nil ||
		report.UsageReport[0].VolumeMeasurement == nil {
		return fmt.Errorf("not one whole usage report: %+v", report.UsageReport)
	}
	return peer.First(peer.Want("USAR", true, report.ReportType.Usar),
		peer.Want("trigger PERIO", true, report.UsageReport[0].UsageReportTrigger.Perio))
}

func (s *smf) remove() (pfcp.PFCPSessionDeletionResponse, *pfcp.Message, error) {
	answer, err := s.ask(pfcp.PFCP_SESSION_DELETION_REQUEST, true, pfcp.PFCPSessionDeletionRequest{})
	if err != nil {
		return pfcp.PFCPSessionDeletionResponse{}, nil, err
	}
	body, ok := answer.Body.(pfcp.PFCPSessionDeletionResponse)
	if !ok {
		return body, answer, errors.New("not a Session Deletion Response")
	}
	return body, answer, nil
}

func (s *smf) removeForGood() error {
	body, answer, err := s.remove()
	if err != nil {
		return err
	}
	if len(body.UsageReport) != 1 || body.UsageReport[0].UsageReportTrigger == nil {
		return fmt.Errorf("%d final usage reports, not 1", len(body.UsageReport))
	}
	return peer.First(accepted(body.Cause), peer.Want("header SEID", cpSeid, answer.Header.SEID),
		peer.Want("trigger TERMR", true, body.UsageReport[0].UsageReportTrigger.Termr))
}

func (s *smf) release() error {
	answer, err := s.ask(pfcp.PFCP_ASSOCIATION_RELEASE_REQUEST, false,
		pfcp.PFCPAssociationReleaseRequest{NodeID: s.node})
	if err != nil {
		return err
	}
	body, ok := answer.Body.(pfcp.PFCPAssociationReleaseResponse)
	if !ok || body.NodeID == nil {
		return errors.New("the answer lacks a Node ID")
	}
	return accepted(body.Cause)
}

func run(s *smf, first, second *peer.Gnb) {
	var started time.Time
	forward := pfcpType.ApplyAction{Forw: true}
	buffer := pfcpType.ApplyAction{Buff: true, Nocp: true}

	peer.Step("heartbeat before an association", func() (err error) {
		started, err = s.heartbeat()
		return err
	})
	peer.Step("establishment before an association is refused", func() error {
		answer, err := s.ask(pfcp.PFCP_SESSION_ESTABLISHMENT_REQUEST, true, pfcp.PFCPSessionEstablishmentRequest{
			NodeID: s.node, CPFSEID: s.fseid(), CreatePDR: createPdrs(), CreateFAR: createFars(),
			CreateURR: []*pfcp.CreateURR{createUrr()}, CreateQER: createQers()})
		if err != nil {
			return err
		}
		body := answer.Body.(pfcp.PFCPSessionEstablishmentResponse)
		return peer.First(refused(body.Cause, pfcpType.CauseNoEstablishedPfcpAssociation),
			peer.Want("header SEID", cpSeid, answer.Header.SEID))
	})
	peer.Step("association setup", func() error {
		stamp, err := s.associate()
		return peer.First(err, peer.Want("Recovery Time Stamp", started.Unix(), stamp.Unix()))
	})
	peer.Step("establishment", s.establish)
	peer.Step("nothing goes down before the activation", func() error {
		return peer.First(first.Ping(uplinkTeid, 1, *ueAddress, *host), first.ExpectNothing())
	})
	peer.Step("activation", func() error { return s.towards(*gnb1, downlinkTeid, forward, false) })
	peer.Step("usage of before is asked for", func() error {
		_, err := s.modify(pfcp.PFCPSessionModificationRequest{
			QueryURR: []*pfcp.QueryURR{{URRID: &pfcpType.URRID{UrrIdValue: 1}}}})
		return err
	})
	peer.Step("a packet up and one down", func() error {
		return peer.First(first.Ping(uplinkTeid, 1, *ueAddress, *host),
			first.ExpectEchoReply(downlinkTeid, *ueAddress))
	})
	peer.Step("usage query", s.queryUsage)
	peer.Step("handover", func() error { return s.towards(*gnb2, movedTeid, forward, true) })
	peer.Step("End Marker at the old gNB", func() error {
		return peer.First(first.ExpectEndMarker(downlinkTeid), first.ExpectNothing())
	})
	peer.Step("a packet down at the new gNB", func() error {
		return peer.First(second.Ping(uplinkTeid, 1, *ueAddress, *host),
			second.ExpectEchoReply(movedTeid, *ueAddress))
	})
	peer.Step("idle", func() error { return s.towards(*gnb2, movedTeid, buffer, false) })
	peer.Step("downlink data is reported", func() error {
		return peer.First(second.Ping(uplinkTeid, 1, *ueAddress, *host), s.page(), second.ExpectNothing())
	})
	peer.Step("what was buffered comes after the activation", func() error {
		return peer.First(s.towards(*gnb2, movedTeid, forward, false),
			second.ExpectEchoReply(movedTeid, *ueAddress), second.ExpectNothing())
	})
	peer.Step("a second idle period is reported too", func() error {
		return peer.First(s.towards(*gnb2, movedTeid, buffer, false),
			second.Ping(uplinkTeid, 1, *ueAddress, *host), s.page(),
			s.towards(*gnb2, movedTeid, forward, false), second.ExpectEchoReply(movedTeid, *ueAddress))
	})
	peer.Step("periodic report", s.periodic)
	peer.Step("deletion with a final report", s.removeForGood)
	peer.Step("deletion of what is gone is refused", func() error {
		body, _, err := s.remove()
		return peer.First(err, refused(body.Cause, pfcpType.CauseSessionContextNotFound))
	})
	peer.Step("association release", s.release)
	peer.Step("heartbeat after the release", func() error {
		stamp, err := s.heartbeat()
		return peer.First(err, peer.Want("Recovery Time Stamp", started.Unix(), stamp.Unix()))
	})
}

func main() {
	flag.Parse()
	logger.SetLogLevel(logrus.ErrorLevel)
	var s *smf
	var first, second *peer.Gnb
	peer.Step("sockets", func() (err error) {
		if s, err = newSmf(); err != nil {
			return err
		}
		if first, err = peer.NewGnb(*gnb1, *upfAddress); err != nil {
			return err
		}
		second, err = peer.NewGnb(*gnb2, *upfAddress)
		return err
	})
	run(s, first, second)
}
