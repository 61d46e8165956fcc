/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: topology texts, as they come and from pieces of lines. The text is built or refused
 * with a reason; a built topology has cables with two ends.
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "base/attributes.h"
#include "fabric/fabric.h"
#include "fabric/topology/topology.h"
#include "fuzz/text_pieces.h"

enum { TEXT_BYTES_MAX = 4096 };

static const char *const pieces[] = {
	"Switch\t",
	"Ca\t",
	"Rt\t",
	"Hca ",
	"4 ",
	"1 ",
	"254 ",
	"0 ",
	"\"S-0000000000000001\"",
	"\"H-0000000000000002\"",
	"\"R-0000000000000003\"",
	"\"a\"",
	"\"b\"",
	"\"a@up\"",
	"\n",
	"\n\n",
	"[1]",
	"[2]",
	"[255]",
	"[0]",
	"(2c90300000003)",
	"(x)",
	" w=2",
	" s=7",
	" e=1",
	" e=99",
	"\t# \"host-1 HCA-1\" lid 7 4xEDR",
	" # \"leaf\" enhanced port 0 lid 4 lmc 0",
	"@[1] \"up\"",
	"switchguid=0x1\n",
	"caguid=0x2(2)\n",
	"rtguid=0x3\n",
	"sysimgguid=0x9\n",
	"width=2\n",
	"speed=4\n",
	"extspeed=2\n",
	"module=\"m\"\n",
	"include \"x\"\n",
	"vendid=0x2c9\n",
	"\"",
	"#",
	" ",
};

static bool deliver(void *context, struct port *port, struct frame *frame)
{
	(void)context;
	(void)port;
	(void)frame;
	return true;
}

static void read_text(const char *text, size_t byte_count)
{
	const struct fabric_owner owner = {.deliver = deliver};
	struct topology_error error = {0};
	struct fabric fabric;

	if (fabric_init(&fabric, &owner) != 0)
		abort();
	if (topology_parse(&fabric, text, byte_count, &error) != 0) {
		MUST_HOLD(error.reason[0] != '\0');
	} else {
		for (uint32_t index = 0; index < fabric.node_count; index++) {
			const struct node *node = fabric.by_index[index];

			MUST_HOLD(node->info.node_guid != 0);
			for (unsigned number = 1; number <= node->port_count; number++) {
				const struct port *port = &node->ports[number];

				MUST_HOLD(!port->peer ||
					  (port->peer->peer == port && port->peer != port));
			}
		}
	}
	fabric_release(&fabric);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static char text[TEXT_BYTES_MAX];

	read_text(text, text_from_pieces(bytes, byte_count < 64 ? byte_count : 64, pieces,
					 ARRAY_COUNT(pieces), text, sizeof(text)));
	read_text((const char *)bytes, byte_count);
	return 0;
}
