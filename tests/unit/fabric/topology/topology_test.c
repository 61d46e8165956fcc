/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topology texts: the output of ibnetdiscover is understood, and errors name their line (management
 * 9.1).
 * Covers: fabric/topology/topology_reader.c, fabric/topology/topology_line.c,
 * fabric/topology/topology_ports.c, fabric/topology/topology_addresses.c
 */
#include "unit/fabric/rig.h"

#include <errno.h>

static int parse(struct rig *rig, const char *text, struct topology_error *ret_error)
{
	rig_init(rig);
	return topology_parse(&rig->fabric, text, strlen(text), ret_error);
}

/* clang-format off */
static const char example[] =
	"#\n"
	"# Topology file: generated on a real fabric\n"
	"\n"
	"vendid=0x2c9\n"
	"devid=0xb924\n"
	"sysimgguid=0xb8599f0300000001\n"
	"switchguid=0xb8599f0300000001(b8599f0300000001)\n"
	"Switch\t36 \"S-b8599f0300000001\"\t\t# \"leaf-1\" base port 0 lid 4 lmc 0\n"
	"[1]\t\"H-0002c90300000002\"[1](2c90300000003) \t\t# \"host-1 HCA-1\" lid 7 4xEDR\n"
	"[36]\t\"S-b8599f0300000004\"[2]\t\t# \"spine\" lid 5 4xQDR\n"
	"\n"
	"switchguid=0xb8599f0300000004(b8599f0300000004)\n"
	"Switch\t2 \"S-b8599f0300000004\"\t\t# \"spine\" base port 0 lid 5 lmc 0\n"
	"[2]\t\"S-b8599f0300000001\"[36]\t\t# \"leaf-1\" lid 4 4xQDR\n"
	"\n"
	"vendid=0x2c9\n"
	"caguid=0x0002c90300000002\n"
	"Ca\t2 \"H-0002c90300000002\"\t\t# \"host-1 HCA-1\"\n"
	"[1](2c90300000003) \t\"S-b8599f0300000001\"[1]\t\t# lid 7 lmc 0 \"leaf-1\" lid 4 4xEDR\n";
/* clang-format on */

static void test_ibnetdiscover_output_is_understood(void **state)
{
	struct rig rig;
	struct topology_error error = {0};
	struct node *leaf, *spine, *host;

	(void)state;
	if (parse(&rig, example, &error))
		fail_msg("line %u: %s", error.line, error.reason);
	assert_int_equal(rig.fabric.node_count, 3);
	leaf = fabric_find_guid(&rig.fabric, 0xb8599f0300000001);
	spine = fabric_find_name(&rig.fabric, "S-b8599f0300000004");
	host = fabric_find_adapter(&rig.fabric, "host-1", 0);
	assert_non_null(leaf);
	assert_non_null(spine);
	assert_non_null(host);
	assert_int_equal(leaf->port_count, 36);
	assert_string_equal(leaf->description, "leaf-1");
	assert_int_equal(leaf->info.system_image_guid, 0xb8599f0300000001);
	assert_ptr_equal(leaf->ports[1].peer, &host->ports[1]);
	assert_ptr_equal(leaf->ports[36].peer, &spine->ports[2]);
	assert_int_equal(host->ports[1].guid, 0x2c90300000003);
	assert_int_equal(host->ports[2].guid, 0x2c90300000002 + 2);
	assert_int_equal(host->info.vendor_id, NODE_VENDOR_ID); /* never another vendor's */
	assert_int_equal(host->ports[1].info.link_speed_ext_active, 2);
	assert_int_equal(spine->ports[2].info.link_speed_ext_active, 0);
	assert_int_equal(spine->ports[2].info.link_speed_active, 4);
	rig_release(&rig);
}

static void test_one_end_of_a_cable_is_enough(void **state)
{
	struct rig rig;
	struct topology_error error = {0};

	(void)state;
	assert_int_equal(parse(&rig,
			       "Switch 4 \"leaf\"\n[3] \"a\"[2]\n[4] \"b\"\nHca 2 \"a\"\nHca 1 "
			       "\"b\" # \"b x\"",
			       &error),
			 0);
	struct node *leaf = fabric_find_name(&rig.fabric, "leaf");
	assert_ptr_equal(leaf->ports[3].peer, &fabric_find_name(&rig.fabric, "a")->ports[2]);
	assert_ptr_equal(leaf->ports[4].peer, &fabric_find_name(&rig.fabric, "b")->ports[1]);
	assert_int_not_equal(leaf->info.node_guid, 0);
	rig_release(&rig);
}

static void test_hosts_group_adapters_by_the_first_word(void **state)
{
	struct rig rig;
	struct topology_error error = {0};

	(void)state;
	assert_int_equal(parse(&rig,
			       "Ca 1 \"a\" # \"n1 HCA-1\"\nCa 1 \"b\" # \"n1 HCA-2\"\nCa 1 \"c\" # "
			       "\"../../etc x\"\n"
			       "Ca 1 \"d\" # \"b\xc3\xa4r/7\"\n",
			       &error),
			 0);
	assert_ptr_equal(fabric_find_adapter(&rig.fabric, "n1", 0),
			 fabric_find_name(&rig.fabric, "a"));
	assert_ptr_equal(fabric_find_adapter(&rig.fabric, "n1", 1),
			 fabric_find_name(&rig.fabric, "b"));
	assert_ptr_equal(fabric_find_adapter(&rig.fabric, "h3", 0),
			 fabric_find_name(&rig.fabric, "c"));
	assert_ptr_equal(fabric_find_adapter(&rig.fabric, "b--r-7", 0),
			 fabric_find_name(&rig.fabric, "d"));
	rig_release(&rig);
}

static void test_options_aliases_and_counted_guids(void **state)
{
	struct rig rig;
	struct topology_error error = {0};

	(void)state;
	if (parse(&rig,
		  "switchguid=0x10\nSwitch 2 \"x\"\n@[2] \"up\"\nSwitch 2 \"y\"\n[1] \"x@up\" w=1 "
		  "s=3 e=0\n",
		  &error))
		fail_msg("line %u: %s", error.line, error.reason);
	struct node *x = fabric_find_name(&rig.fabric, "x"),
		    *y = fabric_find_name(&rig.fabric, "y");
	assert_int_equal(x->info.node_guid, 0x10);
	assert_int_equal(y->info.node_guid, 0x11);
	assert_ptr_equal(y->ports[1].peer, &x->ports[2]);
	assert_int_equal(x->ports[2].info.link_width_active, 1);
	assert_int_equal(x->ports[2].info.link_speed_active, 2);
	rig_release(&rig);
}

/* vls= after a port applies to that end; on a line of its own, to all ports that follow. The link
 * has the lesser of both ends. */
static void test_ports_have_the_data_vls_they_are_given(void **state)
{
	static const char text[] = "vls=4\nSwitch 3 \"s\"\n[1] \"a\" vls=15 # 4xEDR\n[2] \"b\"\n"
				   "Ca 1 \"a\"\n[1] \"s\"[1] vls=1\nCa 1 \"b\"\n[1] \"s\"[2]\n";
	struct rig rig;
	struct topology_error error = {0};

	(void)state;
	if (parse(&rig, text, &error))
		fail_msg("line %u: %s", error.line, error.reason);

	const struct node *s = fabric_find_name(&rig.fabric, "s");

	assert_int_equal(s->ports[1].info.vl_cap, 5);
	assert_int_equal(s->ports[1].peer->info.vl_cap, 1);
	assert_int_equal(s->ports[1].info.operational_vls, 1);
	assert_int_equal(s->ports[2].info.operational_vls, 3);
	assert_int_equal(s->ports[3].info.vl_cap, 4); /* no line */
	rig_release(&rig);
}

static void test_ports_of_adapters_have_the_addresses_they_are_given(void **state)
{
	struct rig rig;
	struct topology_error error = {0};
	struct ip_network wanted;

	(void)state;
	/* Two ports may exchange their addresses; default addresses apply only to ports without
	 * one. */
	assert_int_equal(parse(&rig,
			       "Switch 3 \"s\"\n"
			       "Ca 1 \"a\"\n[1] \"s\"[1] ip=127.100.0.2 w=1 # 4xEDR\n"
			       "Ca 1 \"b\"\n[1] \"s\"[2] ip=127.100.0.1 ip=fd00::b/48\n"
			       "Ca 1 \"c\"\n[1] \"s\"[3]\n",
			       &error),
			 0);

	const struct node *a = rig.fabric.by_index[1], *b = rig.fabric.by_index[2];

	assert_true(ip_network_parse("127.100.0.2/24", &wanted));
	assert_memory_equal(&a->networks[1].ipv4, &wanted, sizeof(wanted));
	assert_int_equal(a->networks[1].ipv6.ip_version, 0);
	assert_true(ip_network_parse("fd00::b/48", &wanted));
	assert_memory_equal(&b->networks[1].ipv6, &wanted, sizeof(wanted));
	assert_null(rig.fabric.by_index[3]->networks);
	rig_release(&rig);
}

/* Ends that state different widths or speeds: the link runs at what both support. */
static void test_cables_run_at_what_both_ends_can(void **state)
{
	static const char text[] = "Switch 4 \"s\"\n"
				   "[1] \"a\"[1] # 4xXDR\n"
				   "[2] \"b\"[1] # 12xXDR\n"
				   "[3] \"c\"[1] w=3 s=7 e=31\n"
				   "\n"
				   "Ca 1 \"a\"\n[1] \"s\"[1] # 4xEDR\n\n"
				   "Ca 1 \"b\"\n[1] \"s\"[2] # 12xXDR\n\n"
				   "Ca 1 \"c\"\n[1] \"s\"[3] # 1xSDR\n\n"
				   "Ca 1 \"d\"\n";
	struct topology_error error;
	struct rig rig;
	const struct port *ports;

	(void)state;
	assert_int_equal(parse(&rig, text, &error), 0);
	ports = fabric_find_name(&rig.fabric, "s")->ports;
	assert_int_equal(ports[1].info.link_speed_ext2_active, 0);
	assert_int_equal(ports[1].info.link_speed_ext_active, 2);
	assert_int_equal(ports[1].info.link_width_active, 2);
	assert_int_equal(ports[2].info.link_speed_ext2_active, 1);
	assert_int_equal(ports[2].info.link_speed_ext_active, 0);
	assert_int_equal(ports[2].info.link_width_active, 8);
	assert_int_equal(ports[3].info.link_speed_ext2_supported, 1);
	assert_int_equal(ports[3].info.link_speed_active, 1);
	assert_int_equal(ports[3].info.link_width_active, 1);
	assert_int_equal(ports[4].info.port_state, PORT_DOWN);
	rig_release(&rig);
}

static void test_routers_and_enhanced_ports_are_understood(void **state)
{
	static const char text[] =
		"Switch\t4 \"S-0000000000000001\"\t# \"plain\" base port 0 lid 4 lmc 0\n"
		"[1]\t\"R-0000000000000003\"[2]\t# \"middle\" lid 9 4xEDR\n\n"
		"Switch\t4 \"S-0000000000000002\"\t# \"better\" enhanced port 0 lid 5 lmc 0\n\n"
		"rtguid=0x0000000000000003\n"
		"Rt\t2 \"R-0000000000000003\"\t# \"middle\"\n"
		"[2](5)\t\"S-0000000000000001\"[1]\t# lid 9 lmc 0 \"plain\" lid 4 4xEDR\n";
	struct topology_error error;
	struct rig rig;
	struct node *router;

	(void)state;
	rig_init(&rig);
	assert_int_equal(topology_parse(&rig.fabric, text, strlen(text), &error), 0);
	assert_int_equal(rig.fabric.by_index[0]->switch_info.enhanced_port_0, 0);
	assert_int_equal(rig.fabric.by_index[1]->switch_info.enhanced_port_0, 1);
	router = fabric_find_guid(&rig.fabric, 3);
	assert_non_null(router);
	assert_true(node_is_router(router));
	assert_non_null(router->router);
	assert_ptr_equal(router->ports[2].peer, &rig.fabric.by_index[0]->ports[1]);
	assert_int_equal(router->ports[2].guid, 5);
	assert_string_equal(router->host, "");
	rig_release(&rig);
}

static void test_target_adapters_are_understood(void **state)
{
	static const char text[] = "Switch 2 \"S-1\"\n[1] \"H-1\"[1]\n[2] \"T-1\"[1]\n\n"
				   "Ca 1 \"H-1\" # \"h1 softib0\"\n[1] \"S-1\"[1]\n\n"
				   "Tca\t1 \"T-1\"\t# \"disks softib0\"\n[1] \"S-1\"[2]\n";
	struct topology_error error;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	assert_int_equal(topology_parse(&rig.fabric, text, strlen(text), &error), 0);
	assert_false(rig.fabric.by_index[1]->is_target);
	assert_true(rig.fabric.by_index[2]->is_target);
	assert_true(node_is_adapter(rig.fabric.by_index[2]));
	assert_string_equal(rig.fabric.by_index[2]->host, "disks");
	rig_release(&rig);
}

static void test_errors_carry_line_and_reason(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
		const char *reason;
		/* clang-format off */
	} rows[] = {
		{"", 0, "there is no node"},
		{"hello\nworld\n", 0, "there is no node"},
		{"vls=3\nSwitch 4 \"a\"\n", 1, "1, 2, 4, 8 or 15"},
		{"Switch 4 \"a\"\n[1] \"b\" vls=16\nCa 1 \"b\"\n", 2, "1, 2, 4, 8 or 15"},
		{"Switch 4 \"a\"\n[1] \"b\" vls=1x\nCa 1 \"b\"\n", 2, "1, 2, 4, 8 or 15"},
		{"Switch 4 \"a\"\n[1] \"b\" vls=\nCa 1 \"b\"\n", 2, "1, 2, 4, 8 or 15"},
		{"Switch 4 \"a\"\n[1] \"b\"[1]\n", 2, "there is no node \"b\""},
		{"Switch 4 \"a\"\n[5] \"b\"[1]\n", 2, "port 5: \"a\" has ports 1 to 4"},
		{"Switch 4 \"a\"\n[0] \"b\"[1]\n", 2, "port 0"},
		{"Switch 4 \"a\"\n[1] \"b\"[2]\nCa 1 \"b\"\n", 2, "\"b\" has ports 1 to 1"},
		{"Switch 4 \"a\"\n[1] \"b\"\n[1] \"b\"\nCa 1 \"b\"\n", 3, "was used in line 2 already"},
		{"Switch 4 \"a\"\n[1] \"b\"\n[2] \"b\"\nCa 1 \"b\"\n", 3, "port 1 of \"b\" goes to \"a\"[1] by line 2"},
		{"Switch 4 \"a\"\n[1] \"b\"\nCa 1 \"b\"\n[1] \"a\"[2]\n", 2, "port 1 of \"b\" goes to \"a\"[2] by line 4"},
		{"Switch 4 \"a\"\n[1] \"a\"[1]\n", 2, "cabled to itself"},
		{"Switch 4 \"a\"\nSwitch 4 \"a\"\n", 2, "\"a\" was declared in line 1 already"},
		{"switchguid=7\nSwitch 4 \"a\"\ncaguid=7\nCa 1 \"b\"\n", 4, "GUID 0x0000000000000007 was used in line 2"},
		{"switchguid=0\nSwitch 4 \"a\"\n", 1, "bad GUID \"0\""},
		{"switchguid=zebra\n", 1, "bad GUID \"zebra\""},
		{"caguid=0x11112222333344445\n", 1, "bad GUID"},
		{"Switch 0 \"a\"\n", 1, "a node has 1 to 254 ports"},
		{"Switch 255 \"a\"\n", 1, "a node has 1 to 254 ports"},
		{"Switch x \"a\"\n", 1, "a node has 1 to 254 ports"},
		{"Switch 4 a\n", 1, "a name in double quotes is missing"},
		{"Switch 4 \"a\n", 1, "a name in double quotes is missing"},
		{"Switch 4 \"\"\n", 1, "a name has 1 to 63 characters"},
		{"Switch 4 \"a@b\"\n", 1, "no # and @"},
		{"[1] \"a\"\n", 1, "a port line outside a node"},
		{"Switch 4 \"a\"\n\n[1] \"a\"[2]\n", 3, "a port line outside a node"},
		{"Switch 4 \"a\"\n[1 \"a\"\n", 2, "the port is not a number in brackets"},
		{"Switch 4 \"a\"\n[1] \"a\"[x]\n", 2, "the remote port is not a number"},
		{"Switch 4 \"a\"\n[1](12 \"a\"[2]\n", 2, "\"(\" without \")\""},
		{"Switch 4 \"a\"\n[1] \"a\"[2] q=1\n", 2, "unknown option \"q=1\""},
		{"Switch 4 \"a\"\n[1] \"a\"[2] w=32\n", 2, "option \"w=32\" is out of range"},
		{"Switch 4 \"a\"\n[1] \"a@x\"\n", 2, "\"a\" has no port with the alias \"x\""},
		{"Switch 4 \"a\"\n@[9] \"x\"\n", 2, "an alias for a port that does not exist"},
		{"include \"other\"\n", 1, "not supported"},
		{"Ca 1 \"a\"\n[1] \"b\"[1] ip=10.0.0\nSwitch 2 \"b\"\n", 2, "\"10.0.0\" is no IP address"},
		{"Ca 1 \"a\"\n[1] \"b\"[1] ip=127.0.0.1\nSwitch 2 \"b\"\n", 2, "127.0.0.1 is not an address for a port"},
		{"Ca 1 \"a\"\n[1] \"b\"[1] ip=ff02::1\nSwitch 2 \"b\"\n", 2, "is not an address for a port"},
		{"Switch 2 \"a\"\n[1] \"b\"[1] ip=10.0.0.1\nCa 1 \"b\"\n", 2, "only ports of adapters have IP addresses"},
		{"Ca 1 \"a\"\n[1] \"b\"[1] ip=10.0.0.1 ip=10.0.0.2\nSwitch 2 \"b\"\n", 2, "the port has an IPv4 address"},
		{"Ca 1 \"a\"\n[1] \"s\"[1] ip=10.0.0.1\nCa 1 \"b\"\n[1] \"s\"[2] ip=10.0.0.1/16\nSwitch 2 \"s\"\n", 4, "this IP address was given in line 2 already"},
		{"Ca 1 \"a\"\n[1] \"s\"[1] ip=fd5f:1b00::2\nCa 1 \"b\"\n[1] \"s\"[2]\nSwitch 2 \"s\"\n", 2, "port 1 of \"b\", which was given none, has this IP address"},
	};
	/* clang-format on */

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++) {
		struct rig rig;
		struct topology_error error = {.line = 999};

		assert_int_equal(parse(&rig, rows[i].text, &error), -EINVAL);
		if (error.line != rows[i].line || !strstr(error.reason, rows[i].reason))
			fail_msg("row %u: line %u: %s", i, error.line, error.reason);
		assert_int_equal(rig.fabric.node_count, 0); /* all or nothing */
		rig_release(&rig);
	}
}

static void test_binary_files_and_endless_lines_are_no_text(void **state)
{
	static char endless[5000];
	struct rig rig;
	struct topology_error error;

	(void)state;
	memset(endless, 'x', sizeof(endless));
	rig_init(&rig);
	assert_int_equal(topology_parse(&rig.fabric, endless, sizeof(endless), &error), -EINVAL);
	assert_int_equal(error.line, 1);
	assert_int_equal(topology_parse(&rig.fabric, "a\nb\0c\n", 6, &error), -EINVAL);
	assert_int_equal(error.line, 2);
	rig_release(&rig);
}

/* Every prefix of a good text is understood or refused, without a crash. */
static void test_truncated_texts_are_survived(void **state)
{
	(void)state;
	for (size_t length = 0; length < sizeof(example); length++) {
		struct rig rig;
		struct topology_error error;

		rig_init(&rig);
		(void)!topology_parse(&rig.fabric, example, length, &error);
		rig_release(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ibnetdiscover_output_is_understood),
		cmocka_unit_test(test_one_end_of_a_cable_is_enough),
		cmocka_unit_test(test_hosts_group_adapters_by_the_first_word),
		cmocka_unit_test(test_options_aliases_and_counted_guids),
		cmocka_unit_test(test_ports_have_the_data_vls_they_are_given),
		cmocka_unit_test(test_ports_of_adapters_have_the_addresses_they_are_given),
		cmocka_unit_test(test_cables_run_at_what_both_ends_can),
		cmocka_unit_test(test_routers_and_enhanced_ports_are_understood),
		cmocka_unit_test(test_target_adapters_are_understood),
		cmocka_unit_test(test_errors_carry_line_and_reason),
		cmocka_unit_test(test_binary_files_and_endless_lines_are_no_text),
		cmocka_unit_test(test_truncated_texts_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
