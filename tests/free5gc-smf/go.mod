module kupf/tests/free5gc-smf

go 1.24
