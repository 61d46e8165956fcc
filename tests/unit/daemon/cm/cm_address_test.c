/* SPDX-License-Identifier: Apache-2.0 */
/* Which port an address maps to: one of the own host, one of another host, or none. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "daemon/cm/cm_address.h"
#include "daemon/cm/cm_port.h"
#include "unit/daemon/daemon_fixture.h"

static struct daemon *softibd;
static struct cm_host *host;

/* h1 has two ports: one with addresses from the topology, one with default addresses. */
static const char topology[] = "Switch 4 \"S-1\"\n"
			       "Ca 2 \"H-1\" # \"h1\"\n"
			       "[1] \"S-1\"[1] ip=10.77.0.1/16 ip=fd77::1\n"
			       "[2] \"S-1\"[2]\n"
			       "Ca 1 \"H-2\" # \"h2\"\n"
			       "[1] \"S-1\"[3] ip=172.16.5.5 ip=fd88::2\n";

static int set_up(void **state)
{
	char path[128];
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%s/topology", fixture_directory());
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fputs(topology, file) >= 0, 1);
	assert_int_equal(fclose(file), 0);
	softibd = fixture_start(path);
	unlink(path);
	assert_int_equal(cm_fabric_bring_up(&softibd->cm), 0);
	host = softibd->core.hosts.hosts[0]->cm;
	return 0;
}

static struct cm_address address_of(const char *text)
{
	bool is_ipv6 = strchr(text, ':') != NULL;
	struct cm_address address = {.family = is_ipv6 ? CM_ADDRESS_IPV6 : CM_ADDRESS_IPV4};

	assert_int_equal(
		inet_pton(is_ipv6 ? AF_INET6 : AF_INET, text, address.bytes + (is_ipv6 ? 0 : 12)),
		1);
	return address;
}

static void test_addresses_have_their_places(void **state)
{
	static const struct {
		const char *text;
		enum cm_scope place;
		unsigned port; /* index among h1's ports, for CM_SCOPE_LOCAL */
	} rows[] = {
		{"10.77.0.1", CM_SCOPE_LOCAL, 0},
		{"fd77::1", CM_SCOPE_LOCAL, 0},
		{"::ffff:10.77.0.1", CM_SCOPE_LOCAL, 0},
		{"127.100.0.2", CM_SCOPE_LOCAL, 1},
		{"fd5f:1b00::2", CM_SCOPE_LOCAL, 1},
		{"10.77.200.200", CM_SCOPE_REMOTE, 0}, /* in the network, if it exists */
		{"127.100.9.9", CM_SCOPE_REMOTE, 0},
		{"172.16.5.5", CM_SCOPE_REMOTE, 0}, /* in another network, but given to a port */
		{"fd88::2", CM_SCOPE_REMOTE, 0},
		{"172.16.5.6", CM_SCOPE_UNREACHABLE, 0},
		{"fd88::3", CM_SCOPE_UNREACHABLE, 0},
		{"192.0.2.1", CM_SCOPE_UNREACHABLE, 0},
		/* By default these would be the addresses of h1's first port and h2's, which have
		   others. */
		{"fd5f:1b00::1", CM_SCOPE_REMOTE, 0},
		{"127.0.0.1", CM_SCOPE_LOCAL, 0},
		{"::1", CM_SCOPE_LOCAL, 0},
		{"0.0.0.0", CM_SCOPE_ANY, 0},
		{"::", CM_SCOPE_ANY, 0},
		{"239.1.2.3", CM_SCOPE_MULTICAST, 0},
		{"ff12::1", CM_SCOPE_MULTICAST, 0},
	};

	(void)state;
	for (unsigned index = 0; index < ARRAY_COUNT(rows); index++) {
		struct cm_address address = address_of(rows[index].text);
		struct cm_port *port = NULL;

		if (cm_address_scope(host, &address, &port) != rows[index].place)
			fail_msg("%s", rows[index].text);
		if (rows[index].place == CM_SCOPE_LOCAL)
			assert_ptr_equal(port, &host->ports[rows[index].port]);
		else
			assert_null(port);
	}
}

static void test_gids_are_addresses_too(void **state)
{
	struct gid own = cm_port_gid(&host->ports[1]);
	struct cm_address address = {.family = CM_ADDRESS_IB};
	struct cm_port *port = NULL;

	(void)state;
	memcpy(address.bytes, own.bytes, sizeof(own.bytes));
	assert_int_equal(cm_address_scope(host, &address, &port), CM_SCOPE_LOCAL);
	assert_ptr_equal(port, &host->ports[1]);
	address.bytes[15] ^= 0x55;
	assert_int_equal(cm_address_scope(host, &address, &port), CM_SCOPE_REMOTE);
	address.family = CM_ADDRESS_NONE;
	assert_int_equal(cm_address_scope(host, &address, &port), CM_SCOPE_UNREACHABLE);
}

static void test_ports_say_their_addresses(void **state)
{
	const struct endpoint *other = &softibd->core.hosts.adapters[1]->endpoints[1];
	struct cm_address found, wanted = address_of("172.16.5.5");
	struct ip_address ip;

	(void)state;
	cm_address_of(other, CM_ADDRESS_IPV4, &found);
	assert_true(cm_address_equal(&found, &wanted));
	ip = cm_address_ip(&wanted);
	assert_true(cm_address_is_of(other, 4, &ip));
	assert_false(cm_address_is_of(host->ports[0].endpoint, 4, &ip));
	cm_address_of(other, CM_ADDRESS_IPV6, &found);
	wanted = address_of("fd88::2");
	assert_true(cm_address_equal(&found, &wanted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_have_their_places),
		cmocka_unit_test(test_gids_are_addresses_too),
		cmocka_unit_test(test_ports_say_their_addresses),
	};

	return cmocka_run_group_tests(tests, set_up, fixture_tear_down);
}
