// go-pfcp drives a UPF with github.com/wmnsk/go-pfcp, in the manner of an Open5GS SMF: F-TEIDs chosen by
// the UPF, a BAR, no Update PDR; and then what only some CP functions send: PFDs, Traffic Endpoints,
// Association Update, Session Set Deletion, broken requests. Each step is a line of output.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"time"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"

	"kupf/tests/interop/peer"
)

var (
	smfAddress = flag.String("smf", "10.200.3.101", "address of the SMF")
	upfAddress = flag.String("upf", "10.200.3.1", "address of the UPF, N4 and N3")
	gnb1       = flag.String("gnb1", "10.200.3.11", "address of the first gNB")
	gnb2       = flag.String("gnb2", "10.200.3.12", "address of the second gNB")
	ueAddress  = flag.String("ue", "10.60.0.1", "address of the UE")
	host       = flag.String("host", "10.200.6.2", "a host in the data network")
)

const (
	cpSeid       = uint64(0x7d1)
	downlinkTeid = uint32(0x3100)
	movedTeid    = uint32(0x3200)

	access, core = 0, 1
	forward      = 0x02
	buffer       = 0x0c
)

type smf struct {
	conn     *net.UDPConn
	upf      *net.UDPAddr
	sequence uint32
	upSeid   uint64
	teid     uint32
	reports  []*message.SessionReportRequest
}

func (s *smf) next() uint32 {
	s.sequence++
	return s.sequence
}

func (s *smf) send(m message.Message) error {
	octets := make([]byte, m.MarshalLen())
	if err := m.MarshalTo(octets); err != nil {
		return err
	}
	_, err := s.conn.WriteToUDP(octets, s.upf)
	return err
}

// receive gives the next message; what the UPF asks is answered and, if it is a report, kept.
func (s *smf) receive(patience time.Duration) (message.Message, error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	octets := make([]byte, 8192)
	size, _, err := s.conn.ReadFromUDP(octets)
	if err != nil {
		return nil, err
	}
	m, err := message.Parse(octets[:size])
	if err != nil {
		return nil, fmt.Errorf("go-pfcp can't read % x: %w", octets[:size], err)
	}
	switch request := m.(type) {
	case *message.HeartbeatRequest:
		return m, s.send(message.NewHeartbeatResponse(m.Sequence(), ie.NewRecoveryTimeStamp(time.Now())))
	case *message.SessionReportRequest:
		s.reports = append(s.reports, request)
		return m, s.send(message.NewSessionReportResponse(0, 0, s.upSeid, m.Sequence(), 0,
			ie.NewCause(ie.CauseRequestAccepted)))
	}
	return m, nil
}

// ask sends a request and waits for the answer with its sequence number.
func (s *smf) ask(request message.Message) (message.Message, error) {
	if err := s.send(request); err != nil {
		return nil, err
	}
	for {
		m, err := s.receive(peer.Patience)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", request.MessageTypeName(), err)
		}
		if m.Sequence() == request.Sequence() && m.MessageType() == request.MessageType()+1 {
			return m, nil
		}
	}
}

func (s *smf) report() (*message.SessionReportRequest, error) {
	for len(s.reports) == 0 {
		if _, err := s.receive(peer.Patience); err != nil {
			return nil, fmt.Errorf("no Session Report Request came: %w", err)
		}
	}
	first := s.reports[0]
	s.reports = s.reports[1:]
	return first, peer.Want("SEID of the report", cpSeid, first.SEID())
}

func cause(item *ie.IE, wanted uint8) error {
	if item == nil {
		return errors.New("the answer has no Cause")
	}
	got, err := item.Cause()
	return peer.First(err, peer.Want("cause", wanted, got))
}

func offending(item *ie.IE, wanted uint16) error {
	if item == nil {
		return errors.New("the answer has no Offending IE")
	}
	got, err := item.OffendingIE()
	return peer.First(err, peer.Want("Offending IE", wanted, got))
}

func (s *smf) node() *ie.IE { return ie.NewNodeID(*smfAddress, "", "") }

func (s *smf) fseid() *ie.IE { return ie.NewFSEID(cpSeid, net.ParseIP(*smfAddress), nil) }

func (s *smf) ownNode(item *ie.IE) error {
	if item == nil {
		return errors.New("the answer has no Node ID")
	}
	got, err := item.NodeID()
	return peer.First(err, peer.Want("Node ID", *upfAddress, got))
}

func (s *smf) associate() error {
	m, err := s.ask(message.NewAssociationSetupRequest(s.next(), s.node(),
		ie.NewRecoveryTimeStamp(time.Now()), ie.NewCPFunctionFeatures(0)))
	if err != nil {
		return err
	}
	answer := m.(*message.AssociationSetupResponse)
	if answer.UPFunctionFeatures == nil || answer.RecoveryTimeStamp == nil {
		return errors.New("the answer lacks the features or the time stamp")
	}
	return peer.First(cause(answer.Cause, ie.CauseRequestAccepted), s.ownNode(answer.NodeID),
		peer.Want("FTUP", true, answer.UPFunctionFeatures.HasFTUP()))
}

func labels(name string) *ie.IE { return ie.NewNetworkInstanceFQDN(name) }

func downlinkPdr() *ie.IE {
	return ie.NewCreatePDR(ie.NewPDRID(1), ie.NewPrecedence(65535),
		ie.NewPDI(ie.NewSourceInterface(core), labels("internet"),
			ie.NewUEIPAddress(0x06, *ueAddress, "", 0, 0)),
		ie.NewFARID(1), ie.NewURRID(1), ie.NewQERID(1))
}

func chosen() *ie.IE { return ie.NewFTEID(0x0d, 0, net.IPv4zero, nil, 5) }

func uplinkPdrs() []*ie.IE {
	return []*ie.IE{
		ie.NewCreatePDR(ie.NewPDRID(2), ie.NewPrecedence(65535),
			ie.NewPDI(ie.NewSourceInterface(access), chosen(), labels("internet"), ie.NewQFI(1),
				ie.NewUEIPAddress(0x02, *ueAddress, "", 0, 0)),
			ie.NewOuterHeaderRemoval(6, 0), ie.NewFARID(2), ie.NewURRID(1), ie.NewQERID(1)),
		ie.NewCreatePDR(ie.NewPDRID(4), ie.NewPrecedence(255),
			ie.NewPDI(ie.NewSourceInterface(access), chosen(), labels("internet"),
				ie.NewSDFFilter("permit out 58 from ff02::2/128 to assigned", "", "", "", 0)),
			ie.NewOuterHeaderRemoval(6, 0), ie.NewFARID(3)),
	}
}

func (s *smf) establishment(without uint16) *message.SessionEstablishmentRequest {
	items := append([]*ie.IE{s.node(), s.fseid(), downlinkPdr()}, uplinkPdrs()...)
	items = append(items,
		ie.NewCreateFAR(ie.NewFARID(1), ie.NewApplyAction(buffer, 0), ie.NewBARID(1)),
		ie.NewCreateFAR(ie.NewFARID(2), ie.NewApplyAction(forward, 0),
			ie.NewForwardingParameters(ie.NewDestinationInterface(core), labels("internet"))),
		ie.NewCreateFAR(ie.NewFARID(3), ie.NewApplyAction(forward, 0),
			ie.NewForwardingParameters(ie.NewDestinationInterface(3),
				ie.NewOuterHeaderCreation(0x0100, 7, *smfAddress, "", 0, 0, 0))),
		ie.NewCreateURR(ie.NewURRID(1), ie.NewMeasurementMethod(0, 1, 0),
			ie.NewReportingTriggers(0x02, 0, 0), ie.NewVolumeThreshold(0x01, 200, 0, 0)),
		ie.NewCreateQER(ie.NewQERID(1), ie.NewGateStatus(0, 0), ie.NewMBR(1048576, 1048576), ie.NewQFI(1)),
		ie.NewCreateBAR(ie.NewBARID(1)), ie.NewPDNType(1),
		ie.NewAPNDNN("internet"), ie.NewSNSSAI(1, 0xffffff))
	var kept []*ie.IE
	for _, item := range items {
		if item.Type != without {
			kept = append(kept, item)
		}
	}
	return message.NewSessionEstablishmentRequest(0, 0, 0, s.next(), 0, kept...)
}

func (s *smf) establish() error {
	m, err := s.ask(s.establishment(0))
	if err != nil {
		return err
	}
	answer := m.(*message.SessionEstablishmentResponse)
	if err := peer.First(cause(answer.Cause, ie.CauseRequestAccepted), s.ownNode(answer.NodeID),
		peer.Want("header SEID", cpSeid, m.SEID())); err != nil {
		return err
	}
	if answer.UPFSEID == nil {
		return errors.New("no UP F-SEID")
	}
	seid, err := answer.UPFSEID.FSEID()
	if err != nil {
		return err
	}
	s.upSeid = seid.SEID
	return s.chosenTeid(answer.CreatedPDR)
}

// chosenTeid checks that the PDRs with one CHOOSE ID got one F-TEID.
func (s *smf) chosenTeid(created []*ie.IE) error {
	s.teid = 0
	for _, item := range created {
		fteid, err := item.FTEID()
		if err != nil {
			continue // the downlink PDR has none
		}
		if s.teid != 0 && s.teid != fteid.TEID {
			return fmt.Errorf("two TEIDs for one CHOOSE ID: %#x and %#x", s.teid, fteid.TEID)
		}
		s.teid = fteid.TEID
		if err := peer.Want("address of the F-TEID", *upfAddress, fteid.IPv4Address.String()); err != nil {
			return err
		}
	}
	if s.teid == 0 {
		return errors.New("no Created PDR has an F-TEID")
	}
	return nil
}

func (s *smf) modify(items ...*ie.IE) (*message.SessionModificationResponse, error) {
	m, err := s.ask(message.NewSessionModificationRequest(0, 0, s.upSeid, s.next(), 0, items...))
	if err != nil {
		return nil, err
	}
	return m.(*message.SessionModificationResponse), peer.Want("header SEID", cpSeid, m.SEID())
}

func (s *smf) accepted(items ...*ie.IE) error {
	answer, err := s.modify(items...)
	if err != nil {
		return err
	}
	return cause(answer.Cause, ie.CauseRequestAccepted)
}

func (s *smf) towards(gnb string, teid uint32, endMarker bool) error {
	parameters := []*ie.IE{ie.NewDestinationInterface(access), labels("internet"),
		ie.NewOuterHeaderCreation(0x0100, teid, gnb, "", 0, 0, 0)}
	if endMarker {
		parameters = append(parameters, ie.NewPFCPSMReqFlags(0x02))
	}
	return s.accepted(ie.NewUpdateFAR(ie.NewFARID(1), ie.NewApplyAction(forward, 0),
		ie.NewUpdateForwardingParameters(parameters...)))
}

func (s *smf) idle() error {
	return s.accepted(ie.NewUpdateFAR(ie.NewFARID(1), ie.NewApplyAction(buffer, 0), ie.NewBARID(1)))
}

func (s *smf) page() error {
	for {
		report, err := s.report()
		if err != nil {
			return err
		}
		if !report.ReportType.HasDLDR() {
			continue // usage
		}
		id, err := report.DownlinkDataReport.PDRID()
		return peer.First(err, peer.Want("PDR ID", uint16(1), id))
	}
}

func (s *smf) volumeThreshold() error {
	for {
		report, err := s.report()
		if err != nil {
			return err
		}
		if !report.ReportType.HasUSAR() || len(report.UsageReport) != 1 {
			return fmt.Errorf("not one usage report")
		}
		trigger, err := report.UsageReport[0].UsageReportTrigger()
		if err != nil {
			return err
		}
		volume, err := report.UsageReport[0].VolumeMeasurement()
		if err != nil {
			return err
		}
		if volume.TotalVolume < 200 {
			return fmt.Errorf("reported at %d octets, the threshold is 200", volume.TotalVolume)
		}
		return peer.First(peer.Want("octets of trigger", 3, len(trigger)),
			peer.Want("trigger VOLTH", byte(2), trigger[0]))
	}
}

func (s *smf) refusedEstablishment(without uint16) error {
	m, err := s.ask(s.establishment(without))
	if err != nil {
		return err
	}
	answer := m.(*message.SessionEstablishmentResponse)
	return peer.First(cause(answer.Cause, ie.CauseMandatoryIEMissing),
		offending(answer.OffendingIE, without), s.ownNode(answer.NodeID))
}

func (s *smf) unknownRule() error {
	answer, err := s.modify(ie.NewRemovePDR(ie.NewPDRID(99)))
	if err != nil {
		return err
	}
	if answer.FailedRuleID == nil {
		return errors.New("no Failed Rule ID")
	}
	return cause(answer.Cause, ie.CauseRuleCreationModificationFailure)
}

func (s *smf) pfds() error {
	m, err := s.ask(message.NewPFDManagementRequest(s.next(),
		ie.NewApplicationIDsPFDs(ie.NewApplicationID("video"),
			ie.NewPFDContext(ie.NewPFDContents("permit out ip from 198.51.100.0/24 to assigned",
				"", "", "", "", nil, nil, nil)))))
	if err != nil {
		return err
	}
	return cause(m.(*message.PFDManagementResponse).Cause, ie.CauseRequestAccepted)
}

func (s *smf) remove(wanted uint8) (*message.SessionDeletionResponse, error) {
	m, err := s.ask(message.NewSessionDeletionRequest(0, 0, s.upSeid, s.next(), 0))
	if err != nil {
		return nil, err
	}
	answer := m.(*message.SessionDeletionResponse)
	return answer, cause(answer.Cause, wanted)
}

func (s *smf) removeForGood() error {
	answer, err := s.remove(ie.CauseRequestAccepted)
	if err != nil {
		return err
	}
	if len(answer.UsageReport) != 1 {
		return fmt.Errorf("%d final usage reports, not 1", len(answer.UsageReport))
	}
	trigger, err := answer.UsageReport[0].UsageReportTrigger()
	return peer.First(err, peer.Want("trigger TERMR", byte(8), trigger[1]))
}

func (s *smf) update() error {
	m, err := s.ask(message.NewAssociationUpdateRequest(s.next(), s.node(), ie.NewCPFunctionFeatures(0x03)))
	if err != nil {
		return err
	}
	answer := m.(*message.AssociationUpdateResponse)
	return peer.First(cause(answer.Cause, ie.CauseRequestAccepted), s.ownNode(answer.NodeID))
}

func (s *smf) sessionSetDeletion() error {
	m, err := s.ask(message.NewSessionSetDeletionRequest(s.next(), s.node(), ie.NewFQCSID(*smfAddress, 1)))
	if err != nil {
		return err
	}
	answer := m.(*message.SessionSetDeletionResponse)
	if answer.Cause == nil {
		return errors.New("the answer has no Cause")
	}
	return s.ownNode(answer.NodeID)
}

func (s *smf) duplicate() error {
	request := s.establishment(0)
	first, err := s.ask(request)
	if err != nil {
		return err
	}
	second, err := s.ask(request)
	if err != nil {
		return err
	}
	one, err := first.(*message.SessionEstablishmentResponse).UPFSEID.FSEID()
	if err != nil {
		return err
	}
	two, err := second.(*message.SessionEstablishmentResponse).UPFSEID.FSEID()
	if err != nil {
		return err
	}
	s.upSeid = one.SEID
	if _, err := s.remove(ie.CauseRequestAccepted); err != nil {
		return err
	}
	return peer.Want("UP SEID in the repeated answer", one.SEID, two.SEID)
}

func (s *smf) otherVersion() error {
	if _, err := s.conn.WriteToUDP([]byte{0x40, 1, 0, 4, 0, 0, 9, 0}, s.upf); err != nil {
		return err
	}
	m, err := s.receive(peer.Patience)
	if err != nil {
		return err
	}
	return peer.First(peer.Want("message type", message.MsgTypeVersionNotSupportedResponse, m.MessageType()),
		peer.Want("sequence number", uint32(9), m.Sequence()))
}

func run(s *smf, first, second *peer.Gnb) {
	peer.Step("heartbeat", func() error {
		m, err := s.ask(message.NewHeartbeatRequest(s.next(), ie.NewRecoveryTimeStamp(time.Now()), nil))
		if err != nil {
			return err
		}
		_, err = m.(*message.HeartbeatResponse).RecoveryTimeStamp.RecoveryTimeStamp()
		return err
	})
	peer.Step("another version of PFCP", s.otherVersion)
	peer.Step("association setup", s.associate)
	peer.Step("association update", s.update)
	peer.Step("PFDs of an application", s.pfds)
	peer.Step("establishment without Node ID", func() error { return s.refusedEstablishment(ie.NodeID) })
	peer.Step("establishment without F-SEID", func() error { return s.refusedEstablishment(ie.FSEID) })
	peer.Step("establishment without a PDR", func() error { return s.refusedEstablishment(ie.CreatePDR) })
	peer.Step("establishment that chooses an F-TEID", s.establish)
	peer.Step("downlink data before the activation is reported", func() error {
		return peer.First(first.Ping(s.teid, 1, *ueAddress, *host), s.page())
	})
	peer.Step("activation, and what was buffered", func() error {
		return peer.First(s.towards(*gnb1, downlinkTeid, false), first.ExpectEchoReply(downlinkTeid, *ueAddress))
	})
	peer.Step("a volume threshold is reported", func() error {
		return peer.First(first.Ping(s.teid, 1, *ueAddress, *host),
			first.ExpectEchoReply(downlinkTeid, *ueAddress), s.volumeThreshold())
	})
	peer.Step("handover with an End Marker", func() error {
		return peer.First(s.towards(*gnb2, movedTeid, true), first.ExpectEndMarker(downlinkTeid),
			second.Ping(s.teid, 1, *ueAddress, *host), second.ExpectEchoReply(movedTeid, *ueAddress))
	})
	peer.Step("idle, paging, activation", func() error {
		s.reports = nil
		return peer.First(s.idle(), second.Ping(s.teid, 1, *ueAddress, *host), s.page(),
			s.towards(*gnb2, movedTeid, false), second.ExpectEchoReply(movedTeid, *ueAddress))
	})
	peer.Step("an unknown rule is named, and the session goes on", func() error {
		return peer.First(s.unknownRule(), second.Ping(s.teid, 1, *ueAddress, *host),
			second.ExpectEchoReply(movedTeid, *ueAddress))
	})
	peer.Step("an Error Indication is reported", func() error { return s.errorIndication(second) })
	peer.Step("deletion with a final report", s.removeForGood)
	peer.Step("deletion of what is gone is refused", func() error {
		_, err := s.remove(ie.CauseSessionContextNotFound)
		return err
	})
	peer.Step("a repeated request is answered alike", s.duplicate)
	peer.Step("session set deletion", s.sessionSetDeletion)
	peer.Step("association release", func() error {
		m, err := s.ask(message.NewAssociationReleaseRequest(s.next(), s.node()))
		if err != nil {
			return err
		}
		return cause(m.(*message.AssociationReleaseResponse).Cause, ie.CauseRequestAccepted)
	})
}

func (s *smf) errorIndication(gnb *peer.Gnb) error {
	s.reports = nil
	if err := gnb.ErrorIndication(movedTeid); err != nil {
		return err
	}
	for {
		report, err := s.report()
		if err != nil {
			return err
		}
		if !report.ReportType.HasERIR() {
			continue
		}
		remote, err := report.ErrorIndicationReport.FTEID()
		if err != nil {
			return err
		}
		return peer.First(peer.Want("remote TEID", movedTeid, remote.TEID),
			peer.Want("remote address", *gnb2, remote.IPv4Address.String()))
	}
}

func main() {
	flag.Parse()
	s := &smf{upf: &net.UDPAddr{IP: net.ParseIP(*upfAddress), Port: 8805}}
	var first, second *peer.Gnb
	peer.Step("sockets", func() (err error) {
		s.conn, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(*smfAddress), Port: 8805})
		if err != nil {
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
