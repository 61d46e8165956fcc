# SPDX-License-Identifier: Apache-2.0
"""The figures, and the targets that compare them: one row for each case of the issue on speed."""
from dataclasses import dataclass

from . import peers, softib

MIBYTE = 1 << 20


@dataclass(frozen=True)
class Target:
    case: str
    ours: str
    unit: str
    bounds: tuple  # of (factor, peer figure) or (number,)
    is_time: bool  # less is better
    is_quick: bool = False


def at_most(case, ours, unit, *bounds, quick=False):
    return Target(case, ours, unit, bounds, True, quick)


def at_least(case, ours, unit, *bounds, quick=False):
    return Target(case, ours, unit, bounds, False, quick)


TARGETS = [
    at_most("send latency 8 B, polling", "send_lat 8", "us", (1, "ucx posix am_lat 8"), quick=True),
    at_most("write latency 8 B, cross-memory", "write_lat 8, private pages", "us", (0.5, "ucx cma put_lat 8"), quick=True),
    at_most("write latency 8 B, shared pages", "write_lat 8", "us", (1.5, "ucx posix put_lat 8"), quick=True),
    at_most("read latency 8 B, target blocked", "read_lat 8", "us", (1.2,), quick=True),
    at_most("atomic latency 8 B, target blocked", "atomic_lat 8", "us", (1.2,), quick=True),
    at_least("send rate 8 B, one QP", "send_bw 8", "M/s", (1, "ucx posix am_bw 8"), quick=True),
    at_least("write rate 8 B, one QP, lists of 64", "write_bw 8", "M/s", (1.5, "ucx posix am_bw 8"), quick=True),
    at_least("send bandwidth 4 KiB", "send_bw 4096", "MB/s", (1, "ucx posix am_bw 4096"), (1, "ucx cma put_bw 4096"), quick=True),
    at_least("send bandwidth 64 KiB", "send_bw 65536", "MB/s", (1, "ucx cma put_bw 65536"), quick=True),
    *(at_least("%s bandwidth %s" % (name, text), "%s_bw %d" % (name, size), "MB/s", (0.9, "memcpy %d" % size), (1, "ucx cma put_bw %d" % size), quick=size == MIBYTE)
      for name in ("write", "read") for size, text in ((65536, "64 KiB"), (MIBYTE, "1 MiB"), (8 * MIBYTE, "8 MiB"))),
    at_least("write bandwidth 1 MiB, both directions", "write_bw -b 1048576", "MB/s", (1.5, "write_bw 1048576")),
    at_least("UD send bandwidth 2 KiB", "send_bw UD 2048", "MB/s", (1, "ucx posix am_bw 2048"), (1, "libfabric shm 2048")),
    at_least("UD send rate 8 B", "send_bw UD 8", "M/s", (1, "ucx posix am_bw 8")),
    at_most("send latency 8 B, events", "send_lat -e 8", "us", (1, "futex wake-up plus 3")),
    at_most("through softibd: send latency 8 B", "softibd send_lat 8", "us", (1, "tcp-lat 8"), quick=True),
    at_least("through softibd: send rate 8 B", "softibd send_bw 8", "M/s", (1.0,), quick=True),
    at_least("through softibd: write bandwidth 4 KiB", "softibd write_bw 4096", "MB/s", (2000,), quick=True),
    at_most("registering 4 KiB", "reg 4096", "us", (2,), quick=True),
    at_most("registering 1 GiB", "reg 1073741824", "us", (50,), quick=True),
    at_most("RC connect, RESET to RTS", "connect", "us", (3,), quick=True),
    at_least("write bandwidth 4 KiB, 512 QPs", "write_bw -q 512 4096", "MB/s", (0.8, "write_bw 4096")),
    at_most("CPU at rest, 1,000 hosts and a program", "rest", "% of a core", (0.2,)),
]
# Shown beside the targets without being a bound of one.
BESIDE = {
    "memcpy-pair 1048576": "MB/s",
    "write_bw 4096": "MB/s",
    # The system calls that access another process's memory, without softib: cross-memory latency without pinned ranges.
    "bare /proc/pid/mem ping-pong 8": "us",
    "bare process_vm_writev ping-pong 8": "us",
}


# Messages that take less than 100 ns each: perftest's figure includes its first milliseconds, in which rings are made and pages mapped, ucx_perftest's
# does not (-w). Of the smallest, as many as take a tenth of a second: with 1,000,000 of them the beginning takes about a twentieth off the rate.
MANY = 500000
VERY_MANY = 4000000


# Longer messages move as many bytes as memcpy copies: a fifth of a second, longer than a burst of other load on the machine.
MANY_BYTES = 1 << 33


def count_for(size):
    return 200000 if size <= 64 else MANY if size <= 4096 else MANY_BYTES // size


def figures(fabric, through):
    """name -> function that measures it once. Two fabrics: offloaded, and all packets through softibd."""
    table = {
        "send_lat 8": lambda: fabric.latency("ib_send_lat", 8, 200000),
        "write_lat 8": lambda: fabric.latency("ib_write_lat", 8, 200000),
        "write_lat 8, private pages": lambda: fabric.latency("ib_write_lat", 8, 50000, SOFTIB_ADOPT="0"),
        "read_lat 8": lambda: fabric.latency("ib_read_lat", 8, 20000),
        "atomic_lat 8": lambda: fabric.latency("ib_atomic_lat", 8, 20000),
        "send_bw 8": lambda: fabric.rate("ib_send_bw", 8, VERY_MANY),
        "write_bw 8": lambda: fabric.rate("ib_write_bw", 8, 512000, "-l", "64"),
        # The same for both: the number of messages, and -N, since perftest reads the clock for each message (for its peak) up to 20,000 of a queue pair.
        "write_bw 4096": lambda: fabric.bandwidth("ib_write_bw", 4096, 1024000, "-N"),
        # A multiple of its CQ moderation: with others perftest counts more completions than there are, and may stop looking too soon.
        "write_bw -q 512 4096": lambda: fabric.bandwidth("ib_write_bw", 4096, 2000, "-q", "512", "-N"),
        "write_bw -b 1048576": lambda: fabric.bandwidth("ib_write_bw", MIBYTE, count_for(MIBYTE), "-b"),
        "send_bw UD 2048": lambda: fabric.bandwidth("ib_send_bw", 2048, MANY, "-c", "UD"),
        "send_bw UD 8": lambda: fabric.rate("ib_send_bw", 8, VERY_MANY, "-c", "UD"),
        "send_lat -e 8": lambda: fabric.latency("ib_send_lat", 8, 10000, "-e"),
        "softibd send_lat 8": lambda: through.latency("ib_send_lat", 8, 20000),
        "softibd send_bw 8": lambda: through.rate("ib_send_bw", 8, 200000),
        "softibd write_bw 4096": lambda: through.bandwidth("ib_write_bw", 4096, 50000),
        "reg 4096": lambda: fabric.cost("register-4096"),
        "reg 1073741824": lambda: fabric.cost("register-1073741824"),
        "connect": lambda: fabric.cost("connect"),
        "rest": softib.cpu_at_rest,
        "ucx posix am_lat 8": lambda: peers.ucx("posix", "am_lat", 8, 200000, "short")["latency"],
        "ucx posix put_lat 8": lambda: peers.ucx("posix", "put_lat", 8, 200000, "short")["latency"],
        "ucx cma put_lat 8": lambda: peers.ucx("cma", "put_lat", 8, 50000, "zcopy")["latency"],
        "ucx posix am_bw 8": lambda: peers.ucx("posix", "am_bw", 8, VERY_MANY, "short")["rate"],
        "libfabric shm 2048": lambda: peers.libfabric(2048, 50000)["bandwidth"],
        "tcp-lat 8": lambda: peers.machine("tcp-lat", 8),
        "futex wake-up plus 3": lambda: peers.machine("futex-wake", 8) + 3,
        "memcpy-pair 1048576": lambda: peers.machine("memcpy-pair", MIBYTE),
        "bare /proc/pid/mem ping-pong 8": lambda: peers.machine("mem-file-lat", 8),
        "bare process_vm_writev ping-pong 8": lambda: peers.machine("mem-call-lat", 8),
    }
    for size in (4096, 65536):
        table["send_bw %d" % size] = lambda size=size: fabric.bandwidth("ib_send_bw", size, count_for(size))
    for size in (65536, MIBYTE, 8 * MIBYTE):
        for name in ("write", "read"):
            table["%s_bw %d" % (name, size)] = lambda name=name, size=size: fabric.bandwidth("ib_%s_bw" % name, size, count_for(size))
        table["memcpy %d" % size] = lambda size=size: peers.machine("memcpy", size)
    for size in (2048, 4096):
        table["ucx posix am_bw %d" % size] = lambda size=size: peers.ucx("posix", "am_bw", size, MANY, "bcopy")["bandwidth"]
    for size in (4096, 65536, MIBYTE, 8 * MIBYTE):
        table["ucx cma put_bw %d" % size] = lambda size=size: peers.ucx("cma", "put_bw", size, min(count_for(size) // 4, 50000), "zcopy")["bandwidth"]
    return table


def figures_of(target):
    """The names of the figures that it compares, ours first."""
    return [target.ours, *(bound[1] for bound in target.bounds if len(bound) == 2)]
