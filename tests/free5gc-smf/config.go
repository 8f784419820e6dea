package main

// smfConfig is an smfcfg.yaml of today's SMF.
const smfConfig = `
info: {version: 1.0.7, description: for a test}
configuration:
  smfName: SMF
  sbi: {scheme: http, registerIPv4: 127.0.0.2, bindingIPv4: 127.0.0.2, port: 8000}
  serviceNameList: [nsmf-pdusession, nsmf-event-exposure, nsmf-oam]
  snssaiInfos:
    - sNssai: {sst: 1, sd: "010203"}
      dnnInfos:
        - dnn: internet
          dns: {ipv4: 8.8.8.8, ipv6: "2001:4860:4860::8888"}
  plmnList: [{mcc: "208", mnc: "93"}]
  locality: area1
  pfcp:
    nodeID: 127.0.0.1
    listenAddr: 127.0.0.1
    externalAddr: 127.0.0.1
    assocFailAlertInterval: 10s
    assocFailRetryInterval: 1s
    heartbeatInterval: 2s
  userplaneInformation:
    upNodes:
      gNB1: {type: AN}
      UPF1:
        type: UPF
        nodeID: 127.0.0.8
        addr: 127.0.0.8
        sNssaiUpfInfos:
          - sNssai: {sst: 1, sd: "010203"}
            dnnUpfInfoList:
              - dnn: internet
                pools: [{cidr: 10.60.0.0/16}]
        interfaces:
          - interfaceType: N3
            endpoints: [127.0.0.8]
            networkInstances: [internet]
    links: [{A: gNB1, B: UPF1}]
  t3591: {enable: true, expireTime: 16s, maxRetryTimes: 3}
  t3592: {enable: true, expireTime: 16s, maxRetryTimes: 3}
  nrfUri: http://127.0.0.10:8000
  urrPeriod: 30
  urrThreshold: 500000
  requestedUnit: 1000
logger: {enable: true, level: debug, reportCaller: false}
`
