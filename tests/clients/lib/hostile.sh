# Programs that harm, each beside two honest programs. Source it after fabric.sh and traffic.sh, with a fabric of at least 3 hosts up.
daemon=$(cat "$SOFTIB_RUNTIME_DIR/default/pid")
SEED=${SEED:-1}
HOSTILE=$SOFTIB_RUNTIME_DIR/default/control

descriptors() { ls "/proc/$daemon/fd" | wc -l; }
mappings() { wc -l <"/proc/$daemon/maps"; }
data_kib() { awk '/^VmData/ {print $2}' "/proc/$daemon/status"; }
holdings() { echo "$(descriptors) $(mappings) $(data_kib)"; }
# A heap varies in size, but does not grow with every attack.
HEAP_KIB=4096
# An address sanitizer keeps freed memory.
is_sanitized() { [ -n "$SANITIZED" ]; }
holds_no_more() { # DESCRIPTORS MAPPINGS KIB
	[ "$(descriptors)" -le "$1" ] || return 1
	is_sanitized || { [ "$(mappings)" -le $(($2 + 4)) ] && [ "$(data_kib)" -le $(($3 + HEAP_KIB)) ]; }
}
answers() { [ "$(cat "$SOFTIB_RUNTIME_DIR/default/pid" 2>/dev/null)" = "$daemon" ] && timeout 60 "$SOFTIB" status >/dev/null 2>&1; }

# victims_begin: h1 and h2 exchange messages of which each byte is checked.
victims_begin() {
	pair victims h1 h2 0 19
	flows victims
	verdict "two programs talk" $? "$(tail -qn 1 "$WORK"/victims/*.out | tr '\n' ' ')"
	before=$(holdings)
}
# unhurt NAME: softibd answers, the victims talk, and softibd keeps nothing of what happened.
unhurt() {
	answers
	verdict "$1: softibd answers" $?
	flows victims
	verdict "$1: the others talk" $? "$(tail -qn 2 "$WORK"/victims/*.out | tr '\n' ' ')"
	wait_until 5 holds_no_more $before
	verdict "$1: softibd keeps nothing of it" $? "descriptors, mappings, KiB: $before, then $(holdings)"
}
# attack NAME COMMAND...: the attack ends as it should; softibd answers all the time, and afterwards nobody is hurt.
attack() {
	local name=$1 attacker rc is_deaf=0
	shift
	step "attack $name"
	timeout 120 "$@" >"$WORK/out" 2>&1 &
	attacker=$!
	while kill -0 $attacker 2>/dev/null; do
		answers || is_deaf=1
	done
	wait $attacker
	rc=$?
	verdict "$name: the attack ends as it should" $rc "seed $SEED, exit code $rc: $(tail -n 2 "$WORK/out" | tr "\n" " ")"
	verdict "$name: softibd answers meanwhile" $is_deaf
	unhurt "$name"
}
# Every message came once, in order and with every byte.
victims_end() {
	kill -TERM "$sender"
	ends_with 5 victims send 0 'closed after'
	verdict "the sender among them had no error" $? "$why"
	kill -TERM "$receiver"
	ends_with 5 victims receive 0 'closed after'
	verdict "the receiver got every message once and in order" $? "$why"
	between "new programs work" "ibv_rc_pingpong -c" "ibv_rc_pingpong -c"
	wait_until 5 no_programs
	verdict "softibd counts no programs" $?
}
