/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy of "softib snmp": SNMP over UDP on one side, SNMP tunnelling on the other
 * (management 6.4). It reads what says which node a message is for: the community of versions 1 and
 * 2c, engine ID and context of version 3, whose messages it does not change.
 */
#ifndef SOFTIB_CLI_SNMP_PROXY_H
#define SOFTIB_CLI_SNMP_PROXY_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

enum { SNMP_PROXY_NODES_MAX = 64, SNMP_NODE_NAME_BYTES = 128 };

/* A UDP port that stands for one node. */
struct snmp_proxy_node {
	char name[SNMP_NODE_NAME_BYTES];
	uint16_t port; /* 0: any free one */
};

struct snmp_proxy_options {
	const char *fabric;
	const char *host; /* NULL: the first */
	struct sockaddr_in listen;
	struct snmp_proxy_node nodes[SNMP_PROXY_NODES_MAX];
	unsigned node_count;
	bool has_trap_sink;
	struct sockaddr_in trap_sink;
};

/* Runs until a signal or the end of the fabric. Returns the exit code. */
MUST_USE int snmp_proxy_run(const struct snmp_proxy_options *options);

#endif
