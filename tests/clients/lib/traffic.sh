# Pairs of kill_traffic programs that a test starts, watches and ends. Source it after fabric.sh.
PROGRAMS=$BUILD/tests/clients

# begin ROLE HOST PAIR [COUNT [TIMEOUT]]: starts one side; $started is the pid of the program itself, its output is in
# $WORK/PAIR/ROLE.out, and its exit code will be in $WORK/PAIR/ROLE.rc. It may run as long as the script. TIMEOUT is the code of its ACK
# timeout, 16 (0.27 s, 2 s with all retries) unless told: more for those that are not to notice how slow a machine is.
begin() {
	local role=$1 host=$2 pair=$3
	shift 3
	mkdir -p "$WORK/$pair"
	(
		timeout -k 1 900 "$SOFTIB" run -H "$host" -- bash -c 'echo $$ >"$0.pid"; exec "$@" >"$0.out" 2>&1' \
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
# carries NAME TO FROM COUNT: so many messages arrive once, in order and with every byte, and both ends end well. For links that lose
# packets: ping-pongs end as soon as they have what they wait for, and if their last ACK was lost, their peers do not.
carries() {
	pair carried "$2" "$3" "$4"
	ends_with 30 carried send 0 "closed after $4 " && ends_with 10 carried receive 0 "closed after $4 "
	verdict "$1" $? "$why; $(tail -qn 1 "$WORK"/carried/*.out | tr '\n' ' ')"
	kill "$sender" "$receiver" 2>/dev/null
}
no_programs() { "$SOFTIB" status 2>/dev/null | grep -qE '^programs +0$'; }
# Shared memory of ours that somebody still holds: softibd's own page is all there may be.
memory_files() { ls -l "/proc/$1/fd" 2>/dev/null | grep -c 'memfd:softib'; }
