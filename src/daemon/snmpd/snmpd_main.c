/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softib-snmpd: answers SNMP messages for every node of a fabric. softibd starts it, gives it
 * messages and the state of nodes, and restarts it when it ends. It is a process of its own because
 * net-snmp's library reads the bytes of strangers.
 *
 * Usage: softib-snmpd START_COUNT UPTIME_NS [CONFIG]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include "daemon/snmpd/snmpd_agent.h"
#include "daemon/snmpd/snmpd_link.h"

int main(int argument_count, char **arguments)
{
	static uint8_t bytes[SNMP_LINK_BYTES_MAX];
	struct snmp_link_header header;
	struct snmp_event event;
	long byte_count;

	if (argument_count < 3) {
		fputs("softib-snmpd is started by softibd\n", stderr);
		return EXIT_FAILURE;
	}
	/* It ends with softibd, also while it works on a message. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!snmpd_agent_start(argument_count > 3 ? arguments[3] : NULL,
			       (unsigned)strtoul(arguments[1], NULL, 10),
			       strtoull(arguments[2], NULL, 10)))
		return EXIT_FAILURE;
	while ((byte_count = snmpd_link_receive(&header, bytes)) >= 0) {
		if (header.kind == SNMP_LINK_REQUEST) {
			snmpd_agent_serve(&header, bytes, (size_t)byte_count);
		} else if (header.kind == SNMP_LINK_EVENT && byte_count == sizeof(event)) {
			event = *(const struct snmp_event *)(const void *)bytes;
			snmpd_agent_notify(header.node_guid, &event);
		}
	}
	return EXIT_SUCCESS;
}
