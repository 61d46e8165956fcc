# Processes that live on beside peers that are killed. Source it after fabric.sh, with a fabric up and PROGRAM set: a program with the
# roles lasting-target, lasting-initiator, target and initiator, as one_sided_kills.c has them.
daemon=$(cat "$SOFTIB_RUNTIME_DIR/default/pid")

# launch NAME HOST ROLE [ROUND]: $started is the job; the program's own pid comes in NAME.pid, its output in NAME.out.
launch() {
	local name=$1 host=$2
	shift 2
	rm -f "$FOLDER/$name.pid"
	on "$host" bash -c 'echo $$ >"$0.part"; mv "$0.part" "$0.pid"; exec "$@" >"$0.out" 2>&1' "$FOLDER/$name" "$PROGRAM" "$1" "$FOLDER" ${2:-} 2>/dev/null &
	started=$!
	wait_until 60 test -s "$FOLDER/$name.pid"
}

# The resources of a process: descriptors, mappings, and KiB of its own data.
descriptors() { ls "/proc/$1/fd" 2>/dev/null | wc -l; }
mappings() { wc -l <"/proc/$1/maps"; }
data_kib() { awk '/^VmData/ {print $2}' "/proc/$1/status"; }
# A heap varies in size, but does not grow with every peer. An address sanitizer keeps freed memory.
HEAP_KIB=4096
holds_no_more() { # PID DESCRIPTORS MAPPINGS KIB
	[ "$(descriptors "$1")" -le "$2" ] || return 1
	[ -n "$SANITIZED" ] || { [ "$(mappings "$1")" -le $(($3 + 4)) ] && [ "$(data_kib "$1")" -le $(($4 + HEAP_KIB)) ]; }
}
now_holds() { echo "$(descriptors "$1") $(mappings "$1") $(data_kib "$1")"; }
says() { grep -q "^$2\$" "$FOLDER/$1.out" 2>/dev/null; }
two_programs() { "$SOFTIB" status 2>/dev/null | grep -qE '^programs +2$'; }

# one_round ROUND: a process comes, and is killed: one in four at any moment of its life, the others once requests flow. In a shell of its
# own: one for a thousand rounds would meet old process numbers again, and bash is not good at that.
one_round() {
	local round=$1 role=target host=h1 watched=lasting-initiator victim
	[ $((round % 2)) = 0 ] || { role=initiator host=h2 watched=victim; }
	launch victim $host $role "$round"
	victim=$started
	if [ $((RANDOM % 4)) = 0 ]; then
		sleep "0.0$((RANDOM % 10))"
	else
		wait_until 60 says $watched "flows $round" || echo "$round" >>"$FOLDER/slow"
		sleep "0.00$((RANDOM % 10))"
	fi
	kill -9 "$(cat "$FOLDER/victim.pid")"
	wait $victim
	! grep -qE '^[^ ]+\.[ch]:[0-9]+: ' "$FOLDER/victim.out" || tail -n 1 "$FOLDER/victim.out" >>"$FOLDER/wrong"
	[ $role = initiator ] || ! says lasting-initiator "flows $round" || wait_until 60 says lasting-initiator "gone $round" || echo "$round" >>"$FOLDER/hung"
} 2>/dev/null

# kills COUNT NAME
kills() {
	local target initiator target_rc initiator_rc pid before_target="0 0 0" before_initiator="0 0 0" before_daemon="0 0 0" name=$2
	FOLDER=$WORK/$RANDOM
	mkdir "$FOLDER"
	touch "$FOLDER/slow" "$FOLDER/hung" "$FOLDER/wrong"
	launch lasting-target h1 lasting-target
	target=$started
	launch lasting-initiator h2 lasting-initiator
	initiator=$started
	for ((round = 1; round <= $1; round++)); do
		if [ $round = 5 ]; then
			wait_until 60 two_programs
			before_target=$(now_holds "$(cat "$FOLDER/lasting-target.pid")")
			before_initiator=$(now_holds "$(cat "$FOLDER/lasting-initiator.pid")")
			before_daemon=$(now_holds "$daemon")
		fi
		echo "in round $round" >"$WORK/step"
		kill -0 $target 2>/dev/null && kill -0 $initiator 2>/dev/null || break
		(one_round $round)
	done
	[ ! -s "$FOLDER/slow" ] && [ ! -s "$FOLDER/hung" ] && [ $round -gt "$1" ]
	verdict "$1 kills, $name: their peers go on and learn of it [$label]" $? "rounds that nothing was learned in: $(xargs <"$FOLDER/hung"), that never worked: $(xargs <"$FOLDER/slow"), of $((round - 1)): $(grep -hE 'not|no completion' "$FOLDER"/lasting-*.out | head -n 2 | tr '\n' ' ')"
	wait_until 60 two_programs
	pid=$(cat "$FOLDER/lasting-target.pid")
	wait_until 30 holds_no_more "$pid" $before_target
	verdict "$1 kills, $name: a target keeps nothing of its initiators [$label]" $? "descriptors, mappings, KiB: $before_target, then $(now_holds "$pid")"
	pid=$(cat "$FOLDER/lasting-initiator.pid")
	wait_until 30 holds_no_more "$pid" $before_initiator
	verdict "$1 kills, $name: an initiator keeps nothing of its targets [$label]" $? "descriptors, mappings, KiB: $before_initiator, then $(now_holds "$pid")"
	wait_until 30 holds_no_more "$daemon" $before_daemon
	verdict "$1 kills, $name: nor does softibd [$label]" $? "descriptors, mappings, KiB: $before_daemon, then $(now_holds "$daemon")"
	touch "$FOLDER/finished"
	wait $target
	target_rc=$?
	wait $initiator
	initiator_rc=$?
	[ $target_rc$initiator_rc = 00 ] && [ ! -s "$FOLDER/wrong" ]
	verdict "$1 kills, $name: every byte is right [$label]" $? "exit codes $target_rc and $initiator_rc: $(tail -n 1 "$FOLDER"/lasting-*.out "$FOLDER/wrong" | tr '\n' ' ')"
}
