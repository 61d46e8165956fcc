#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A host on the LAN behind a gateway, at the other end of its UDP socket: Ethernet frames, read without softib's help.

  lan_host.py serve OWN PEER TCP LID     meets softib-raw-send's client at TCP, answers its echoes and frames until it goes
  lan_host.py deaf OWN PEER TCP LID      the same without a UDP socket
  lan_host.py ask OWN PEER TCP PORT      meets softib-raw-send -6 as its client, behind PORT of the router, and pings it
  lan_host.py frames OWN PEER TCP PORT   the same with EtherType frames
  lan_host.py ping OWN PEER TCP          meets softib-raw-send -6 as its client, and pings it by Linux's own IPv6
  lan_host.py hostile OWN PEER GID       sends what must be dropped, prints how many; GID is a host's
  lan_host.py flood OWN PEER SEED        many frames of random bytes

OWN and PEER are UDP ports of 127.0.0.1. Exit status 1, and a sentence, when something is not as it should be.
"""
import random
import socket
import struct
import sys

ADDRESS = socket.inet_pton(socket.AF_INET6, "2001:db8::1")
MAC = bytes.fromhex("020000000001")
OURS = bytes.fromhex("025f1b")
BROADCAST = b"\xff" * 6
IPV6, EXPERIMENTAL = 0x86DD, 0x88B5
WAIT = 100


def fail(text):
    print(text)
    sys.exit(1)


def ethernet(destination, ethertype, payload):
    return destination + MAC + struct.pack(">H", ethertype) + payload


def checksum(packet):
    message = packet[40:]
    data = packet[8:40] + struct.pack(">II", len(message), 58) + message + b"\0" * (len(message) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv6(source, destination, payload, hop_limit=64, next_header=58):
    return struct.pack(">IHBB", 6 << 28, len(payload), next_header, hop_limit) + source + destination + payload


def echo(source, destination, kind, rest, hop_limit=64):
    packet = ipv6(source, destination, bytes([kind, 0, 0, 0]) + rest, hop_limit)
    return packet[:42] + struct.pack(">H", checksum(packet)) + packet[44:]


def mac_of(port, lid):
    return OURS + struct.pack(">BH", port, lid)


def lan(own, peer):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", own))
    udp.connect(("127.0.0.1", peer))
    udp.settimeout(WAIT)
    return udp


def exchange(tcp, lid):
    """softib-raw-send's struct peer: LID and GID."""
    tcp.sendall(struct.pack("=H", lid) + ADDRESS)
    data = tcp.recv(18, socket.MSG_WAITALL)
    return struct.unpack("=H", data[:2])[0], data[2:]


def check_echo(frame, port, lid, gid, kind, hop_limit):
    packet = frame[14:]
    if frame[6:12] != mac_of(port, lid):
        fail(f"from MAC {frame[6:12].hex()}, not {mac_of(port, lid).hex()}")
    if len(packet) != 40 + struct.unpack(">H", packet[4:6])[0] or packet[0] >> 4 != 6:
        fail(f"an IPv6 packet of {len(packet)} bytes that is none")
    if packet[8:24] != gid or packet[24:40] != ADDRESS or packet[7] != hop_limit:
        fail(f"from {packet[8:24].hex()} to {packet[24:40].hex()}, {packet[7]} hops left")
    if packet[40] != kind or checksum(packet) != 0:
        fail(f"type {packet[40]}, checksum off by {checksum(packet)}")
    return packet


def answer(frame, lid, gid):
    ethertype = struct.unpack(">H", frame[12:14])[0]
    if frame[:6] != BROADCAST:
        fail(f"to MAC {frame[:6].hex()}")
    if ethertype != IPV6:
        if frame[6:12] != mac_of(1, lid):
            fail(f"from MAC {frame[6:12].hex()}, not {mac_of(1, lid).hex()}")
        return ethernet(frame[6:12], ethertype, frame[14:])
    packet = check_echo(frame, 1, lid, gid, 128, 63)
    # As an Ethernet driver would: at least 60 bytes, whatever the packet's length.
    return ethernet(frame[6:12], IPV6, echo(ADDRESS, gid, 129, packet[44:])).ljust(60, b"\x55")


def serve(own, peer, tcp_port, router_lid, hears=True):
    udp = lan(own, peer) if hears else None
    listener = socket.create_server(("127.0.0.1", tcp_port))
    tcp, _ = listener.accept()
    lid, gid = exchange(tcp, router_lid)
    tcp.settimeout(0)
    count = 0
    while True:
        try:
            if not tcp.recv(1):
                break
        except BlockingIOError:
            pass
        if not udp:
            tcp.settimeout(WAIT)
            continue
        udp.settimeout(0.05)
        try:
            frame = udp.recv(65536)
        except (TimeoutError, ConnectionRefusedError):
            continue
        count += 1
        udp.send(answer(frame, lid, gid))
    print(f"{count} frames received")


def connect(tcp_port):
    tcp = socket.create_connection(("127.0.0.1", tcp_port))
    return (tcp, *exchange(tcp, 0))


def ask(own, peer, tcp_port, port):
    udp = lan(own, peer)
    tcp, lid, gid = connect(tcp_port)
    router_lid = None
    for sequence, size in enumerate([0, 1, 2, 3, 56, 1000, 1399, 4088]):
        rest = struct.pack(">HH", 77, sequence) + bytes((sequence + i) % 256 for i in range(size))
        udp.send(ethernet(BROADCAST, IPV6, echo(ADDRESS, gid, 128, rest)))
        frame = udp.recv(65536)
        router_lid = router_lid or struct.unpack(">H", frame[10:12])[0]
        if check_echo(frame, port, router_lid, gid, 129, 63)[44:] != rest:
            fail(f"the answer to an echo of {size} bytes has other data")
    if router_lid != lid:
        fail(f"the answers came from LID {router_lid}, not {lid}")
    tcp.close()


def ping(_own, _peer, tcp_port):
    raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    raw.settimeout(WAIT)
    tcp, _, gid = connect(tcp_port)
    for sequence, size in enumerate([0, 1, 2, 3, 56, 1000, 1399, 1452]):
        rest = struct.pack(">HH", 78, sequence) + bytes((sequence + i) % 256 for i in range(size))
        raw.sendto(b"\x80\0\0\0" + rest, (socket.inet_ntop(socket.AF_INET6, gid), 0))
        while True:
            message, source = raw.recvfrom(65536)
            if message[0] == 129 and socket.inet_pton(socket.AF_INET6, source[0]) == gid:
                break
        if message[4:] != rest:
            fail(f"the answer to an echo of {size} bytes has other data")
    tcp.close()


def frames(own, peer, tcp_port, port):
    udp = lan(own, peer)
    tcp, lid, _ = connect(tcp_port)
    for size in [0, 1, 8, 46, 57, 1500, 4095, 4096]:
        payload = bytes((size + i) % 256 for i in range(size))
        udp.send(ethernet(mac_of(port, lid), EXPERIMENTAL, payload))
        frame = udp.recv(65536)
        padded = payload.ljust(max(8, -(-size // 4) * 4), b"\0")
        if frame != BROADCAST + mac_of(port, lid) + struct.pack(">H", EXPERIMENTAL) + padded:
            fail(f"a frame of {size} bytes came back as {frame[:24].hex()}, {len(frame)} bytes")
    tcp.close()


def hostile(own, peer, gid):
    udp = lan(own, peer)
    good = echo(ADDRESS, gid, 128, bytes(60))
    link_local = socket.inet_pton(socket.AF_INET6, "fe80::1")
    group = socket.inet_pton(socket.AF_INET6, "ff0e::1")
    nowhere = socket.inet_pton(socket.AF_INET6, "2001:db8:1::1")
    bad = [b"", b"x", bytes(13), BROADCAST + MAC + struct.pack(">H", 46) + bytes(46)]
    bad += [ethernet(BROADCAST, IPV6, packet) for packet in (
        b"", good[:39], good[:-1], b"\x45" + good[1:], good[:4] + b"\xff\xff" + good[6:], ipv6(ADDRESS, gid, bytes(4100)),
        good[:7] + b"\0" + good[8:], good[:7] + b"\1" + good[8:],
        ipv6(gid, gid, bytes(8)), ipv6(gid[:8] + bytes(8), gid, bytes(8)), ipv6(link_local, gid, bytes(8)), ipv6(group, gid, bytes(8)), ipv6(bytes(16), gid, bytes(8)),
        ipv6(ADDRESS, link_local, bytes(8)), ipv6(ADDRESS, group, bytes(8)), ipv6(ADDRESS, nowhere, bytes(8)), ipv6(ADDRESS, gid[:8] + b"\1" * 8, bytes(8)))]
    bad += [ethernet(mac, EXPERIMENTAL, bytes(46)) for mac in (
        BROADCAST, MAC, mac_of(0, 1), mac_of(3, 1), mac_of(255, 1), mac_of(1, 0), mac_of(1, 0xC001), mac_of(1, 0xFFFF))]
    bad += [ethernet(mac_of(1, 1), EXPERIMENTAL, bytes(4097)), ethernet(mac_of(1, 1), EXPERIMENTAL, bytes(9000))]
    for frame in bad:
        udp.send(frame)
    # Not the peer.
    stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for frame in bad:
        stranger.sendto(frame, ("127.0.0.1", peer))
    print(len(bad))


def flood(own, peer, seed):
    udp = lan(own, peer)
    numbers = random.Random(seed)
    for _ in range(20000):
        head = numbers.choice([b"", ethernet(mac_of(numbers.randrange(4), numbers.randrange(8)), EXPERIMENTAL, b""), ethernet(BROADCAST, IPV6, b"\x60")])
        udp.send(head + numbers.randbytes(numbers.randrange(200)))


def main():
    what, own, peer = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rest = sys.argv[4:]
    if what == "hostile":
        hostile(own, peer, socket.inet_pton(socket.AF_INET6, rest[0]))
        return
    numbers = [int(text, 0) for text in rest]
    if what == "serve":
        serve(own, peer, *numbers)
    elif what == "deaf":
        serve(own, peer, *numbers, hears=False)
    else:
        {"ask": ask, "frames": frames, "ping": ping, "flood": flood}[what](own, peer, *numbers)


main()
