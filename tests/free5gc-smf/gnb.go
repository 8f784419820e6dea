package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"time"
)

// A gNB of one UE: GTP-U (TS 29.281) by hand, packet by packet.

const upfAddress = "127.0.0.8"

type tunnel [4]byte

type gnb struct {
	socket  *net.UDPConn
	address net.IP
	teid    tunnel
}

func openGnb(address string, teid uint32) (*gnb, error) {
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(address), Port: 2152})
	if err != nil {
		return nil, err
	}
	g := &gnb{socket: socket, address: net.ParseIP(address).To4()}
	binary.BigEndian.PutUint32(g.teid[:], teid)
	return g, nil
}

// setupResponse is a PDUSessionResourceSetupResponseTransfer (TS 38.413 9.3.4.2): GTP tunnel, QFI 1.
func (g *gnb) setupResponse() []byte {
	return append(append(append([]byte{0x00, 0x03, 0xe0}, g.address...), g.teid[:]...), 0x00, 0x01)
}

// pathSwitch is a PathSwitchRequestTransfer (TS 38.413 9.3.4.8): GTP tunnel, QFI 1 accepted.
func (g *gnb) pathSwitch() []byte {
	return append(append(append([]byte{0x00, 0x1f}, g.address...), g.teid[:]...), 0x00, 0x02)
}

func (g *gnb) send(message []byte) error {
	_, err := g.socket.WriteToUDP(message, &net.UDPAddr{IP: net.ParseIP(upfAddress), Port: 2152})
	return err
}

// gPdu: an uplink PDU Session Container with QFI 1 in front of the packet.
func gPdu(teid tunnel, packet []byte) []byte {
	header := []byte{0x34, 0xff, 0, 0, teid[0], teid[1], teid[2], teid[3], 0, 0, 0, 0x85, 1, 0x10, 1, 0}
	binary.BigEndian.PutUint16(header[2:], uint16(len(header)-8+len(packet)))
	return append(header, packet...)
}

type received struct {
	kind    byte
	teid    tunnel
	payload []byte
}

// receive gives the next message that isn't an Echo Request; those it answers (TS 29.281 7.2.2).
func (g *gnb) receive() (received, error) {
	buffer := make([]byte, 65536)
	if err := g.socket.SetReadDeadline(time.Now().Add(budget)); err != nil {
		return received{}, err
	}
	for {
		size, err := g.socket.Read(buffer)
		if err != nil {
			return received{}, fmt.Errorf("gNB %s: %w", g.address, err)
		}
		if size < 12 || buffer[1] != 1 {
			return parseGtpu(buffer[:size])
		}
		if err := g.send([]byte{0x32, 2, 0, 6, 0, 0, 0, 0, buffer[8], buffer[9], 0, 0, 14, 0}); err != nil {
			return received{}, err
		}
	}
}

func parseGtpu(message []byte) (received, error) {
	if len(message) < 8 || message[0]>>4 != 3 || int(binary.BigEndian.Uint16(message[2:]))+8 != len(message) {
		return received{}, fmt.Errorf("not a GTP-U message: %x", message)
	}
	r := received{kind: message[1], teid: tunnel(message[4:8]), payload: message[8:]}
	if message[0]&7 == 0 {
		return r, nil
	}
	if len(message) < 12 {
		return received{}, fmt.Errorf("short optional fields: %x", message)
	}
	next, rest := message[11], message[12:]
	for next != 0 {
		if len(rest) < 4 || len(rest) < int(rest[0])*4 || rest[0] == 0 {
			return received{}, fmt.Errorf("bad extension header: %x", message)
		}
		length := int(rest[0]) * 4
		next, rest = rest[length-1], rest[length:]
	}
	r.payload = rest
	return r, nil
}

func (g *gnb) expect(kind byte) (received, error) {
	r, err := g.receive()
	if err != nil {
		return r, err
	}
	if r.kind != kind || (kind != 26 && r.teid != g.teid) {
		return r, fmt.Errorf("gNB %s: message type %d for TEID %x, wanted %d for %x", g.address, r.kind, r.teid, kind, g.teid)
	}
	return r, nil
}

func (g *gnb) ping(uplink tunnel, ue, other net.IP) error {
	icmp := []byte{8, 0, 0, 0, 0x12, 0x34, 0, 1, 'k', 'u', 'p', 'f'}
	binary.BigEndian.PutUint16(icmp[2:], checksum(icmp))
	if err := g.send(gPdu(uplink, ipv4(1, ue, other, icmp))); err != nil {
		return err
	}
	r, err := g.expect(255)
	if err != nil {
		return err
	}
	if len(r.payload) != 32 || r.payload[20] != 0 || !net.IP(r.payload[12:16]).Equal(other) || !net.IP(r.payload[16:20]).Equal(ue) {
		return fmt.Errorf("not the echo's answer: %x", r.payload)
	}
	return nil
}

func (g *gnb) expectPayload(text string) error {
	r, err := g.expect(255)
	if err != nil {
		return err
	}
	if len(r.payload) < 28 || string(r.payload[28:]) != text {
		return fmt.Errorf("%x came, wanted %q", r.payload, text)
	}
	return nil
}

func (g *gnb) expectEndMarker() error {
	_, err := g.expect(254)
	return err
}

// expectErrorIndication: what a UPF answers to a tunnel that it doesn't know (TS 29.281 7.3.1).
func (g *gnb) expectErrorIndication(uplink tunnel, ue net.IP) error {
	if err := g.send(gPdu(uplink, ipv4(17, ue, net.ParseIP("10.99.0.1"), make([]byte, 8)))); err != nil {
		return err
	}
	_, err := g.expect(26)
	return err
}

func sendDownlink(ue net.IP, text string) error {
	socket, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: ue, Port: 9})
	if err != nil {
		return err
	}
	defer socket.Close() //nolint:errcheck // nothing is lost
	_, err = socket.Write([]byte(text))
	return err
}

func ipv4(protocol byte, from, to net.IP, payload []byte) []byte {
	header := make([]byte, 20)
	header[0], header[8], header[9] = 0x45, 64, protocol
	binary.BigEndian.PutUint16(header[2:], uint16(20+len(payload)))
	copy(header[12:], from.To4())
	copy(header[16:], to.To4())
	binary.BigEndian.PutUint16(header[10:], checksum(header))
	return append(header, payload...)
}

func checksum(octets []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(octets); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(octets[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
