# Shared by the client tests: a fabric of their own, programs on its hosts, results by name. Source it.
# A script prints one line "PASS name" or "FAIL name: reason" per case and exits 1 if any failed. If BUILD has sanitizers, what they
# report of softibd, the libraries or a program is a failure too.
set -u
export LC_ALL=C
BUILD=$(cd "${BUILD:-build}" && pwd)
SOFTIB=$BUILD/softib
WORK=$(mktemp -d /tmp/softib-test-XXXXXX)
export SOFTIB_RUNTIME_DIR=$WORK/run
unset SOFTIB_FABRIC SOFTIB_HOST
# For scripts that talk to softibd themselves.
PROTOCOL_VERSION=$(sed -n 's/.*PROTOCOL_VERSION = \([0-9]*\),.*/\1/p' "${BASH_SOURCE[0]%/*}/../../../src/ipc/protocol.h")
export PROTOCOL_VERSION
SANITIZED=$(ldd "$SOFTIB" | awk '$1 ~ /^lib(a|ub)san/ {print $3}' | paste -sd :)
if [ -n "$SANITIZED" ]; then
	# Programs without the sanitizers load libraries with them. What a script kills leaves memory behind.
	# intercept_send looks at the bytes after they were sent: OpenSM has the answer then, and has freed the question.
	export ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0:intercept_send=0:exitcode=66:log_path=$WORK/sanitizer"
	export UBSAN_OPTIONS="print_stacktrace=1:log_path=$WORK/sanitizer"
	printf '#!/bin/sh\n[ "$1" != run ] || export LD_PRELOAD="%s"\nexec "%s" "$@"\n' "$SANITIZED" "$SOFTIB" >"$WORK/softib"
	chmod +x "$WORK/softib"
	SOFTIB=$WORK/softib
fi
FAILURES=0
TIMEOUT=${TIMEOUT:-120}

cleanup() {
	trap - EXIT
	local job
	kill "$WATCH" 2>/dev/null
	for job in $(jobs -p); do
		pkill -P "$job" 2>/dev/null
		kill "$job" 2>/dev/null
	done
	for job in "$SOFTIB_RUNTIME_DIR"/*/; do
		[ -d "$job" ] && timeout 20 "$SOFTIB" down --name "$(basename "$job")" >/dev/null 2>&1
	done
	for job in "$WORK"/sanitizer.*; do
		[ -s "$job" ] && fail "no report of the sanitizers" "$(grep -m 1 -E 'ERROR|runtime error' "$job"): $(grep -m 6 -E '^ +#' "$job" | tr -s ' ' | tr '\n' ' ')"
	done
	rm -rf "$WORK"
	exit $((FAILURES > 0))
}
trap cleanup EXIT
trap 'FAILURES=1; exit 1' INT TERM

# The step that the script is in, for watch_steps.
step() { echo "$SECONDS s after its start: $*" 2>/dev/null >"$WORK/step"; }
pass() {
	echo "PASS $1"
	step "after \"$1\""
}
fail() {
	echo "FAIL $1: ${2:-}"
	step "after \"$1\""
	FAILURES=$((FAILURES + 1))
}
# verdict NAME EXIT-CODE [REASON]
verdict() { if [ "$2" = 0 ]; then pass "$1"; else fail "$1" "${3:-exit code $2}"; fi; }

# JOB...: all processes below them, deepest last.
below() {
	local job child
	for job; do
		for child in $(pgrep -P "$job"); do
			echo "$child"
			below "$child"
		done
	done
}
# A step that takes STALL seconds hangs, on any machine: say which one and in which programs, and end the script. It waits for no
# program after that, since bash looks at signals only when what it waits for has ended.
STALL=${STALL:-240}
# Nothing ever comes from it: to wait on it costs no process. (bash 5.2 takes a process that has the number of an old substitution for
# that one, and waits for ever for the new one's end: with a substitution per look it did, after some thousand looks.)
exec {TICK}<> <(:)
watch_steps() {
	local last= now quiet=0 pid signal
	while read -r -t 1 -u "$TICK" || kill -0 $$ 2>/dev/null; do
		now=$(cat "$WORK/step" 2>/dev/null) || return
		[ "$now" = "$last" ] || quiet=0
		last=$now
		quiet=$((quiet + 1))
		[ $quiet -gt "$STALL" ] || continue
		echo "FAIL $(basename "$0") hangs: nothing new for $STALL s; $last"
		for pid in $(below $$); do
			[ "$pid" = $BASHPID ] || ps -o pid=,ppid=,stat=,wchan=,args= -p "$pid" | cut -c 1-200
		done
		kill -TERM $$
		# A program that ignores SIGTERM may be the reason for the stall.
		for signal in TERM KILL; do
			for pid in $(below $$); do
				[ "$pid" = $BASHPID ] || kill -$signal "$pid" 2>/dev/null
			done
			read -r -t 3 -u "$TICK"
		done
		return
	done
}
step "at the start"
watch_steps &
WATCH=$!
disown $WATCH

# wait_until SECONDS CONDITION...: asks every 20 ms; 1 when the time is up. SECONDS are what the slowest of our own machines would
# need; another may be ten times slower still, and only what never comes true takes that long.
wait_until() {
	local patience=$(($1 * 10))
	[ $patience -le 150 ] || patience=$(($1 > 150 ? $1 : 150))
	local end=$((SECONDS + patience))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		read -r -t 0.02 -u "$TICK"
	done
	return 0
}

fabric_up() { timeout 120 "$SOFTIB" up "$@" >"$WORK/up" 2>&1 || { fail "softib up $*" "$(tail -n 1 "$WORK/up")"; exit 1; }; }
fabric_down() { timeout 60 "$SOFTIB" down "$@" >/dev/null 2>&1; }
on() { # HOST PROGRAM ...
	local host=$1
	shift
	step "on $host: $*"
	timeout -k 2 "$TIMEOUT" "$SOFTIB" run -H "$host" -- "$@"
}

# JOB...: no chance to say goodbye, for all that runs below it. A killed `timeout` alone would leave its program running.
kill_programs() {
	local job child
	for job in "$@"; do
		for child in $(pgrep -P "$job"); do
			kill_programs "$child"
			kill -KILL "$child" 2>/dev/null
		done
	done
}

# Is somebody listening on this TCP port?
listens() {
	local hex
	hex=$(printf '%04X' "$1")
	cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk -v port=":$hex" '$2 ~ port"$" && $4 == "0A" {found = 1} END {exit !found}'
}

# Below the ephemeral range, so that no outgoing connection has it.
PORT=$((12000 + ($$ * 7) % 18000))
# between NAME SERVER-COMMAND CLIENT-COMMAND: h1 serves (with -p PORT), h2 asks; both must exit 0. Output: $WORK/server, $WORK/client.
between() {
	local name=$1 server client_rc server_rc
	PORT=$((PORT + 1))
	on h1 $2 -p $PORT >"$WORK/server" 2>&1 &
	server=$!
	until listens $PORT; do
		kill -0 $server 2>/dev/null || break
	done
	on h2 $3 -p $PORT 127.0.0.1 >"$WORK/client" 2>&1
	client_rc=$?
	if [ $client_rc != 0 ]; then
		pkill -P $server 2>/dev/null
		kill $server 2>/dev/null
	fi
	wait $server
	server_rc=$?
	if [ $client_rc = 0 ] && [ $server_rc = 0 ]; then
		pass "$name"
	else
		fail "$name" "client $client_rc, server $server_rc: $(tail -n 2 "$WORK/client" "$WORK/server" | tr '\n' ' ')"
		return 1
	fi
}

# capture_start PORT OPTION...: of softib capture, into $WORK/capture.pcapng, until capture_stop.
capture_start() {
	: >"$WORK/capture"
	"$SOFTIB" capture "$1" "${@:2}" --buffer 64 -w "$WORK/capture.pcapng" 2>"$WORK/capture" &
	CAPTURE=$!
	wait_until 10 grep -q capturing "$WORK/capture"
}
capture_stop() {
	kill -INT $CAPTURE
	wait $CAPTURE
}
# dissected CLASS [ATTRIBUTE...]: tshark finds MADs of this class in $WORK/capture.pcapng, each of these attributes among them, and nothing
# wrong with any MAD of the class. Without SDP, for whose service IDs tshark takes those of RDMA_PS_IB.
dissected() {
	local class=$1 mads wrong attribute missing=
	shift
	read_mads() { tshark --disable-protocol infiniband_sdp -r "$WORK/capture.pcapng" -Y "infiniband.mad.mgmtclass == $class $*" -T fields -e infiniband.mad.attributeid -e _ws.col.Info 2>"$WORK/tshark"; }
	mads=$(read_mads)
	wrong=$(read_mads '&& (_ws.malformed || _ws.expert.severity == error)' | head -n 1)
	for attribute; do grep -q "^$(printf '0x%04x' $((attribute)))" <<<"$mads" || missing+=" $attribute"; done
	[ -n "$mads" ] && [ -z "$missing$wrong" ]
	verdict "tshark finds nothing wrong in MADs of class $class${*:+, attributes $*} [${PATH_FLAGS:-offload}]" $? "without:$missing, wrong: $wrong; $(tail -n 1 "$WORK/tshark")"
}
