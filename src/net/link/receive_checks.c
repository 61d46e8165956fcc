/* SPDX-License-Identifier: Apache-2.0 */
/* What a port checks of every packet, in the architecture's order (vol 1, chapter 7). */
#include "net/link/receive_checks.h"

#include "net/link/frame_crc.h"
#include "net/link/port_queues.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { WORD_BYTES = 4, PACKET_WORDS_MIN = 5 };

static bool length_is_right(const struct port *port, const struct frame *frame,
			    const struct lrh *lrh)
{
	uint32_t words_max = (mtu_bytes(port->info.mtu_cap) + PACKET_HEADER_BYTES_MAX) / WORD_BYTES;

	return lrh->words >= PACKET_WORDS_MIN && lrh->words <= words_max &&
	       (uint32_t)lrh->words * WORD_BYTES == frame->byte_count + ICRC_BYTES;
}

static bool dlid_is_right(const struct port *port, const struct lrh *lrh)
{
	if (port->kind != PORT_OF_ADAPTER)
		return lrh->dlid != 0;
	if (lrh->dlid == LID_PERMISSIVE)
		return lrh->vl == VL_MANAGEMENT;
	return lid_is_multicast(lrh->dlid) || port_owns_lid(port, lrh->dlid);
}

static bool vl_is_right(const struct port *port, const struct lrh *lrh)
{
	if (lrh->vl == VL_MANAGEMENT)
		return port_carries_management(port) && !lid_is_multicast(lrh->dlid);
	return lrh->vl < port_data_vl_count(port) &&
	       (port->info.port_state == PORT_ARMED || port->info.port_state == PORT_ACTIVE);
}

/* Every port checks the VCRC; the ICRC is for whoever is at the end of the way. */
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

enum drop_reason port_check_received(const struct port *port, const struct frame *frame,
				     struct lrh *ret_lrh)
{
	if (!lrh_decode(frame->bytes, frame->byte_count, ret_lrh))
		return DROP_MALFORMED;

	enum drop_reason reason = unlikely(frame->has_crcs) ? check_crcs(port, frame) : DROP_NONE;

	if (reason != DROP_NONE)
		return reason;
	if (frame->is_corrupt)
		return DROP_VCRC;
	if (ret_lrh->version != 0)
		return DROP_MALFORMED;
	if (!length_is_right(port, frame, ret_lrh) || !dlid_is_right(port, ret_lrh))
		return DROP_MALFORMED;
	if (!vl_is_right(port, ret_lrh))
		return DROP_MALFORMED;
	if (ret_lrh->vl == VL_MANAGEMENT && ret_lrh->lnh != LNH_LOCAL)
		return DROP_MALFORMED;
	return DROP_NONE;
}
