#!/bin/sh
# Fills in the constants of the switch, once example_decision.bpf.o is loaded: until then every frame is XDP_ABORTED. For little-endian
# machines. To fall back while predictions are wrong too often, make the eighth byte from the end 01.
exec bpftool map update name example_switch key hex 00 00 00 00 value hex 40 42 0f 00 00 00 00 00 40 1f 00 00 00 00 00 00 00 e4 0b 54 02 00 00 00 00 e4 0b 54 02 00 00 00 00 e4 0b 54 02 00 00 00 00 e4 0b 54 02 00 00 00 04 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00
