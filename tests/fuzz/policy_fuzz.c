/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: the files that an administrator writes. Partitions, quality of service, forwarding
 * tables and the faults of a link: each is taken, or refused with a line and a reason. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "base/attributes.h"
#include "fabric/faults/fault_text.h"
#include "fuzz/text_pieces.h"
#include "mgmt/routing/graph.h"
#include "mgmt/routing/table_file.h"
#include "mgmt/sm/qos.h"
#include "mgmt/subnet/partitions.h"

enum { TEXT_BYTES_MAX = 4096 };

static const char *const partition_pieces[] = {
	"Default=0x7fff",
	",ipoib",
	":",
	"ALL=full",
	";\n",
	"p1=",
	"0x8001",
	"0x7fff",
	", ",
	"indx0",
	",rate=",
	"7",
	",mtu=",
	"4",
	",sl=",
	"15",
	"99",
	",scope=",
	"2",
	"14",
	",defmember=",
	"limited",
	"both",
	"ALL",
	"ALL_CAS",
	"ALL_SWITCHES",
	"ALL_ROUTERS",
	"SELF",
	"=full",
	"=limited",
	"0x1234567890",
	"mgid=",
	"ff12:401b::1",
	",Q_Key=",
	",TClass=",
	",FlowLabel=",
	"\n",
	"#",
	"=",
	";",
	" ",
	"0xffffffffffffffffff",
	"-1",
};

static const char *const qos_pieces[] = {
	"qos-ulps\n",  "end-qos-ulps\n",
	"default",     " : ",
	"1",	       "15",
	"16",	       "\n",
	"any",	       ", pkey ",
	"0x7fff",      ", service-id ",
	"0x1000",      "-",
	"ipoib",       "sdp",
	", port-num ", "sl2vl ",
	"0,",	       "vlarb_high ",
	"vlarb_low ",  "0:1,",
	"7:255,",      "15:1",
	"high_limit ", "255",
	"#",	       ",",
	":",
};

static const char *const table_pieces[] = {
	"Unicast lids [0x0-0x6] of switch Lid 1 guid 0x0000000000001000 (a):\n",
	"Unicast lids [0x0-0x6] of switch Lid 2 guid 0x1001 (b):\n",
	"guid ",
	"0x1000",
	"  Lid  Out   Destination\n",
	"0x0004 ",
	"003",
	"001 ",
	"0xffff ",
	"255",
	" : (Channel Adapter portguid 0x1: 'h1')\n",
	"2 valid lids dumped\n",
	"\n",
	"# x\n",
	" ",
};

static const char *const fault_pieces[] = {
	"drop=",
	"corrupt=",
	"corrupt-inside=",
	"duplicate=",
	"reorder=",
	"credit-loss=",
	"delay=",
	"jitter=",
	"rate=",
	"flap=",
	"blackhole",
	"mads",
	"0.5",
	"1",
	"1e-9",
	"2",
	"ms",
	"us",
	"s/",
	"200ms",
	"Gbit",
	"%",
	"-",
	".",
	"drop",
	"bit=77",
	"delay=20ns",
	"99999999999999999999",
};

static void read_partitions(const char *text, size_t byte_count)
{
	static struct partitions partitions;
	struct policy_error error = {0};

	if (partitions_parse(&partitions, text, byte_count, &error) != 0) {
		MUST_HOLD(error.reason[0] && error.line);
		return;
	}
	/* The default partition exists, whatever the text says. */
	MUST_HOLD(partitions_find(&partitions, 0xffff));
	for (uint32_t index = 0; index < partitions.count; index++)
		MUST_HOLD(partitions_find(&partitions, partitions.partitions[index].pkey));
	partitions_release(&partitions);
}

static void read_qos(const char *text, size_t byte_count)
{
	struct policy_error error = {0};
	struct qos qos;

	qos_init(&qos);
	if (qos_parse(&qos, text, byte_count, &error) != 0) {
		MUST_HOLD(error.reason[0] && error.line);
		return;
	}
	/* A policy that was taken leads to lanes that exist. */
	for (uint8_t sl = 0; sl < SL_COUNT; sl++)
		for (uint8_t vls = 1; vls <= 5; vls++)
			MUST_HOLD(qos_lane(&qos, sl, vls) < qos_lane_count(vls) ||
				  qos_lane(&qos, sl, vls) == 15);
}

static void read_table(const char *text, size_t byte_count)
{
	struct table_file_error error = {0};
	struct routing_graph graph;

	if (routing_graph_init(&graph, 1, 0, 8) != 0)
		return;
	if (routing_graph_set_ports(&graph, 0, 4) != 0)
		abort();
	graph.switches[0].guid = 0x1000;
	if (table_file_read(&graph, text, byte_count, &error) != 0)
		MUST_HOLD(error.line && error.reason);
	routing_graph_release(&graph);
}

/* What was taken is written, and the written text is taken again and means the same. */
static void read_faults(const char *text)
{
	struct fault_settings settings = {0}, again = {0};
	struct fault_decision decision = {0};
	char written[FAULT_TEXT_BYTES];

	if (fault_text_parse_decision(text, &decision))
		fault_text_write_decision(&decision, written);
	if (fault_text_parse(text, &settings) != NULL)
		return;
	fault_text_write(&settings, written);
	for (char *rest = NULL, *word = strtok_r(written, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest))
		MUST_HOLD(fault_text_parse(word, &again) == NULL);
	MUST_HOLD(memcmp(&again, &settings, sizeof(again)) == 0);
}

#define FROM_PIECES(pieces)                                                                        \
	text_from_pieces(bytes, byte_count, pieces, ARRAY_COUNT(pieces), text, sizeof(text))

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static char text[TEXT_BYTES_MAX];

	read_partitions((const char *)bytes, byte_count);
	read_qos((const char *)bytes, byte_count);
	read_table((const char *)bytes, byte_count);
	read_partitions(text, FROM_PIECES(partition_pieces));
	read_qos(text, FROM_PIECES(qos_pieces));
	read_table(text, FROM_PIECES(table_pieces));
	FROM_PIECES(fault_pieces);
	read_faults(text);
	return 0;
}
