# SPDX-License-Identifier: Apache-2.0
"""Datagrams that no honest SNMP manager sends, to a proxy on loopback: snmp_floods.py broken|flood PORT NODE."""
import random
import socket
import sys

kind, port, node = sys.argv[1], int(sys.argv[2]), sys.argv[3]
manager = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
manager.connect(("127.0.0.1", port))


def element(tag, content):
    size = len(content)
    length = bytes([size]) if size < 128 else b"\x82" + size.to_bytes(2, "big")
    return bytes([tag]) + length + content


def request(number, variables, tag=0xA1, version=1):
    pdu = element(tag, element(2, number.to_bytes(4, "big")) + element(2, b"\0") + element(2, b"\0") + element(0x30, variables))
    return element(0x30, element(2, bytes([version])) + element(4, b"public@" + node.encode()) + pdu)


def discovery(context):
    """What a manager of version 3 asks first, with the node as the context."""
    security = element(0x30, element(4, b"") + element(2, b"\0") + element(2, b"\0") + element(4, b"") * 3)
    header = element(0x30, element(2, b"\1") + element(2, b"\0\xff\xe3") + element(4, b"\4") + element(2, b"\3"))
    pdu = element(0xA0, element(2, b"\1") + element(2, b"\0") + element(2, b"\0") + element(0x30, b""))
    return element(0x30, element(2, b"\3") + header + element(4, security) + element(0x30, element(4, b"") + element(4, context) + pdu))


def send(message):
    try:
        manager.send(message)
    except OSError:
        pass  # longer than a datagram may be, or nobody there


variable = element(0x30, element(6, b"\x2b\x06\x01\x02\x01\x01\x01\x00") + element(5, b""))
good = request(1, variable)
if kind == "flood":
    for number in range(20000):
        send(request(number + 2, variable))
else:
    nested = b""
    for _ in range(2000):
        nested = element(0x30, nested)
    for message in [b"", b"\x30", b"\x30\x80\0\0", b"\x30\x84\xff\xff\xff\xff", b"\x30\x05\x02\x01\x03\xff\xff", nested[:60000], request(5, nested[:40000]),
                    request(6, variable * 2000), request(7, element(0x30, element(6, b"\xff" * 200) + element(5, b""))), request(8, variable, tag=0xA5),
                    request(9, element(0x30, element(6, b"\x2b" + b"\x01" * 140) + element(5, b""))), request(10, variable, tag=0xA2), request(11, variable, version=9),
                    b"\xff" * 60000]:
        send(message)
    for context in [b"\0", b"a\0b", b"\xff\xfe", b"x" * 127, b"x" * 128, b"x" * 60000, node.encode() + b"\0"]:
        send(discovery(context))
    generator = random.Random(7)
    for whole in [good, discovery(node.encode())]:
        for cut in range(len(whole)):
            send(whole[:cut])
        for _ in range(3000):
            changed = bytearray(whole)
            for _ in range(generator.randrange(1, 4)):
                changed[generator.randrange(len(changed))] = generator.randrange(256)
            send(bytes(changed))
