/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: texts that programs read besides topologies, scenarios and policies. A manager's
 * saved LIDs and neighbors, gateway options, IP networks, M_Key options and SRP targets: each is
 * taken or refused, and what is written again is taken again. */
#include "fuzz/fuzz.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "base/attributes.h"
#include "fuzz/text_pieces.h"
#include "io/srp/target_text.h"
#include "launch/gateway_option.h"
#include "launch/mkey_settings.h"
#include "mgmt/subnet/neighbors.h"
#include "mgmt/subnet/subnet.h"
#include "wire/ip_network.h"

enum { TEXT_BYTES_MAX = 2048 };

static const char *const lid_pieces[] = {
	"0x00025f1b01000101",
	" 0x0001 0x0001\n",
	" 0x0002 0x0003\n",
	"0x025f1b0200010000",
	" 0xbfff 0xbfff\n",
	" 0xc000 0xc000\n",
	"0x",
	" ",
	"\n",
	"0",
	"0xffffffffffffffff",
	"1",
	"# x\n",
	"-1",
	":",
};

static const char *const neighbor_pieces[] = {
	"0x00025f1b01000101:1",
	" ",
	"0x00025f1b02000100:2",
	"\n",
	"0x",
	":",
	"1",
	"255",
	"256",
	"0xffffffffffffffff:0",
	"-",
	"0",
};

static const char *const gateway_pieces[] = {
	"router-1", "=",	"udp:", "tap:",	 "127.0.0.1", ":4790", ",",
	"tap0",	    "10.0.0.1", ":",	"65536", "0",	      "[::1]",
};

static const char *const network_pieces[] = {
	"10.0.0.0", "/8",  "127.100.0.1", "fd5f:1b00::", "/64", "1",   "::",
	"/",	    "129", "33",	  ".",		 ":",	"255",
};

static const char *const target_pieces[] = {
	"id_ext=0002c90300000001",
	",",
	"ioc_guid=0002c90300000001",
	"dgid=fe800000000000000002c90300000001",
	"pkey=ffff",
	"service_id=0002c90300000001",
	"initiator_ext=1",
	"max_sect=",
	"1",
	"=",
	"id_ext=",
	"dgid=",
	"g",
};

static void read_lids(const char *text, size_t byte_count)
{
	struct subnet subnet, again;
	char *written;

	subnet_init(&subnet);
	subnet_init(&again);
	(void)subnet_lids_remember(&subnet, text, byte_count);
	written = subnet_lids_text(&subnet);
	MUST_HOLD(written);
	MUST_HOLD(subnet_lids_remember(&again, written, strlen(written)) == 0);
	free(written);
	subnet_release(&again);
	subnet_release(&subnet);
}

static void read_neighbors(const char *text)
{
	struct neighbors neighbors, again;
	char *written;

	neighbors_init(&neighbors);
	neighbors_init(&again);
	(void)neighbors_read(&neighbors, text);
	written = neighbors_text(&neighbors);
	MUST_HOLD(written);
	MUST_HOLD(neighbors_read(&again, written) == 0);
	free(written);
	neighbors_release(&again);
	neighbors_release(&neighbors);
}

static void read_gateway(const char *text)
{
	struct gateway_option option;

	if (!gateway_option_read(text, &option))
		return;
	MUST_HOLD(option.router[0] && memchr(option.router, '\0', sizeof(option.router)));
	MUST_HOLD(memchr(option.interface, '\0', sizeof(option.interface)));
	/* Nothing leaves the machine. */
	MUST_HOLD(option.interface[0] || (ntohl(option.own.sin_addr.s_addr) >> 24 == 127 &&
					  ntohl(option.peer.sin_addr.s_addr) >> 24 == 127));
}

static void read_network(const char *text)
{
	struct ip_network network;

	if (!ip_network_parse(text, &network))
		return;
	MUST_HOLD(network.ip_version == 4 || network.ip_version == 6);
	MUST_HOLD(network.prefix_bits <= (network.ip_version == 4 ? IPV4_BITS : IPV6_BITS));
	MUST_HOLD(ip_network_contains(&network, network.ip_version, &network.address));
}

static void read_mkey_options(const char *text)
{
	struct mkey_settings settings = {0};

	for (enum mkey_setting setting = MKEY_KEY; setting <= MKEY_LEASE_PERIOD; setting++)
		if (!mkey_settings_refusal(setting, text) && setting != MKEY_SECRET)
			mkey_settings_take(&settings, setting, text);
	MUST_HOLD(mkey_settings_complete(&settings) == 0);
	MUST_HOLD(settings.protection_level <= 3);
}

static void read_target(const char *text)
{
	const char *problem = NULL;
	struct srp_target_text target;

	if (!srp_target_text_read(text, &target, &problem))
		MUST_HOLD(problem);
}

#define FROM_PIECES(pieces)                                                                        \
	text_from_pieces(bytes, byte_count, pieces, ARRAY_COUNT(pieces), text, sizeof(text))

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static char text[TEXT_BYTES_MAX];
	const size_t length = byte_count < sizeof(text) - 1 ? byte_count : sizeof(text) - 1;

	if (length)
		memcpy(text, bytes, length);
	text[length] = '\0';
	read_lids(text, length);
	read_neighbors(text);
	read_gateway(text);
	read_network(text);
	read_mkey_options(text);
	read_target(text);
	read_lids(text, FROM_PIECES(lid_pieces));
	FROM_PIECES(neighbor_pieces);
	read_neighbors(text);
	FROM_PIECES(gateway_pieces);
	read_gateway(text);
	FROM_PIECES(network_pieces);
	read_network(text);
	FROM_PIECES(target_pieces);
	read_target(text);
	return 0;
}
