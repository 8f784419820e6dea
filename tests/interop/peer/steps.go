// Package peer holds what the interop programs share and no PFCP library has: the steps they report,
// and a gNB on a UDP socket.
package peer

import (
	"fmt"
	"os"
	"time"
)

// Patience is how long a step waits for what must come.
const Patience = 5 * time.Second

// Step runs one step and reports it as a line "passed: NAME" or "failed: NAME: WHY". Steps build on
// each other: after a failure the rest would only be noise, so it ends the program.
func Step(name string, step func() error) {
	if err := step(); err != nil {
		fmt.Printf("failed: %s: %v\n", name, err)
		os.Exit(1)
	}
	fmt.Printf("passed: %s\n", name)
}

// Want compares what was asked for with what came.
func Want[T comparable](what string, wanted, got T) error {
	if wanted != got {
		return fmt.Errorf("%s: wanted %v, got %v", what, wanted, got)
	}
	return nil
}

// First gives the first error of several.
func First(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
