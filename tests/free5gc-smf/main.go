// Drives free5GC's own SMF against kupf: the SMF is the real program, what it calls is played (core.go),
// and so are the gNBs and the UE (gnb.go). All of it lives in one network namespace that `run` makes.
//
//	free5gc-smf SMF-PROGRAM UPF-PROGRAM UPF-CONFIG FOLDER
//
// Prints a line a step; exit code 0 only if every one held.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	smfURI = "http://127.0.0.2:8000"
	supi   = "imsi-208930000000001"
	budget = 20 * time.Second // for anything to happen; nothing waits longer than it must
)

type client struct {
	http    *http.Client
	session string // URI of the SM context
}

func newClient() *client {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return &client{http: &http.Client{Timeout: budget, Transport: &http.Transport{Protocols: &protocols}}}
}

func (c *client) post(uri string, jsonData any, contentID, contentType string, octets []byte) (*http.Response, []byte, error) {
	kind, body := multipartBody(jsonData, contentID, contentType, octets)
	response, err := c.http.Post(uri, kind, body)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close() //nolint:errcheck // read only
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s: %s", uri, response.Status, answer)
	}
	return response, answer, err
}

// createSession asks for a PDU session as an AMF does for a UE (TS 24.501 8.3.1: ID 1, PTI 1, full
// integrity rate, IPv4, SSC mode 1).
func (c *client) createSession() error {
	plmn := map[string]any{"mcc": "208", "mnc": "93"}
	response, _, err := c.post(smfURI+"/nsmf-pdusession/v1/sm-contexts", map[string]any{
		"supi": supi, "pduSessionId": 1, "dnn": "internet", "sNssai": map[string]any{"sst": 1, "sd": "010203"},
		"servingNfId": amfID, "guami": map[string]any{"plmnId": plmn, "amfId": "cafe00"}, "servingNetwork": plmn,
		"requestType": "INITIAL_REQUEST", "n1SmMsg": map[string]any{"contentId": "n1"}, "anType": "3GPP_ACCESS",
		"ratType": "NR", "smContextStatusUri": coreURI + "/status",
	}, "n1", "application/vnd.3gpp.5gnas", []byte{0x2e, 1, 1, 0xc1, 0xff, 0xff, 0x91, 0xa1})
	if err != nil {
		return err
	}
	// The last part of the Location is the UUID; the SMF's own name for the context is the UUID's URN.
	location := response.Header.Get("Location")
	at := strings.LastIndex(location, "/")
	if at < 0 {
		return fmt.Errorf("no Location in the answer")
	}
	c.session = location[:at] + "/urn:uuid:" + location[at+1:]
	return nil
}

func (c *client) modify(data map[string]any, n2Kind string, n2 []byte) error {
	if n2 != nil {
		data["n2SmInfo"] = map[string]any{"contentId": "n2"}
		data["n2SmInfoType"] = n2Kind
	}
	_, _, err := c.post(c.session+"/modify", data, "n2", "application/vnd.3gpp.ngap", n2)
	return err
}

func (c *client) activate(g *gnb) error {
	return c.modify(map[string]any{}, "PDU_RES_SETUP_RSP", g.setupResponse())
}

func (c *client) release() error {
	_, _, err := c.post(c.session+"/release", map[string]any{"cause": "REL_DUE_TO_HO"}, "", "", nil)
	return err
}

type scenario struct {
	core   *core
	smf    *client
	ue     net.IP
	uplink tunnel
	a, b   *gnb
}

func (s *scenario) nextTransfer() (n1n2, error) {
	select {
	case message := <-s.core.transfers:
		return message, nil
	case <-time.After(budget):
		return n1n2{}, fmt.Errorf("no N1N2MessageTransfer from the SMF")
	}
}

// readAccept finds the UE's address in the NAS accept (IE 0x29, IPv4) and the UPF's tunnel in the NGAP
// request: the address that the SMF is configured with, and the TEID behind it.
func (s *scenario) readAccept(message n1n2) error {
	at := bytes.Index(message.n1, []byte{0x29, 5, 1})
	if at < 0 || at+7 > len(message.n1) {
		return fmt.Errorf("no PDU address in the NAS message %x", message.n1)
	}
	s.ue = net.IP(message.n1[at+3 : at+7])
	n3 := []byte(net.ParseIP(upfAddress).To4())
	at = bytes.Index(message.n2, n3)
	if at < 0 || at+8 > len(message.n2) {
		return fmt.Errorf("no uplink tunnel to %s in the NGAP message %x", upfAddress, message.n2)
	}
	copy(s.uplink[:], message.n2[at+4:at+8])
	return nil
}

func (s *scenario) establish() error {
	if err := s.smf.createSession(); err != nil {
		return err
	}
	message, err := s.nextTransfer()
	if err != nil {
		return err
	}
	return s.readAccept(message)
}

func (s *scenario) ping(g *gnb, other string) error {
	return g.ping(s.uplink, s.ue, net.ParseIP(other))
}

// page sends a packet to the idle UE: the SMF must be told, and tells the AMF.
func (s *scenario) page() error {
	if err := sendDownlink(s.ue, "buffered 1"); err != nil {
		return err
	}
	if err := sendDownlink(s.ue, "buffered 2"); err != nil {
		return err
	}
	message, err := s.nextTransfer()
	if err == nil && len(message.n2) == 0 {
		err = fmt.Errorf("a transfer without N2 information")
	}
	return err
}

func (s *scenario) resume() error {
	if err := s.smf.modify(map[string]any{"upCnxState": "ACTIVATING"}, "", nil); err != nil {
		return err
	}
	if err := s.smf.activate(s.a); err != nil {
		return err
	}
	for _, want := range []string{"buffered 1", "buffered 2"} {
		if err := s.a.expectPayload(want); err != nil {
			return err
		}
	}
	return nil
}

func (s *scenario) pathSwitch() error {
	if err := s.smf.modify(map[string]any{"anType": "3GPP_ACCESS"}, "PATH_SWITCH_REQ", s.b.pathSwitch()); err != nil {
		return err
	}
	return s.a.expectEndMarker()
}

func (s *scenario) gone() error {
	if err := s.smf.release(); err != nil {
		return err
	}
	return s.b.expectErrorIndication(s.uplink, s.ue)
}

func waitFor(file, text string) error {
	for deadline := time.Now().Add(budget); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if log, _ := os.ReadFile(file); bytes.Contains(log, []byte(text)) {
			return nil
		}
	}
	return fmt.Errorf("%q does not appear in %s", text, file)
}

func start(folder, name string, command ...string) (*exec.Cmd, string, error) {
	path := filepath.Join(folder, name+".log")
	log, err := os.Create(path)
	if err != nil {
		return nil, "", err
	}
	process := exec.Command(command[0], command[1:]...)
	process.Stdout, process.Stderr = log, log
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return process, path, process.Start()
}

func step(name string, do func() error) bool {
	if err := do(); err != nil {
		fmt.Printf("failed: %s: %v\n", name, err)
		return false
	}
	fmt.Println("passed:", name)
	return true
}

func run(smfProgram, upfProgram, upfConfig, folder string) error {
	core, err := startCore()
	if err != nil {
		return err
	}
	upf, _, err := start(folder, "upf", upfProgram, "-c", upfConfig)
	if err != nil {
		return err
	}
	defer upf.Process.Kill() //nolint:errcheck // may be gone
	config, routing, err := writeConfig(folder)
	if err != nil {
		return err
	}
	smf, smfLog, err := start(folder, "smf", smfProgram, "-c", config, "-u", routing)
	if err != nil {
		return err
	}
	defer smf.Process.Kill() //nolint:errcheck // may be gone
	s := &scenario{core: core, smf: newClient()}
	if s.a, err = openGnb("127.0.0.101", 0x1a1a); err != nil {
		return err
	}
	if s.b, err = openGnb("127.0.0.102", 0x1b1b); err != nil {
		return err
	}
	steps := []struct {
		name string
		do   func() error
	}{
		{"association", func() error { return waitFor(smfLog, "PFCP Association Setup Accepted") }},
		{"establishment", s.establish},
		{"activation", func() error { return s.smf.activate(s.a) }},
		{"ping on the default path", func() error { return s.ping(s.a, "10.99.0.1") }},
		{"ping on the PCC rule's path", func() error { return s.ping(s.a, "10.99.0.2") }},
		{"idle", func() error { return s.smf.modify(map[string]any{"upCnxState": "DEACTIVATED"}, "", nil) }},
		{"downlink data leads to paging", s.page},
		{"service request flushes in order", s.resume},
		{"path switch: End Marker to the old gNB", s.pathSwitch},
		{"ping at the new gNB", func() error { return s.ping(s.b, "10.99.0.1") }},
		{"release: the tunnel is gone", s.gone},
		{"the UPF stops cleanly", func() error { return stop(upf) }},
	}
	failed := 0
	for _, one := range steps {
		if !step(one.name, one.do) {
			failed++
		}
	}
	fmt.Printf("%d passed, %d failed\n", len(steps)-failed, failed)
	if failed > 0 {
		return fmt.Errorf("logs are in %s", folder)
	}
	return nil
}

func stop(process *exec.Cmd) error {
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return process.Wait()
}

func writeConfig(folder string) (string, string, error) {
	config := filepath.Join(folder, "smfcfg.yaml")
	routing := filepath.Join(folder, "uerouting.yaml")
	if err := os.WriteFile(config, []byte(smfConfig), 0o600); err != nil {
		return "", "", err
	}
	return config, routing, os.WriteFile(routing, []byte("info:\n  version: 1.0.7\n  description: none\nueRoutingInfo: {}\n"), 0o600)
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: free5gc-smf SMF-PROGRAM UPF-PROGRAM UPF-CONFIG FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "free5gc-smf:", err)
		os.Exit(1)
	}
}
