/* SPDX-License-Identifier: Apache-2.0 */
/* Receives zcopy SENDs of reliable connections: see zcopy_send.h. */
#include <stdlib.h>
#include <string.h>
#include "runtime/runtime_state.h"
#include "runtime/rma/rma_state.h"
#include "runtime/zcopy/zcopy_send.h"
#include "runtime/packets/receive.h"
#include "net/transport/fast/fast_copy.h"
#include "net/transport/fast/fast_receive.h"
#include "net/transport/fast/fast_send.h"
#include "wire/packet.h"

enum {
	HEADER_BYTES_MAX = FAST_HEADER_BYTES + IMMEDIATE_BYTES,
	BODY_BYTES_MAX = HEADER_BYTES_MAX + sizeof(struct zcopy_ticket),
};

/* A record after it was read. */
struct zcopy_record {
	struct zcopy_source source;
	const struct peer_memory *peer_memory;
	struct zcopy_ticket ticket;
	uint32_t header_bytes;
	uint8_t body[BODY_BYTES_MAX];
};

/* Copies the payload. Returns whether it was valid all the while: a sender that revokes a message
 * changes the serial before the memory is used for anything else. */
static bool fetch(const struct zcopy_source *source, uint8_t *ret_bytes)
{
	const struct zcopy_record *zcopy = container_of(source, struct zcopy_record, source);
	const struct rkey_export_header *header = zcopy->peer_memory->header;
	const struct zcopy_ticket *ticket = &zcopy->ticket;

	memcpy(ret_bytes, zcopy->peer_memory->shared + ticket->place, ticket->byte_count);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return (uint16_t)__atomic_load_n(&header->zcopy_serials[ticket->serial_index],
					 __ATOMIC_RELAXED) == ticket->serial;
}

/* Checks a copy, which the peer can't change. */
static inline bool read_record(const struct channel *channel, const struct ring_record *record,
			       struct zcopy_record *ret_zcopy)
{
	struct zcopy_ticket *ticket = &ret_zcopy->ticket;

	if (unlikely(!channel->peer || record->byte_count > BODY_BYTES_MAX ||
		     record->byte_count < FAST_HEADER_BYTES + sizeof(*ticket)))
		return false;
	memcpy(ret_zcopy->body, record->body, record->byte_count);
	__asm__ volatile("" : : "r"(ret_zcopy->body) : "memory");
	ret_zcopy->header_bytes =
		FAST_HEADER_BYTES + (ret_zcopy->body[LRH_BYTES] & 1 ? IMMEDIATE_BYTES : 0);
	if (unlikely(record->byte_count != ret_zcopy->header_bytes + sizeof(*ticket)))
		return false;
	memcpy(ticket, ret_zcopy->body + ret_zcopy->header_bytes, sizeof(*ticket));
	ret_zcopy->peer_memory = &channel->peer->peer_memory;
	ret_zcopy->source = (struct zcopy_source){ticket->byte_count, record->packet_count, fetch};
	return likely(ticket->byte_count && ticket->byte_count <= FAST_ZCOPY_BYTES_MAX &&
		      ticket->place <= RKEY_EXPORT_SHARED_BYTES - ticket->byte_count &&
		      ticket->serial_index < RKEY_EXPORT_ZCOPY_SERIALS);
}

struct qp *zcopy_receive(struct process_runtime *runtime, const struct channel *channel,
			 time_ns now, const struct ring_record *record)
{
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);
	struct zcopy_record zcopy;

	if (unlikely(!adapter || !read_record(channel, record, &zcopy)))
		return NULL;
	runtime->rounds.zcopy_bytes += zcopy.ticket.byte_count;
	return hca_receive_zcopy(&adapter->hca, now, (uint8_t)record->port, &channel->source,
				 zcopy.body, &zcopy.source);
}

void zcopy_receive_packets(struct process_runtime *runtime, struct channel *channel, time_ns now,
			   const struct ring_record *record)
{
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);
	struct zcopy_record zcopy;

	if (!read_record(channel, record, &zcopy)) {
		runtime->drops.malformed++;
		return;
	}
	if (!adapter)
		return;

	const uint32_t byte_count = zcopy.header_bytes + ((zcopy.ticket.byte_count + 3) & ~3u);
	uint8_t *bytes = calloc(1, byte_count);

	if (bytes && fetch(&zcopy.source, bytes + zcopy.header_bytes)) {
		const struct ring_record whole = {
			.byte_count = byte_count,
			.kind = RECORD_PACKET,
			.port = record->port,
			.packet_count = record->packet_count,
			.body = bytes,
		};

		memcpy(bytes, zcopy.body, zcopy.header_bytes);
		receive_direct_record(runtime, channel, now, &whole);
	} else {
		hca_zcopy_failed(&adapter->hca, (uint8_t)record->port, &channel->source,
				 zcopy.body);
	}
	free(bytes);
}
