#!/bin/sh
# The processor time of an engine in games: in a tournament or a council, command = "benches/cpu.sh" and
# args = ["NAME", "ENGINE", …]. Each time the engine ends, two lines are added to cpu-NAME.log: the time of this shell, and
# that of the engine, user and system. Divide by the moves in results.csv (plies without the opening, by two); the first
# entry of an arm is the start alone, and what it took is a part of each other one.
name=$1
shift
trap '' TERM
"$@"
times >> "cpu-$name.log"
