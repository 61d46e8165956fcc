# What the suites share: find softib, start and stop a fabric, run a command on a host, count results. Source it.
set -u; export LC_ALL=C
SOFTIB=${SOFTIB:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && { ls "$PWD/build/softib" 2>/dev/null || command -v softib; })}
[ -n "$SOFTIB" ] || { echo "0 of 1: no softib: build it (build/softib) or set SOFTIB"; exit 1; }
# A fabric of the suite's own: the user's fabric goes on beside it.
W=$(mktemp -d /tmp/softib-acceptance-XXXXXX); export SOFTIB_RUNTIME_DIR=${SOFTIB_RUNTIME_DIR:-$W/run}; unset SOFTIB_FABRIC SOFTIB_HOST
PASS=0; TOTAL=0; FAILED=
cleanup() { trap - EXIT; for j in $(jobs -p); do pkill -P "$j" 2>/dev/null; kill "$j" 2>/dev/null; done
  timeout 20 "$SOFTIB" down >/dev/null 2>&1; rm -rf "$W"; }
trap cleanup EXIT; trap 'exit 1' INT TERM
stop() { echo "0 of 1: $*"; exit 1; }
need() { local c; for c; do command -v "$c" >/dev/null || stop "not installed: $c"; done; }
up() { timeout 60 "$SOFTIB" up --hosts "$1" ${UP_FLAGS:-} >"$W/up" 2>&1 || stop "softib up failed: $(tail -n 1 "$W/up")"; }
on() { local h=$1; shift; timeout -k 2 "${T:-30}" "$SOFTIB" run -H "$h" -- "$@"; }
# addr: a host's IPv4 address on the fabric (for rdma_cm), as "softib hosts" shows it. L: where plain TCP sockets reach any host (all share the machine's network).
addr() { local a; a=$("$SOFTIB" hosts 2>/dev/null | grep -w "$1" | grep -oE '([0-9]+\.){3}[0-9]+' | head -n 1); [ -n "$a" ] || a=$(on "$1" getent ahostsv4 "$1" 2>/dev/null | awk 'NR==1{print $1}'); echo "$a"; }
L=${TCPADDR:-127.0.0.1}
result() { TOTAL=$((TOTAL+1)); if [ "$2" = 0 ]; then PASS=$((PASS+1)); else FAILED="$FAILED $1"
  [ -z "${V:-}" ] || { echo "--- $1"; tail -n 4 "$W"/s "$W"/c 2>/dev/null; }; fi; }
# pair NAME SERVER-COMMAND CLIENT-COMMAND [CHECK]: h1 serves, h2 asks; both must exit 0 and CHECK (a shell test) must hold.
pair() { local p rs rc; on h1 bash -c "$2" >"$W/s" 2>&1 & p=$!
  sleep "${WAIT:-0.6}"; on h2 bash -c "$3" >"$W/c" 2>&1; rc=$?
  [ $rc = 0 ] || { sleep 0.3; pkill -P $p 2>/dev/null; }
  wait $p; rs=$?; [ "${SERVER_RC:-check}" = check ] || rs=0
  if [ $((rc|rs)) = 0 ] && [ -n "${4:-}" ]; then eval "$4" >/dev/null 2>&1 || rc=9; fi
  result "$1" $((rc|rs)); }
finish() { [ -z "$FAILED" ] || echo "failed:$FAILED" | cut -c 1-900; local want=${1:-$TOTAL}
  echo "$LABEL: $PASS of $TOTAL (need $want)"; [ "$TOTAL" -gt 0 ] && [ "$PASS" -ge "$want" ]; exit; }
