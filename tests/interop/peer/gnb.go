package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"
)

// Types of GTP-U messages (TS 29.281 6.1).
const (
	errorIndication = 26
	endMarker       = 254
	gPdu            = 255
)

// Gnb is one end of N3: it sends what a UE would, and sees what comes back.
type Gnb struct {
	conn *net.UDPConn
	upf  *net.UDPAddr
	sent uint16
}

// Arrival is one GTP-U message that came down.
type Arrival struct {
	Type  byte
	Teid  uint32
	Inner []byte
}

// NewGnb listens on port 2152 of address.
func NewGnb(address, upf string) (*Gnb, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(address), Port: 2152})
	if err != nil {
		return nil, err
	}
	return &Gnb{conn: conn, upf: &net.UDPAddr{IP: net.ParseIP(upf), Port: 2152}}, nil
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

// echoRequest is an IPv4 packet with an ICMP echo request of 64 octets.
func echoRequest(from, to string, sequence uint16) []byte {
	packet := make([]byte, 20+8+56)
	packet[0] = 0x45
	binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)))
	packet[8], packet[9] = 64, 1
	copy(packet[12:], net.ParseIP(from).To4())
	copy(packet[16:], net.ParseIP(to).To4())
	binary.BigEndian.PutUint16(packet[10:], checksum(packet[:20]))
	icmp := packet[20:]
	icmp[0] = 8
	binary.BigEndian.PutUint16(icmp[4:], 0x6b75)
	binary.BigEndian.PutUint16(icmp[6:], sequence)
	binary.BigEndian.PutUint16(icmp[2:], checksum(icmp))
	return packet
}

// Ping sends an echo request of the UE up the tunnel, in a PDU Session Container with the QFI.
func (g *Gnb) Ping(teid uint32, qfi byte, ue, host string) error {
	g.sent++
	inner := echoRequest(ue, host, g.sent)
	header := []byte{0x34, gPdu, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x85, 1, 0x10, qfi & 0x3f, 0}
	binary.BigEndian.PutUint16(header[2:], uint16(len(header)-8+len(inner)))
	binary.BigEndian.PutUint32(header[4:], teid)
	_, err := g.conn.WriteToUDP(append(header, inner...), g.upf)
	return err
}

// ErrorIndication says that this gNB does not know the TEID (TS 29.281 7.3.1).
func (g *Gnb) ErrorIndication(teid uint32) error {
	address := g.conn.LocalAddr().(*net.UDPAddr).IP.To4()
	body := []byte{0, 0, 0, 0, 16, 0, 0, 0, 0, 133, 0, 4, address[0], address[1], address[2], address[3]}
	binary.BigEndian.PutUint32(body[5:], teid)
	message := append([]byte{0x32, errorIndication, 0, byte(len(body)), 0, 0, 0, 0}, body...)
	_, err := g.conn.WriteToUDP(message, g.upf)
	return err
}

func parse(octets []byte) (Arrival, error) {
	if len(octets) < 8 {
		return Arrival{}, errors.New("a GTP-U message without a header")
	}
	arrival := Arrival{Type: octets[1], Teid: binary.BigEndian.Uint32(octets[4:])}
	inner := octets[8:]
	if octets[0]&7 != 0 {
		if len(inner) < 4 {
			return arrival, errors.New("a GTP-U header that is cut short")
		}
		next := inner[3]
		inner = inner[4:]
		for next != 0 {
			if len(inner) == 0 || len(inner) < 4*int(inner[0]) || inner[0] == 0 {
				return arrival, errors.New("an extension header that is cut short")
			}
			length := 4 * int(inner[0])
			next = inner[length-1]
			inner = inner[length:]
		}
	}
	arrival.Inner = inner
	return arrival, nil
}

// Receive waits for the next G-PDU or End Marker.
func (g *Gnb) Receive(patience time.Duration) (Arrival, error) {
	if err := g.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return Arrival{}, err
	}
	buffer := make([]byte, 2048)
	for {
		size, _, err := g.conn.ReadFromUDP(buffer)
		if err != nil {
			return Arrival{}, err
		}
		arrival, err := parse(buffer[:size])
		if err != nil || arrival.Type == gPdu || arrival.Type == endMarker {
			return arrival, err
		}
	}
}

// ExpectEchoReply waits for the reply to the last Ping, on the tunnel teid.
func (g *Gnb) ExpectEchoReply(teid uint32, ue string) error {
	arrival, err := g.Receive(Patience)
	if err != nil {
		return fmt.Errorf("no packet came down: %w", err)
	}
	inner := arrival.Inner
	if len(inner) < 28 || inner[9] != 1 || inner[20] != 0 {
		return fmt.Errorf("not an echo reply: % x", inner)
	}
	return First(
		Want("message type", gPdu, arrival.Type),
		Want("TEID", teid, arrival.Teid),
		Want("destination", ue, net.IP(inner[16:20]).String()),
		Want("sequence number", g.sent, binary.BigEndian.Uint16(inner[26:])))
}

// ExpectEndMarker waits for the End Marker of the tunnel teid.
func (g *Gnb) ExpectEndMarker(teid uint32) error {
	arrival, err := g.Receive(Patience)
	if err != nil {
		return fmt.Errorf("no End Marker came: %w", err)
	}
	return First(Want("message type", endMarker, arrival.Type), Want("TEID", teid, arrival.Teid))
}

// ExpectNothing waits a moment in which nothing may come.
func (g *Gnb) ExpectNothing() error {
	arrival, err := g.Receive(300 * time.Millisecond)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("a GTP-U message of type %d came for TEID %#x", arrival.Type, arrival.Teid)
}
