# What client tests share: a fabric of their own, programs on its hosts, results by name. Source it.
# A script prints one line "PASS name" or "FAIL name: reason" per case and exits 1 if any failed.
set -u
export LC_ALL=C
BUILD=$(cd "${BUILD:-build}" && pwd)
SOFTIB=$BUILD/softib
WORK=$(mktemp -d /tmp/softib-test-XXXXXX)
export SOFTIB_RUNTIME_DIR=$WORK/run
unset SOFTIB_FABRIC SOFTIB_HOST
FAILURES=0
TIMEOUT=${TIMEOUT:-60}

cleanup() {
	trap - EXIT
	local job
	for job in $(jobs -p); do
		pkill -P "$job" 2>/dev/null
		kill "$job" 2>/dev/null
	done
	for job in "$SOFTIB_RUNTIME_DIR"/*/; do
		[ -d "$job" ] && timeout 20 "$SOFTIB" down --name "$(basename "$job")" >/dev/null 2>&1
	done
	rm -rf "$WORK"
	exit $((FAILURES > 0))
}
trap cleanup EXIT
trap 'FAILURES=1; exit 1' INT TERM

pass() { echo "PASS $1"; }
fail() {
	echo "FAIL $1: ${2:-}"
	FAILURES=$((FAILURES + 1))
}
# verdict NAME EXIT-CODE [REASON]
verdict() { if [ "$2" = 0 ]; then pass "$1"; else fail "$1" "${3:-exit code $2}"; fi; }

fabric_up() { timeout 60 "$SOFTIB" up "$@" >"$WORK/up" 2>&1 || { fail "softib up $*" "$(tail -n 1 "$WORK/up")"; exit 1; }; }
fabric_down() { timeout 30 "$SOFTIB" down "$@" >/dev/null 2>&1; }
on() { # HOST PROGRAM ...
	local host=$1
	shift
	timeout -k 2 "$TIMEOUT" "$SOFTIB" run -H "$host" -- "$@"
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
