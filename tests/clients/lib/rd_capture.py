#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reliable Datagrams in a capture, read by the specification's own table of headers and not by softib's.

usage: rd_capture.py CAPTURE [COPY]

Prints one line "OPCODE destination-qp Q eec E [qkey K source-qp S] [rkey R]" per reliable datagram, all hex.

Wireshark 4.0 takes transport 2 for a vendor's "dynamically connected" one, whose packets have 8 bytes more behind the BTH.
COPY gets the same packets with 8 bytes there, so that its dissector finds the headers where it looks for them.
"""
import struct
import sys

REQUESTS = {**dict.fromkeys(range(0x00, 0x0D)), 0x13: None, 0x14: None, 0x15: None, 0x1C: None, 0x1D: None}
WITH_RETH = {0x06, 0x0A, 0x0B, 0x0C}


def describe(bth):
    low = bth[0] & 0x1F
    words = [f"{bth[0]:02x} destination-qp {bth[5:8].hex()} eec {bth[13:16].hex()}"]
    assert bth[12] == 0, "reserved byte of RDETH"
    if low in REQUESTS:
        assert bth[20] == 0, "reserved byte of DETH"
        words.append(f"qkey {bth[16:20].hex()} source-qp {bth[21:24].hex()}")
    if low in WITH_RETH:
        words.append(f"rkey {bth[32:36].hex()}")
    return " ".join(words)


def with_room(record):
    """An ERF record whose packet has 8 bytes more behind the BTH."""
    header, packet = record[:16], record[16:]
    bth = 48 if packet[1] & 3 == 3 else 8
    packet = bytearray(packet[:bth + 12] + bytes(8) + packet[bth + 12:])
    packet[4:6] = struct.pack(">H", struct.unpack_from(">H", packet, 4)[0] + 2)
    header = header[:10] + struct.pack(">HHH", len(packet) + 16, 0, len(packet))
    return header + bytes(packet)


def main():
    data = open(sys.argv[1], "rb").read()
    copy = open(sys.argv[2], "wb") if len(sys.argv) > 2 else None
    offset = 0
    while offset < len(data):
        kind, length = struct.unpack_from("<II", data, offset)
        block = data[offset:offset + length]
        offset += length
        if kind == 6:
            captured = struct.unpack_from("<I", block, 20)[0]
            record = block[28:28 + captured]
            packet = record[16:]
            bth = packet[48 if packet[1] & 3 == 3 else 8:]
            if packet[1] & 3 < 2 or bth[0] >> 5 != 2:
                continue
            print(describe(bth))
            record = with_room(record)
            body = block[8:20] + struct.pack("<II", len(record), len(record)) + record + bytes(-len(record) % 4)
            block = struct.pack("<II", 6, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
        if copy:
            copy.write(block)


if __name__ == "__main__":
    main()
