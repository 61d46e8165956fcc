# Pairs of kill_traffic programs that a test starts, watches and ends. Source it after fabric.sh.
PROGRAMS=$BUILD/tests/clients

# wait_until SECONDS CONDITION...: asks every 20 ms; 1 when the time is up.
wait_until() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		read -r -t 0.02 <> <(:)
	done
	return 0
}

# begin ROLE HOST PAIR [COUNT [TIMEOUT]]: starts one side; $started is the pid of the program itself, its output is in
# $WORK/PAIR/ROLE.out, and its exit code will be in $WORK/PAIR/ROLE.rc.
begin() {
	local role=$1 host=$2 pair=$3
	shift 3
	mkdir -p "$WORK/$pair"
	(
		timeout -k 1 "$TIMEOUT" "$SOFTIB" run -H "$host" -- bash -c 'echo $$ >"$0.pid"; exec "$@" >"$0.out" 2>&1' \
			"$WORK/$pair/$role" "$PROGRAMS/kill_traffic" "$role" "$WORK/$pair" "$@"
		echo $? >"$WORK/$pair/$role.rc"
	) 2>/dev/null &
	wait_until 10 test -s "$WORK/$pair/$role.pid"
	started=$(cat "$WORK/$pair/$role.pid")
}

# pair NAME HOST HOST [COUNT [TIMEOUT]]: both sides, receiver first; $receiver and $sender are their pids.
pair() {
	local name=$1 to=$2 from=$3
	shift 3
	rm -rf "${WORK:?}/$name"
	begin receive "$to" "$name" "$@"
	receiver=$started
	begin send "$from" "$name" "$@"
	sender=$started
}

messages() { # PAIR ROLE: how many it has said so far
	local count
	count=$(tail -n 1 "$WORK/$1/$2.out" 2>/dev/null | awk '/^[0-9]+ messages$/ {print $1}')
	echo "${count:-0}"
}
has_ended() { [ -s "$WORK/$1/$2.rc" ]; } # PAIR ROLE
has_more_than() { [ "$(messages "$1" receive)" -gt "$2" ] || has_ended "$1" receive || has_ended "$1" send; }
flows() { # PAIR: both sides live, and a thousand messages more than now arrive
	wait_until 10 has_more_than "$1" "$(messages "$1" receive)" && ! has_ended "$1" receive && ! has_ended "$1" send
}
# ends_with SECONDS PAIR ROLE CODE TEXT: it ends in that time, so, having said that; the reason it does not is in $why.
ends_with() {
	local log=$WORK/$2/$3.out
	if ! wait_until "$1" has_ended "$2" "$3"; then
		why="it did not end within $1 s: $(tail -n 1 "$log")"
		return 1
	fi
	why="exit code $(cat "$WORK/$2/$3.rc"), $(tail -n 3 "$log" | tr '\n' ' ')"
	[ "$(cat "$WORK/$2/$3.rc")" = "$4" ] && grep -qE "$5" "$log"
}
no_programs() { "$SOFTIB" status 2>/dev/null | grep -qE '^programs +0$'; }
# Shared memory of ours that somebody still holds: softibd's own page is all there may be.
memory_files() { ls -l "/proc/$1/fd" 2>/dev/null | grep -c 'memfd:softib'; }
