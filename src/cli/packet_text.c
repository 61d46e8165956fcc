/* SPDX-License-Identifier: Apache-2.0 */
/* A captured packet as one line of text. */
#include "cli/packet_text.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include "base/bytes.h"
#include "wire/grh.h"
#include "wire/lrh.h"
#include "wire/mad.h"
#include "wire/opcode.h"
#include "wire/pkey.h"
#include "wire/raw_packet.h"
#include "wire/transport_headers.h"

struct line {
	char *text;
	size_t room;
	size_t length;
};

static void PRINTF_LIKE(2, 3) add(struct line *line, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);

	int length =
		vsnprintf(line->text + line->length, line->room - line->length, format, arguments);

	va_end(arguments);
	if (length > 0 && (size_t)length < line->room - line->length)
		line->length += (size_t)length;
}

static void add_time(struct line *line, time_ns time)
{
	time_t seconds = (time_t)(time / SECONDS(1));
	struct tm local;

	localtime_r(&seconds, &local);
	add(line, "%02d:%02d:%02d.%09u", local.tm_hour, local.tm_min, local.tm_sec,
	    (unsigned)(time % SECONDS(1)));
}

static void add_mad(struct line *line, const uint8_t *bytes, size_t byte_count)
{
	struct mad_header header;

	if (mad_header_decode(bytes, byte_count, &header))
		add(line, " MAD class 0x%02x method 0x%02x attribute 0x%04x",
		    header.management_class, header.method, header.attribute_id);
}

static void add_transport(struct line *line, const uint8_t *bytes, size_t byte_count)
{
	struct bth bth;

	if (!bth_decode(bytes, byte_count, &bth)) {
		add(line, " too short");
		return;
	}
	const struct opcode_info *info = opcode_info(bth.opcode);
	size_t mad_offset = BTH_BYTES + DETH_BYTES;

	add(line, " QP 0x%06x PSN %u P_Key 0x%04x", bth.destination_qpn, bth.psn.value, bth.pkey);
	size_t aeth_offset = BTH_BYTES;

	if (info->has_rdeth && byte_count >= BTH_BYTES + RDETH_BYTES) {
		add(line, " EEC 0x%06x", get_be24(bytes + BTH_BYTES + 1));
		aeth_offset += RDETH_BYTES;
	}
	if (info->has_aeth && byte_count >= aeth_offset + AETH_BYTES) {
		struct aeth aeth;

		aeth_decode(bytes + aeth_offset, &aeth);
		add(line, " syndrome 0x%02x MSN %u", aeth.syndrome, aeth.msn);
	}
	if (opcode_transport(bth.opcode) == TRANSPORT_UD && bth.destination_qpn <= QPN_GSI &&
	    byte_count > mad_offset)
		add_mad(line, bytes + mad_offset, byte_count - mad_offset);
}

/* Appends what follows the LRH of a raw packet. */
static void add_raw(struct line *line, enum lnh lnh, const uint8_t *bytes, size_t byte_count)
{
	char source[INET6_ADDRSTRLEN], destination[INET6_ADDRSTRLEN];
	struct grh header; /* the GRH has the layout of the IPv6 header */

	if (lnh == LNH_RAW_ETHERTYPE && byte_count >= RWH_BYTES) {
		add(line, " EtherType 0x%04x", get_be16(bytes + 2));
		return;
	}
	if (lnh == LNH_RAW_ETHERTYPE || !grh_decode(bytes, byte_count, &header)) {
		add(line, " too short");
		return;
	}
	inet_ntop(AF_INET6, header.sgid.bytes, source, sizeof(source));
	inet_ntop(AF_INET6, header.dgid.bytes, destination, sizeof(destination));
	add(line, " %s > %s next header %u hop limit %u", source, destination, header.next_header,
	    header.hop_limit);
}

static void add_packet(struct line *line, const uint8_t *bytes, size_t byte_count)
{
	struct lrh lrh;

	if (!lrh_decode(bytes, byte_count, &lrh)) {
		add(line, " too short");
		return;
	}

	bool is_raw = lrh.lnh < LNH_LOCAL;
	size_t offset = LRH_BYTES + (lrh.lnh == LNH_GLOBAL ? GRH_BYTES : 0);
	const char *name = lrh.lnh == LNH_RAW_IPV6 ? "RAW_IPV6" : "RAW_ETHERTYPE";

	if (!is_raw)
		name = byte_count > offset ? opcode_info(bytes[offset])->name : "no opcode";

	add(line, " %s %u -> %u SL %u VL %u", name ? name : "reserved opcode", lrh.slid, lrh.dlid,
	    lrh.sl, lrh.vl);
	if (is_raw)
		add_raw(line, (enum lnh)lrh.lnh, bytes + LRH_BYTES, byte_count - LRH_BYTES);
	else if (byte_count > offset)
		add_transport(line, bytes + offset, byte_count - offset);
}

size_t packet_text_line(const struct pcapng_packet *packet, size_t room, uint8_t *ret_text)
{
	struct line line = {.text = (char *)ret_text, .room = room};

	add_time(&line, packet->time);
	add(&line, " %s", packet->direction == PCAPNG_INBOUND ? "in " : "out");
	add_packet(&line, packet->bytes, packet->byte_count);
	add(&line, " %u bytes", packet->byte_count);
	if (packet->comment)
		add(&line, " (%s)", packet->comment);
	add(&line, "\n");
	return line.length;
}
