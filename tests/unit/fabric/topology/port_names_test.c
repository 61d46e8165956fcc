/* SPDX-License-Identifier: Apache-2.0 */
/* Names of ports: hosts, switches by number, GUIDs, "*", and names that do not exist. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "fabric/fabric.h"
#include "fabric/topology/port_names.h"
#include "fabric/topology/topology.h"

static bool deliver(void *context, struct port *port, struct frame *frame)
{
	struct fabric *fabric = context;

	(void)port;
	frame_give_back(&fabric->frames, frame);
	return true;
}

static int make(void **state)
{
	static struct fabric fabric;
	const struct fabric_owner owner = {.deliver = deliver, .context = &fabric};
	struct topology_error error;

	assert_int_equal(fabric_init(&fabric, &owner), 0);
	assert_int_equal(topology_generate(&fabric, "ring:3", &error), 0);
	*state = &fabric;
	return 0;
}

static int drop(void **state)
{
	fabric_release(*state);
	return 0;
}

static void test_names_mean_ports(void **state)
{
	static const struct {
		const char *text;
		uint32_t port_count;
		const char *first;
	} good[] = {
		{"h2", 1, "h2:1"},
		{"h2:1", 1, "h2:1"},
		{"s1", 3, "S-025f1b0200010000:1"},
		{"s3:3", 1, "S-025f1b0200030000:3"},
		{"switch-2:1", 1, "S-025f1b0200020000:1"},
		{"0x025f1b0200010000:2", 1, "S-025f1b0200010000:2"},
		{"*", 12, NULL},
	};

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct port_list list = {0};
		char reason[160], name[PORT_NAME_BYTES];

		assert_int_equal(
			port_names_add(*state, good[i].text, &list, reason, sizeof(reason)), 0);
		assert_int_equal(list.port_count, good[i].port_count);
		port_name_text(list.ports[0], name);
		if (good[i].first)
			assert_string_equal(name, good[i].first);
		port_list_release(&list);
	}
}

static void test_names_of_nobody_are_refused_with_a_reason(void **state)
{
	static const struct {
		const char *text, *reason;
		int error;
	} bad[] = {
		{"h9", "no host, switch or GUID h9", -ENOENT},
		{"s4", "no host, switch or GUID s4", -ENOENT},
		{"h1:0", "h1:0: a port has a number from 1 to 254", -EINVAL},
		{"h1:2", "h1:2 has no cable, or was named before", -ENOENT},
		{"", "no host, switch or GUID ", -ENOENT},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct port_list list = {0};
		char reason[160];

		assert_int_equal(port_names_add(*state, bad[i].text, &list, reason, sizeof(reason)),
				 bad[i].error);
		assert_string_equal(reason, bad[i].reason);
		port_list_release(&list);
	}
}

static void test_a_port_is_in_a_list_once(void **state)
{
	struct port_list list = {0};
	char reason[160];

	assert_int_equal(port_names_add(*state, "h1", &list, reason, sizeof(reason)), 0);
	assert_int_equal(port_names_add(*state, "h1:1", &list, reason, sizeof(reason)), -ENOENT);
	assert_int_equal(list.port_count, 1);
	port_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_mean_ports),
		cmocka_unit_test(test_names_of_nobody_are_refused_with_a_reason),
		cmocka_unit_test(test_a_port_is_in_a_list_once),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
