module kupf/tests/interop

go 1.26.2

require (
	github.com/free5gc/pfcp v1.1.2
	github.com/sirupsen/logrus v1.8.3
	github.com/wmnsk/go-pfcp v0.0.24
)

require (
	github.com/free5gc/tlv v1.1.1 // indirect
	github.com/tim-ywliu/nested-logrus-formatter v1.3.2 // indirect
	golang.org/x/sys v0.1.0 // indirect
)
