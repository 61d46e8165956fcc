#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a capture without softib's help: block structure, both CRCs of every packet, directions and comments.

Prints "packets N bad-crc N in N out N dropped N fecn N becn N cnp N interfaces NAME,NAME opcodes HEX,... classes HEX,...". Exit status 1 if the
file is not sound. A packet whose comment says that it was dropped for a CRC must have that one wrong.
"""
import struct
import sys
import zlib


def shifted(crc, bits):
    for _ in range(bits):
        crc = crc >> 1 ^ (0xD008 if crc & 1 else 0)
    return crc


# Two bytes at once: captures have millions.
BYTES = [shifted(byte, 8) for byte in range(256)]
WORDS = [first >> 8 ^ BYTES[first & 0xFF] for first in (word >> 8 ^ BYTES[word & 0xFF] for word in range(65536))]


def vcrc(data):
    crc = 0xFFFF
    for (word,) in struct.iter_unpack("<H", data[:len(data) & ~1]):
        crc = WORDS[crc ^ word]
    if len(data) & 1:
        crc = crc >> 8 ^ BYTES[crc & 0xFF ^ data[-1]]
    return crc ^ 0xFFFF


def icrc(packet):
    masked = bytearray(packet)
    bth = 8
    if masked[1] & 3 == 3:
        masked[0:8] = b"\xff" * 8
        masked[8] |= 0x0F
        masked[9:12] = b"\xff" * 3
        masked[15] = 0xFF
        bth = 48
    else:
        masked[0] |= 0xF0
    masked[bth + 4] = 0xFF
    return zlib.crc32(bytes(masked))


def wrong_crc(packet):
    """"VCRC", "ICRC" or None."""
    if vcrc(packet[:-2]) != struct.unpack("<H", packet[-2:])[0]:
        return "VCRC"
    if packet[1] & 3 >= 2 and icrc(packet[:-6]) != struct.unpack("<I", packet[-6:-2])[0]:
        return "ICRC"
    return None


def options(data):
    found = {}
    while data:
        code, length = struct.unpack_from("<HH", data)
        if code == 0:
            assert length == 0 and len(data) == 4, "what follows the last option?"
            break
        found.setdefault(code, data[4:4 + length])
        data = data[4 + (length + 3 & ~3):]
    return found


def blocks(data):
    offset = 0
    while offset < len(data):
        kind, length = struct.unpack_from("<II", data, offset)
        assert length % 4 == 0 and length >= 12, f"block of {length} bytes"
        assert struct.unpack_from("<I", data, offset + length - 4)[0] == length, "lengths differ"
        yield kind, data[offset + 8:offset + length - 4]
        offset += length
    assert offset == len(data), "the last block is cut"


def main():
    names, link_types = [], []
    counts = dict.fromkeys(("packets", "bad-crc", "in", "out", "dropped", "fecn", "becn", "cnp"), 0)
    opcodes, classes, last_time = set(), set(), 0
    for number, (kind, body) in enumerate(blocks(open(sys.argv[1], "rb").read())):
        if number == 0:
            assert kind == 0x0A0D0D0A and body[:4] == b"\x4d\x3c\x2b\x1a", "no section header"
        elif kind == 1:
            link_types.append(struct.unpack_from("<H", body)[0])
            names.append(options(body[8:])[2].decode())
        elif kind == 6:
            interface, high, low, captured, original = struct.unpack_from("<IIIII", body)
            assert captured == original and interface < len(names)
            packet = body[20:20 + captured]
            found = options(body[20 + (captured + 3 & ~3):])
            comment, direction = found[1].decode(), found[2][0] & 3
            assert names[interface] in comment, comment
            assert high << 32 | low >= last_time, "time goes back"
            last_time = high << 32 | low
            if link_types[interface] == 197:
                assert packet[8] == 21 and struct.unpack_from(">H", packet, 14)[0] == captured - 16
                packet = packet[16:]
            counts["packets"] += 1
            counts["in" if direction == 1 else "out"] += 1
            counts["dropped"] += "dropped" in comment
            wrong = wrong_crc(packet)
            # A packet that broke inside a node has a wrong ICRC all the way, and is dropped at its end.
            assert ("CRC" in comment and wrong and wrong in comment) or \
                ("CRC" not in comment and wrong != "VCRC"), f"wrong: {wrong}, comment: {comment}"
            counts["bad-crc"] += wrong is not None
            if not wrong:
                assert struct.unpack_from(">H", packet, 4)[0] * 4 == len(packet) - 2, "PktLen"
                if packet[1] & 3 < 2:  # raw: no BTH
                    continue
                bth = 48 if packet[1] & 3 == 3 else 8
                opcodes.add(packet[bth])
                counts["fecn"] += packet[bth + 4] >> 7
                counts["becn"] += packet[bth + 4] >> 6 & 1
                counts["cnp"] += packet[bth] == 0x80
                if packet[bth] == 0x64 and packet[bth + 5:bth + 8] in (b"\0\0\0", b"\0\0\1"):
                    classes.add(packet[bth + 21])
        else:
            assert kind == 5, f"block of type {kind}"
    print(" ".join(f"{name} {count}" for name, count in counts.items()), "interfaces", ",".join(names),
          "opcodes", ",".join(f"{code:02x}" for code in sorted(opcodes)),
          "classes", ",".join(f"{code:02x}" for code in sorted(classes)))


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, struct.error, KeyError, IndexError) as error:
        print(f"not sound: {error!r}")
        sys.exit(1)
