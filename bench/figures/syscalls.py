# SPDX-License-Identifier: Apache-2.0
"""System calls of the fast path: two runs that differ only in the number of messages should make about the same number of calls."""
import os

from .programs import SOFTIB, between, next_port
from .softib import Fabric

FEW = 1000
MANY = 100000


def read_strace(path):
    """Calls by name from strace -c: % time, seconds, usecs/call, calls, [errors], name."""
    calls = {}
    with open(path) as table:
        for line in table:
            fields = line.split()
            if len(fields) >= 5 and fields[3].isdigit() and fields[-1] != "total":
                calls[fields[-1]] = int(fields[3])
    return calls


def traced_run(fabric, test, messages):
    """Runs one test with both programs traced, on a core each; returns the calls by name of each."""
    number = next_port()
    command = [test, "-F", "-s", "8", "-n", str(messages), "-p", str(number)]
    logs = {side: os.path.join(fabric.runtime, "strace-" + side) for side in ("server", "client")}
    cores = sorted(os.sched_getaffinity(0))
    places = {"server": cores[0], "client": cores[-1]}
    traced = {side: ["taskset", "-c", str(places[side]), "strace", "-f", "-c", "-o", log, *command] for side, log in logs.items()}
    between([SOFTIB, "run", "-H", "h1", "--", *traced["server"]], [SOFTIB, "run", "-H", "h2", "--", *traced["client"], "127.0.0.1"], number, fabric.environment)
    return {side: read_strace(log) for side, log in logs.items()}


def show():
    fabric = Fabric("--hosts", "2")
    print("system calls per message at 8 B, of all threads of a program: (calls for %d messages - calls for %d) / %d" % (MANY, FEW, MANY - FEW))
    try:
        for test in ("ib_send_lat", "ib_send_bw", "ib_write_bw"):
            runs = [traced_run(fabric, test, messages) for messages in (FEW, MANY)]
            for side in ("client", "server"):
                before, after = (run[side] for run in runs)
                extra = {name: after.get(name, 0) - before.get(name, 0) for name in {*before, *after}}
                yields = extra.pop("sched_yield", 0)
                most = sorted(extra, key=extra.get, reverse=True)[:3]
                print("%-12s %s %8.4f   most: %s; and sched_yield %d" % (test, side, sum(extra.values()) / (MANY - FEW), ", ".join("%s %d" % (name, extra[name]) for name in most), yields))
    finally:
        fabric.close()
    print("sched_yield, not counted: the peer did not answer within some 10 us, because its core was taken (by strace, too). ppoll, read, clock_gettime: the progress thread.")
