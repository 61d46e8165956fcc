#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbered writes to a network block device, each logged before it begins and when it is acknowledged; later, whether the disk has them.

    nbd_writer.py write SOCKET LOGS     writes and reads until SIGTERM or until the server is gone; a request that fails is repeated
    nbd_writer.py check DISK LOGS       the disk has every acknowledged write, and no block is torn
    nbd_writer.py check-whole DISK LOGS ... and each write is there completely or not at all

Each thread has a connection, slots and a log in the folder LOGS of its own. A slot has the number of its last write in each 16 bytes, with
the slot and the block, so that bytes at a wrong place are seen. Each acknowledged write is also read back at once.
"""
import os
import random
import signal
import socket
import struct
import sys
import threading
import time

THREADS, SLOTS, SLOT_BYTES, BLOCK = 8, 4, 64 << 10, 512
WRITE, READ, FUA = 1, 0, 1
ending = threading.Event()


def content(slot, number):
    return b"".join(struct.pack("<IIII", slot, number, block, ~number & 0xFFFFFFFF) * (BLOCK // 16) for block in range(SLOT_BYTES // BLOCK))


def numbers(data, slot):
    """The number in each block; raises ValueError for a block that is torn or of another place."""
    found = []
    for block in range(SLOT_BYTES // BLOCK):
        bytes_ = data[block * BLOCK:(block + 1) * BLOCK]
        number = struct.unpack_from("<I", bytes_, 4)[0]
        if bytes_ != bytes(BLOCK) and bytes_ != struct.pack("<IIII", slot, number, block, ~number & 0xFFFFFFFF) * (BLOCK // 16):
            raise ValueError(f"slot {slot} block {block} is torn or another one's: {bytes_[:16].hex()} ... {bytes_[-16:].hex()}")
        found.append(number)
    return found


class Device:
    """NBD's fixed newstyle handshake and simple replies, no more than nbdkit needs."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.receive(18)
        self.socket.sendall(struct.pack(">I", 3) + struct.pack(">QII", 0x49484156454F5054, 1, 0))
        self.receive(10)
        self.handle = 0

    def receive(self, count):
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def request(self, kind, flags, offset, data, count):
        """The error of the reply, and the data."""
        self.handle += 1
        self.socket.sendall(struct.pack(">IHHQQI", 0x25609513, flags, kind, self.handle, offset, count) + data)
        magic, error, handle = struct.unpack(">IIQ", self.receive(16))
        if magic != 0x67446698 or handle != self.handle:
            raise ValueError("not the reply of this request")
        return error, self.receive(count) if kind == READ and not error else b""


def work(path, logs, thread):
    device = Device(path)
    log = os.open(f"{logs}/{thread}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    choice = random.Random(thread)
    number = 0
    while not ending.is_set():
        slot = thread * SLOTS + choice.randrange(SLOTS)
        error = 1
        while error and not ending.is_set():
            number += 1
            os.write(log, f"begin {slot} {number}\n".encode())
            began = time.monotonic()
            error, _ = device.request(WRITE, FUA * (number % 2), slot * SLOT_BYTES, content(slot, number), SLOT_BYTES)
            os.write(log, f"{'error' if error else 'ack'} {slot} {number} {time.monotonic() - began:.3f}\n".encode())
        if error:
            break
        error, data = device.request(READ, 0, slot * SLOT_BYTES, b"", SLOT_BYTES)
        if not error and set(numbers(data, slot)) != {number}:
            raise ValueError(f"slot {slot} has {set(numbers(data, slot))} after write {number}")


def run(path, logs, thread):
    try:
        work(path, logs, thread)
    except (EOFError, ConnectionError):
        pass
    except Exception as fault:  # pylint: disable=broad-except
        print(repr(fault), flush=True)
        os._exit(1)


def write(path, logs):
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    threads = [threading.Thread(target=run, args=(path, logs, thread)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def check(path, logs, is_whole):
    begun, acknowledged, count = {}, {}, 0
    for thread in range(THREADS):
        for line in open(f"{logs}/{thread}", encoding="ascii"):
            word, slot, number = line.split()[:3]
            if word == "begin":
                begun[int(slot)] = int(number)
            elif word == "ack":
                acknowledged[int(slot)] = int(number)
                count += 1
    with open(path, "rb") as disk:
        for slot in range(THREADS * SLOTS):
            disk.seek(slot * SLOT_BYTES)
            found = numbers(disk.read(SLOT_BYTES), slot)
            least, most = acknowledged.get(slot, 0), begun.get(slot, 0)
            if min(found) < least or max(found) > most:
                raise ValueError(f"slot {slot} has writes {min(found)} to {max(found)}; {least} is acknowledged, {most} begun")
            if is_whole and len(set(found)) != 1:
                raise ValueError(f"slot {slot} has parts of the writes {sorted(set(found))}")
        if disk.read().strip(b"\0"):
            raise ValueError("bytes behind the last slot")
    print(f"{count} writes acknowledged")


if __name__ == "__main__":
    try:
        if sys.argv[1] == "write":
            write(sys.argv[2], sys.argv[3])
        else:
            check(sys.argv[2], sys.argv[3], sys.argv[1] == "check-whole")
    except ValueError as problem:
        print(problem)
        sys.exit(1)
