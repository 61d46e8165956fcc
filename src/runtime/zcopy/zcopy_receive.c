/* SPDX-License-Identifier: Apache-2.0 */
/* SENDs whose payload the receiver copies from the sender's memory, at the receiver's: see
 * pull_lane.h. */
#include <stdlib.h>
#include <string.h>
#include "runtime/runtime_state.h"
#include "runtime/rma/rma_state.h"
#include "runtime/zcopy/zcopy_send.h"
#include "runtime/packets/receive.h"
#include "net/transport/fast/fast_path.h"
#include "wire/packet.h"

enum {
	HEADER_BYTES_MAX = EXPRESS_HEADER_BYTES + IMMEDIATE_BYTES,
	BODY_BYTES_MAX = HEADER_BYTES_MAX + sizeof(struct pull_ticket),
};

/* A record as it was read. */
struct pulled {
	struct express_pull pull;
	const struct reach *reach;
	struct pull_ticket ticket;
	uint32_t header_bytes;
	uint8_t body[BODY_BYTES_MAX];
};

/* Copies, and says whether it was there all the while: whoever takes it back changes the serial
 * before it is anything else. */
static bool fetch(const struct express_pull *pull, uint8_t *ret_bytes)
{
	const struct pulled *pulled = container_of(pull, struct pulled, pull);
	const struct exposure_header *header = pulled->reach->header;
	const struct pull_ticket *ticket = &pulled->ticket;

	memcpy(ret_bytes, pulled->reach->shared + ticket->place, ticket->byte_count);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return (uint16_t)__atomic_load_n(&header->pull_serials[ticket->serial_index],
					 __ATOMIC_RELAXED) == ticket->serial;
}

/* The peer's words, from a copy that it can't change. */
static inline bool read_record(const struct channel *channel, const struct ring_record *record,
			       struct pulled *ret_pulled)
{
	struct pull_ticket *ticket = &ret_pulled->ticket;

	if (unlikely(!channel->peer || record->byte_count > BODY_BYTES_MAX ||
		     record->byte_count < EXPRESS_HEADER_BYTES + sizeof(*ticket)))
		return false;
	memcpy(ret_pulled->body, record->body, record->byte_count);
	__asm__ volatile("" : : "r"(ret_pulled->body) : "memory");
	ret_pulled->header_bytes =
		EXPRESS_HEADER_BYTES + (ret_pulled->body[LRH_BYTES] & 1 ? IMMEDIATE_BYTES : 0);
	if (unlikely(record->byte_count != ret_pulled->header_bytes + sizeof(*ticket)))
		return false;
	memcpy(ticket, ret_pulled->body + ret_pulled->header_bytes, sizeof(*ticket));
	ret_pulled->reach = &channel->peer->reach;
	ret_pulled->pull = (struct express_pull){ticket->byte_count, record->packet_count, fetch};
	return likely(ticket->byte_count && ticket->byte_count <= EXPRESS_PULLED_BYTES_MAX &&
		      ticket->place <= EXPOSURE_SHARED_BYTES - ticket->byte_count &&
		      ticket->serial_index < EXPOSURE_PULL_SERIALS);
}

struct qp *pull_lane_receive(struct attachment *attachment, const struct channel *channel,
			     time_ns now, const struct ring_record *record)
{
	struct adapter *adapter = attachment_adapter(attachment, record->port >> 8);
	struct pulled pulled;

	if (unlikely(!adapter || !read_record(channel, record, &pulled)))
		return NULL;
	attachment->pulled_bytes += pulled.ticket.byte_count;
	return hca_receive_pulled(&adapter->hca, now, (uint8_t)record->port, pulled.body,
				  &pulled.pull);
}

void pull_lane_receive_packets(struct attachment *attachment, struct channel *channel,
			       time_ns now, const struct ring_record *record)
{
	struct adapter *adapter = attachment_adapter(attachment, record->port >> 8);
	struct pulled pulled;

	if (!read_record(channel, record, &pulled)) {
		attachment->malformed++;
		return;
	}
	if (!adapter)
		return;

	const uint32_t byte_count = pulled.header_bytes + ((pulled.ticket.byte_count + 3) & ~3u);
	uint8_t *bytes = calloc(1, byte_count);

	if (bytes && fetch(&pulled.pull, bytes + pulled.header_bytes)) {
		const struct ring_record whole = {
			.byte_count = byte_count,
			.kind = RECORD_PACKET,
			.port = record->port,
			.packet_count = record->packet_count,
			.body = bytes,
		};

		memcpy(bytes, pulled.body, pulled.header_bytes);
		receive_direct_record(attachment, channel, now, &whole);
	} else {
		hca_pull_failed(&adapter->hca, (uint8_t)record->port, pulled.body);
	}
	free(bytes);
}
