#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a subnet's routes from what diagnostic programs print of it; shares nothing with the manager.

usage: routes_check.py IBNETDISCOVER DUMP_FTS SAQUERY_PR SL2VL [any]

Follows every path record between adapters through the switches' forwarding tables, with its SL and the switches' SL to
VL maps. Every path must arrive; no two buffers (link, VL) may wait for each other in a circle, unless "any" is given.
Prints: paths N lanes N hops N (the mean), busiest N (paths over the busiest link between switches).
"""
import collections
import re
import sys


def read(name):
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read()


def read_links(text):
    """(node, port) -> (node, port), and LID -> node of adapters' base LIDs, with their LMC"""
    links, adapters, node = {}, {}, None
    for line in text.splitlines():
        if match := re.match(r'(Switch|Ca|Rt)\s+\d+ "([^"]+)"', line):
            node = match[2]
        elif match := re.match(r'\[(\d+)\](?:\([^)]*\))?\s+"([^"]+)"\[(\d+)\]', line):
            links[node, int(match[1])] = (match[2], int(match[3]))
            if node.startswith("H-") and (lid := re.search(r"# lid (\d+) lmc (\d+)", line)):
                for path in range(1 << int(lid[2])):
                    adapters[int(lid[1]) + path] = (node, int(match[1]))
    return links, adapters


def read_tables(text):
    """switch -> LID -> output port"""
    tables, switch = collections.defaultdict(dict), None
    for line in text.splitlines():
        if match := re.match(r"Unicast lids .* guid 0x([0-9a-f]+)", line):
            switch = "S-" + match[1].zfill(16)
        elif match := re.match(r"0x([0-9a-f]+) (\d+) ", line):
            tables[switch][int(match[1], 16)] = int(match[2])
    return tables


def read_maps(text):
    """(switch, input, output) -> SL -> VL"""
    maps, switch = {}, None
    for line in text.splitlines():
        if match := re.match(r"switch (\S+)", line):
            switch = match[1]
        elif match := re.match(r"ports: in +(\d+), out +(\d+): \|(.*)\|", line):
            maps[switch, int(match[1]), int(match[2])] = [int(vl) for vl in match[3].split("|")]
    return maps


def read_paths(text):
    """(source LID, destination LID, SL)"""
    for record in text.split("PathRecord dump:")[1:]:
        fields = dict(re.findall(r"(\w+)\.+(\S+)", record))
        yield int(fields["slid"], 0), int(fields["dlid"], 0), int(fields["sl"], 0)


def find_cycle(edges):
    """Removes what waits for nothing until nothing is left, or a cycle is."""
    waiting = {channel: set(others) for channel, others in edges.items()}
    awaited_by = collections.defaultdict(set)
    for channel, others in edges.items():
        for other in others:
            awaited_by[other].add(channel)
            waiting.setdefault(other, set())
    free = [channel for channel, others in waiting.items() if not others]
    while free:
        channel = free.pop()
        del waiting[channel]
        for other in awaited_by[channel]:
            waiting[other].discard(channel)
            if not waiting[other]:
                free.append(other)
    return sorted(waiting)


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    links, adapters = read_links(read(sys.argv[1]))
    tables, maps = read_tables(read(sys.argv[2])), read_maps(read(sys.argv[4]))
    edges, load = collections.defaultdict(set), collections.Counter()
    lanes, path_count, hops = set(), 0, 0
    for source, destination, sl in read_paths(read(sys.argv[3])):
        if source not in adapters or destination not in adapters or adapters[source] == adapters[destination]:
            continue
        path_count += 1
        node, port = links[adapters[source]]
        previous, seen = None, set()
        while node.startswith("S-"):
            if node in seen:
                sys.exit(f"a loop: LID {source} to {destination} comes to {node} twice")
            seen.add(node)
            output = tables[node].get(destination)
            if (node, output) not in links:
                sys.exit(f"a dead end: LID {source} to {destination} at {node}")
            lane = maps[node, port, output][sl]
            if links[node, output][0].startswith("S-"):
                channel = (node, output, lane)
                lanes.add(lane)
                load[node, output] += 1
                hops += 1
                if previous:
                    edges[previous].add(channel)
                previous = channel
            node, port = links[node, output]
        if (node, port) != adapters[destination]:
            sys.exit(f"LID {source} to {destination} arrives at {node}")
    if not path_count:
        sys.exit("no path at all")
    cycle = find_cycle(edges)
    if cycle and len(sys.argv) == 5:
        sys.exit(f"a credit loop over {len(cycle)} buffers, one is {cycle[0]}")
    print(f"paths {path_count} lanes {len(lanes)} hops {hops / path_count:.2f} busiest {max(load.values(), default=0)}"
          + (" with a credit loop" if cycle else ""))


if __name__ == "__main__":
    main()
