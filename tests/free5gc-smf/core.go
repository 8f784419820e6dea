package main

// Stand-ins for what the SMF calls: NRF, UDM, PCF and AMF, one HTTP/2 server without TLS. They say
// yes to everything and keep what the SMF sends to the AMF.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
)

const (
	coreAddress = "127.0.0.10:8000"
	coreURI     = "http://" + coreAddress
	amfID       = "5f1d8a3e-63f4-4a6e-9f4e-000000000001"
)

// n1n2 is one Namf_Communication_N1N2MessageTransfer: the NAS and NGAP octets in it.
type n1n2 struct{ n1, n2 []byte }

type core struct {
	transfers chan n1n2
	server    *http.Server
}

func startCore() (*core, error) {
	c := &core{transfers: make(chan n1n2, 16)}
	listener, err := net.Listen("tcp", coreAddress)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /nnrf-nfm/v1/nf-instances/{id}", c.register)
	mux.HandleFunc("DELETE /nnrf-nfm/v1/nf-instances/{id}", noContent)
	mux.HandleFunc("GET /nnrf-disc/v1/nf-instances", discover)
	mux.HandleFunc("GET /nudm-sdm/v2/{supi}/sm-data", subscription)
	mux.HandleFunc("POST /nudm-sdm/v2/{supi}/sdm-subscriptions", created(`{"subscriptionId":"1"}`))
	mux.HandleFunc("DELETE /nudm-sdm/v2/{supi}/sdm-subscriptions/{id}", noContent)
	mux.HandleFunc("PUT /nudm-uecm/v1/{supi}/registrations/smf-registrations/{id}", created(`{}`))
	mux.HandleFunc("DELETE /nudm-uecm/v1/{supi}/registrations/smf-registrations/{id}", noContent)
	mux.HandleFunc("POST /npcf-smpolicycontrol/v1/sm-policies", policy)
	mux.HandleFunc("POST /npcf-smpolicycontrol/v1/sm-policies/{id}/delete", noContent)
	mux.HandleFunc("POST /namf-comm/v1/ue-contexts/{supi}/n1-n2-messages", c.transfer)
	mux.HandleFunc("POST /status", noContent)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Printf("core: not played: %s %s\n", r.Method, r.URL)
		w.WriteHeader(http.StatusNotFound)
	})
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	c.server = &http.Server{Handler: mux, Protocols: &protocols}
	go c.server.Serve(listener) //nolint:errcheck // ends with the program
	return c, nil
}

func noContent(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, body) //nolint:errcheck // the peer notices
}

func created(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", coreURI+r.URL.Path+"/1")
		answer(w, http.StatusCreated, body)
	}
}

func (c *core) register(w http.ResponseWriter, r *http.Request) {
	profile, _ := io.ReadAll(r.Body)
	w.Header().Set("Location", coreURI+r.URL.Path)
	answer(w, http.StatusCreated, string(profile))
}

func discover(w http.ResponseWriter, r *http.Request) {
	kind := r.URL.Query().Get("target-nf-type")
	services := map[string][]string{
		"UDM": {"nudm-sdm", "nudm-uecm"}, "PCF": {"npcf-smpolicycontrol"}, "AMF": {"namf-comm"},
	}[kind]
	var instances []any
	if services != nil {
		var list []any
		for i, name := range services {
			list = append(list, map[string]any{
				"serviceInstanceId": fmt.Sprint(i), "serviceName": name, "scheme": "http",
				"nfServiceStatus": "REGISTERED", "apiPrefix": coreURI,
				"versions":    []any{map[string]any{"apiVersionInUri": "v1", "apiFullVersion": "1.0.0"}},
				"ipEndPoints": []any{map[string]any{"ipv4Address": "127.0.0.10", "port": 8000}},
			})
		}
		instances = append(instances, map[string]any{
			"nfInstanceId": amfID, "nfType": kind, "nfStatus": "REGISTERED",
			"ipv4Addresses": []string{"127.0.0.10"}, "nfServices": list,
		})
	}
	body, _ := json.Marshal(map[string]any{"validityPeriod": 100, "nfInstances": instances})
	answer(w, http.StatusOK, string(body))
}

func subscription(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, `[{"singleNssai":{"sst":1,"sd":"010203"},"dnnConfigurations":{"internet":{
		"pduSessionTypes":{"defaultSessionType":"IPV4","allowedSessionTypes":["IPV4"]},
		"sscModes":{"defaultSscMode":"SSC_MODE_1","allowedSscModes":["SSC_MODE_1"]},
		"5gQosProfile":{"5qi":9,"arp":{"priorityLevel":8,"preemptCap":"NOT_PREEMPT","preemptVuln":"NOT_PREEMPTABLE"},"priorityLevel":8},
		"sessionAmbr":{"uplink":"1000 Mbps","downlink":"1000 Mbps"}}}}]`)
}

// policy also grants a PCC rule with a filter of its own, so that the SMF makes two data paths.
func policy(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Location", coreURI+r.URL.Path+"/1")
	answer(w, http.StatusCreated, `{"sessRules":{"SessRuleId-1":{"sessRuleId":"SessRuleId-1",
		"authSessAmbr":{"uplink":"1000 Mbps","downlink":"1000 Mbps"},
		"authDefQos":{"5qi":9,"arp":{"priorityLevel":8,"preemptCap":"NOT_PREEMPT","preemptVuln":"NOT_PREEMPTABLE"},"priorityLevel":8}}},
		"pccRules":{"PccRuleId-1":{"pccRuleId":"PccRuleId-1","precedence":128,"refQosData":["QosId-1"],
		"flowInfos":[{"flowDescription":"permit out ip from 10.99.0.2 to 10.60.0.0/16","packetFilterUsage":true,"flowDirection":"BIDIRECTIONAL"}]}},
		"qosDecs":{"QosId-1":{"qosId":"QosId-1","5qi":8,"maxbrUl":"200 Mbps","maxbrDl":"200 Mbps",
		"arp":{"priorityLevel":8,"preemptCap":"NOT_PREEMPT","preemptVuln":"NOT_PREEMPTABLE"},"priorityLevel":8}},
		"suppFeat":"000f"}`)
}

func (c *core) transfer(w http.ResponseWriter, r *http.Request) {
	parts, err := readParts(r.Header.Get("Content-Type"), r.Body)
	if err != nil {
		fmt.Println("core: N1N2MessageTransfer:", err)
	}
	c.transfers <- n1n2{n1: parts["application/vnd.3gpp.5gnas"], n2: parts["application/vnd.3gpp.ngap"]}
	answer(w, http.StatusOK, `{"cause":"N1_N2_TRANSFER_INITIATED"}`)
}

// readParts gives the body of each part of a multipart/related message by its content type.
func readParts(contentType string, body io.Reader) (map[string][]byte, error) {
	parts := map[string][]byte{}
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || parameters["boundary"] == "" {
		return parts, err
	}
	reader := multipart.NewReader(body, parameters["boundary"])
	for {
		part, err := reader.NextPart()
		if err == io.EOF {
			return parts, nil
		}
		if err != nil {
			return parts, err
		}
		octets, err := io.ReadAll(part)
		if err != nil {
			return parts, err
		}
		parts[strings.ToLower(part.Header.Get("Content-Type"))] = octets
	}
}

// multipartBody is the other direction: JSON first, then NAS or NGAP octets under their content ID.
func multipartBody(jsonData any, contentID, contentType string, octets []byte) (string, *bytes.Buffer) {
	var body bytes.Buffer
	writer := multipart.NewWriter(&body)
	text, _ := json.Marshal(jsonData)
	part, _ := writer.CreatePart(map[string][]string{"Content-Type": {"application/json"}})
	part.Write(text) //nolint:errcheck // a buffer
	if octets != nil {
		part, _ = writer.CreatePart(map[string][]string{"Content-Type": {contentType}, "Content-Id": {contentID}})
		part.Write(octets) //nolint:errcheck // a buffer
	}
	writer.Close() //nolint:errcheck // a buffer
	return "multipart/related; boundary=" + writer.Boundary(), &body
}
