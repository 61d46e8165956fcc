/* SPDX-License-Identifier: Apache-2.0 */
/* Receives zcopy SENDs of reliable connections: see zcopy_send.h. */
#include <stdlib.h>
#include <string.h>
#include "runtime/runtime_state.h"
#include "runtime/rma/rma_state.h"
#include "runtime/zcopy/zcopy_send.h"
#include "runtime/packets/receive.h"
#include "net/transport/fast/fast_path.h"
#include "wire/packet.h"

enum {
	HEADER_BYTES_MAX = FAST_HEADER_BYTES + IMMEDIATE_BYTES,
	BODY_BYTES_MAX = HEADER_BYTES_MAX + sizeof(struct zcopy_ticket),
};

/* A record after it was read. */
struct pulled {
	struct zcopy_source pull;
	const struct peer_memory *peer_memory;
	struct zcopy_ticket ticket;
	uint32_t header_bytes;
	uint8_t body[BODY_BYTES_MAX];
};

/* Copies the payload. Returns whether it was valid all the while: a sender that revokes a message
 * changes the serial before the memory is used for anything else. */
static bool fetch(const struct zcopy_source *pull, uint8_t *ret_bytes)
{
	const struct pulled *pulled = container_of(pull, struct pulled, pull);
	const struct rkey_export_header *header = pulled->peer_memory->header;
	const struct zcopy_ticket *ticket = &pulled->ticket;

	memcpy(ret_bytes, pulled->peer_memory->shared + ticket->place, ticket->byte_count);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return (uint16_t)__atomic_load_n(&header->zcopy_serials[ticket->serial_index],
					 __ATOMIC_RELAXED) == ticket->serial;
}

/* Checks a copy, which the peer can't change. */
static inline bool read_record(const struct channel *channel, const struct ring_record *record,
			       struct pulled *ret_zcopy)
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
	ret_zcopy->pull = (struct zcopy_source){ticket->byte_count, record->packet_count, fetch};
	return likely(ticket->byte_count && ticket->byte_count <= FAST_ZCOPY_BYTES_MAX &&
		      ticket->place <= RKEY_EXPORT_SHARED_BYTES - ticket->byte_count &&
		      ticket->serial_index < RKEY_EXPORT_ZCOPY_SERIALS);
}

struct qp *zcopy_receive(struct process_runtime *runtime, const struct channel *channel,
			 time_ns now, const struct ring_record *record)
{
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);
	struct pulled pulled;

	if (unlikely(!adapter || !read_record(channel, record, &pulled)))
		return NULL;
	runtime->zcopy_bytes += pulled.ticket.byte_count;
	return hca_receive_zcopy(&adapter->hca, now, (uint8_t)record->port, pulled.body,
				 &pulled.pull);
}

void zcopy_receive_packets(struct process_runtime *runtime, struct channel *channel, time_ns now,
			   const struct ring_record *record)
{
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);
	struct pulled pulled;

	if (!read_record(channel, record, &pulled)) {
		runtime->malformed++;
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
		receive_direct_record(runtime, channel, now, &whole);
	} else {
		hca_zcopy_failed(&adapter->hca, (uint8_t)record->port, pulled.body);
	}
	free(bytes);
}
