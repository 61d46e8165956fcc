/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscribes to notices at the SA through libibumad and tells of the reports that come.
 *
 * "umad_subscribe TRAP COUNT [silent]" prints "subscribed", then "report TRAP GID" for each report,
 * acknowledges it (unless silent) and ends after COUNT of them by unsubscribing. TRAP 65535 is any.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

enum {
	MAD_BYTES = 256,
	CLASS_SA = 3,
	METHOD_SET = 0x02,
	METHOD_GET_RESPONSE = 0x81,
	METHOD_REPORT = 0x06,
	METHOD_REPORT_RESPONSE = 0x86,
	ATTRIBUTE_INFORM_INFO = 3,
	SA_DATA = 56,
	NOTICE_GID = 16, /* of traps 64 to 67: the details begin at 10, the GID 6 further */
	QKEY_GSI = 0x80010000,
	TIMEOUT_MS = 20000,
	RNR_HOLD_MS = 60000,
};

struct agent {
	int port, id;
	unsigned sm_lid, sm_sl;
	void *umad;
	uint8_t *mad;
};

static bool open_agent(struct agent *agent)
{
	long methods[16 / sizeof(long)] = {0};
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		return false;
	agent->sm_lid = port.sm_lid;
	agent->sm_sl = port.sm_sl;
	umad_release_port(&port);
	methods[0] = 1l << METHOD_REPORT;
	agent->port = umad_open_port(NULL, 0);
	agent->id = agent->port < 0 ? -1 : umad_register(agent->port, CLASS_SA, 2, 1, methods);
	agent->umad = umad_alloc(1, umad_size() + MAD_BYTES);
	agent->mad = agent->umad ? umad_get_mad(agent->umad) : NULL;
	return agent->id >= 0 && agent->mad;
}

/* InformInfo for generic traps of this number from anybody. */
static bool send_inform(struct agent *agent, unsigned trap, bool subscribe)
{
	uint8_t *mad = agent->mad;
	uint8_t *info = mad + SA_DATA;

	memset(agent->umad, 0, umad_size() + MAD_BYTES);
	mad[0] = 1;
	mad[1] = CLASS_SA;
	mad[2] = 2;
	mad[3] = METHOD_SET;
	mad[15] = subscribe ? 1 : 2;
	mad[17] = ATTRIBUTE_INFORM_INFO;
	info[16] = info[17] = 0xff;
	info[22] = 1;
	info[23] = subscribe;
	info[24] = info[25] = 0xff;
	info[26] = (uint8_t)(trap >> 8);
	info[27] = (uint8_t)trap;
	info[30] = 1; /* QPN */
	info[33] = info[34] = info[35] = 0xff;
	umad_set_addr(agent->umad, (int)agent->sm_lid, 1, (int)agent->sm_sl, QKEY_GSI);
	return umad_send(agent->port, agent->id, agent->umad, MAD_BYTES, TIMEOUT_MS, 3) == 0;
}

static bool receive(struct agent *agent)
{
	int length = MAD_BYTES;

	return umad_recv(agent->port, agent->umad, &length, RNR_HOLD_MS) == agent->id;
}

static void tell(const uint8_t *notice)
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, notice + NOTICE_GID, gid, sizeof(gid));
	printf("report %u %s\n", (unsigned)notice[4] << 8 | notice[5], gid);
	fflush(stdout);
}

static bool acknowledge(struct agent *agent)
{
	agent->mad[3] = METHOD_REPORT_RESPONSE;
	umad_set_addr(agent->umad, (int)agent->sm_lid, 1, (int)agent->sm_sl, QKEY_GSI);
	return umad_send(agent->port, agent->id, agent->umad, MAD_BYTES, 0, 0) == 0;
}

/* Until this many reports came, or the answer to a request if no reports are expected. */
static bool take_reports(struct agent *agent, unsigned count, bool is_silent)
{
	while (count) {
		if (!receive(agent))
			return false;
		if (agent->mad[3] != METHOD_REPORT)
			continue;
		tell(agent->mad + SA_DATA);
		if (!is_silent && !acknowledge(agent))
			return false;
		count--;
	}
	return true;
}

static bool await_answer(struct agent *agent)
{
	while (receive(agent)) {
		if (agent->mad[3] == METHOD_GET_RESPONSE)
			return umad_status(agent->umad) == 0 && agent->mad[4] == 0 &&
			       agent->mad[5] == 0;
		if (agent->mad[3] == METHOD_REPORT && !acknowledge(agent))
			return false;
	}
	return false;
}

int main(int argument_count, char **arguments)
{
	unsigned trap = argument_count > 2 ? (unsigned)strtoul(arguments[1], NULL, 10) : 0;
	unsigned count = argument_count > 2 ? (unsigned)strtoul(arguments[2], NULL, 10) : 0;
	struct agent agent;

	if (argument_count < 3 || !open_agent(&agent) || !send_inform(&agent, trap, true) ||
	    !await_answer(&agent)) {
		printf("not subscribed\n");
		return 1;
	}
	printf("subscribed\n");
	fflush(stdout);
	if (!take_reports(&agent, count, argument_count > 3))
		return 2;
	if (!send_inform(&agent, trap, false) || !await_answer(&agent))
		return 3;
	printf("unsubscribed\n");
	return 0;
}
