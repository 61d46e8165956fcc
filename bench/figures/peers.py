# SPDX-License-Identifier: Apache-2.0
"""The peers' figures: UCX and libfabric over shared memory, TCP over loopback, and what the machine itself can do."""
import os
import re

from .programs import NoFigure, between, next_port, number_of

MIB = 1.048576  # ucx_perftest's MB/s are MiB/s


def ucx(transport, test, size, count, layout, *extra):
    number = next_port()
    environment = dict(os.environ, UCX_WARN_UNUSED_ENV_VARS="n", UCX_LOG_LEVEL="error")
    command = ["ucx_perftest", "-p", str(number)]
    options = ["-t", test, "-x", transport, "-d", "memory", "-D", layout, "-s", str(size), "-n", str(count), "-w", "1000", *extra]
    output = between(command, [*command, *options, "127.0.0.1"], number, environment)
    match = re.search(r"Final:\s+(.*)", output)
    if not match:
        raise NoFigure("ucx_perftest %s printed no result:\n%s" % (test, output[-400:]))
    fields = [float(value) for value in match.group(1).split()]
    return {"latency": fields[1], "bandwidth": fields[5] * MIB, "rate": fields[7] / 1e6}


def libfabric(size, count):
    """fi_pingpong is the only measuring program in Debian's package, so the rate is that of a ping-pong."""
    number = next_port()
    command = ["fi_pingpong", "-p", "shm", "-e", "rdm", "-S", str(size), "-I", str(count)]
    output = between([*command, "-B", str(number)], [*command, "-P", str(number), "127.0.0.1"], number)
    try:
        fields = output.strip().splitlines()[-1].split()
        return {"bandwidth": float(fields[-3]), "latency": float(fields[-2])}
    except (IndexError, ValueError):
        raise NoFigure("fi_pingpong printed no result:\n%s" % output[-400:]) from None


def machine(test, size):
    """memcpy, memcpy-pair, tcp-lat, tcp-bw, futex-wake, mem-file-lat, mem-call-lat, line-lat: microseconds or MB/s."""
    return number_of("bench-peer", test, str(size))
