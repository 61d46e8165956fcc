/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of a port on every received packet, in the order of the specification (vol 1, chapter
 * 7; transport 8.6). */
#include "net/link/receive_checks.h"

#include "net/link/frame_crc.h"
#include "net/link/port_queues.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { WORD_BYTES = 4, PACKET_WORDS_MIN = 5 };

static bool length_is_right(const struct port *port, const struct forwarding_header *header)
{
	uint32_t words_max = (mtu_bytes(port->info.mtu_cap) + PACKET_HEADER_BYTES_MAX) / WORD_BYTES;

	return header->is_sound && header->words >= PACKET_WORDS_MIN && header->words <= words_max;
}

static bool dlid_is_right(const struct port *port, const struct forwarding_header *header)
{
	if (port->kind != PORT_OF_ADAPTER)
		return header->dlid != 0;
	if (header->dlid == LID_PERMISSIVE)
		return header->is_management;
	return lid_is_multicast(header->dlid) || port_owns_lid(port, header->dlid);
}

static bool vl_is_right(const struct port *port, const struct frame *frame)
{
	unsigned vl = frame->bytes[0] >> 4;

	if (frame->header.is_management)
		return port_carries_management(port) && !lid_is_multicast(frame->header.dlid) &&
		       !frame->header.is_raw && !frame->header.is_global;
	return vl < port_data_vl_count(port) &&
	       (port->info.port_state == PORT_ARMED || port->info.port_state == PORT_ACTIVE);
}

/* Every port checks the VCRC; only the destination checks the ICRC. */
static enum drop_reason check_crcs(const struct port *port, const struct frame *frame)
{
	switch (frame_check_crcs(frame)) {
	case FRAME_VCRC_WRONG:
		return DROP_VCRC;
	case FRAME_ICRC_WRONG:
		return port->kind == PORT_OF_SWITCH ? DROP_NONE : DROP_ICRC;
	case FRAME_CRCS_RIGHT:
		break;
	}
	return DROP_NONE;
}

enum drop_reason port_check_received(const struct port *port, struct frame *frame)
{
	enum drop_reason reason = unlikely(frame->has_crcs) ? check_crcs(port, frame) : DROP_NONE;

	if (reason != DROP_NONE)
		return reason;
	if (!frame_read_header(frame) || !length_is_right(port, &frame->header) ||
	    !dlid_is_right(port, &frame->header) || !vl_is_right(port, frame))
		return DROP_MALFORMED;
	return DROP_NONE;
}
