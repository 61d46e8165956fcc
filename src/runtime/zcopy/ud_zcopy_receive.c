/* SPDX-License-Identifier: Apache-2.0 */
/* Receives UD zcopies: see ud_zcopy.h. */
#include <string.h>
#include "runtime/runtime_state.h"
#include "runtime/zcopy/ud_zcopy.h"
#include "runtime/rma/rma_state.h"
#include "runtime/packets/receive.h"
#include "net/transport/fast/fast_copy.h"
#include "net/transport/fast/fast_receive.h"
#include "wire/packet.h"

enum {
	PAYLOAD_BYTES_MAX = 4096, /* the largest MTU */
	/* The sender learns of read zcopies sooner than of room. A program that has few requests
	 * under way, and asks for the completion of only some, can continue before all are copied.
	 */
	RELEASE_BYTES = 1 << 15,
	HEADER_BYTES = FAST_HEADER_BYTES + DETH_BYTES,
	START_BYTES = sizeof(struct ud_zcopy_ticket) + FAST_HEADER_BYTES_MAX,
};

static_assert(RING_STAMPED_HEADER_BYTES + START_BYTES <= RING_CACHE_LINE,
	      "all that is read of such a record lies in one line");

/* A record after it was read. */
struct ud_zcopy_record {
	struct zcopy_source source;
	const struct channel *channel;
	const uint8_t *room;
	struct ud_zcopy_ticket ticket;
	uint32_t header_bytes;
	uint8_t headers[FAST_HEADER_BYTES_MAX];
};

static inline bool is_in_place(const struct ud_zcopy_record *zcopy)
{
	return __atomic_load_n(&zcopy->channel->rma_in->ud_zcopy_serial, __ATOMIC_ACQUIRE) ==
	       zcopy->ticket.serial;
}

/* Copies from the sender's memory, unless the sender took the zcopy back meanwhile: then the
 * payload is in the ring. */
static bool fetch(const struct zcopy_source *source, uint8_t *ret_bytes)
{
	const struct ud_zcopy_record *zcopy = container_of(source, struct ud_zcopy_record, source);

	if (likely(is_in_place(zcopy))) {
		memcpy(ret_bytes, zcopy->channel->peer->peer_memory.shared + zcopy->ticket.place,
		       source->byte_count);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (likely(is_in_place(zcopy)))
			return true;
	}
	memcpy(ret_bytes, zcopy->room, source->byte_count);
	return true;
}

/* Checks a copy, which the peer can't change. */
static inline bool read_record(const struct channel *channel, const struct ring_record *record,
			       struct ud_zcopy_record *ret_zcopy)
{
	if (unlikely(!channel->peer || !channel->rma_in || record->packet_count != 1 ||
		     record->byte_count < START_BYTES))
		return false;
	memcpy(&ret_zcopy->ticket, record->body, sizeof(ret_zcopy->ticket));
	memcpy(ret_zcopy->headers, record->body + sizeof(ret_zcopy->ticket),
	       sizeof(ret_zcopy->headers));
	__asm__ volatile("" : : "r"(ret_zcopy) : "memory");

	const bool has_immediate = ret_zcopy->headers[LRH_BYTES] & 1;
	const uint32_t pad = ret_zcopy->headers[LRH_BYTES + 1] >> 4 & 3;
	const uint32_t offset = HEADER_BYTES + (has_immediate ? IMMEDIATE_BYTES : 0);
	const uint32_t taken = (uint32_t)sizeof(ret_zcopy->ticket) + offset;
	const uint32_t byte_count = record->byte_count - taken - pad;

	ret_zcopy->channel = channel;
	ret_zcopy->room = record->body + taken;
	ret_zcopy->header_bytes = offset;
	ret_zcopy->source = (struct zcopy_source){byte_count, 1, fetch};
	return likely(record->byte_count > taken + pad && byte_count <= PAYLOAD_BYTES_MAX &&
		      ret_zcopy->ticket.place <= RKEY_EXPORT_SHARED_BYTES - byte_count);
}

struct qp *ud_zcopy_receive(struct process_runtime *runtime, struct channel *channel, time_ns now,
			    const struct ring_record *record)
{
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);
	struct ud_zcopy_record zcopy;

	if (unlikely(record->kind != RECORD_UD_ZCOPY || !adapter ||
		     !read_record(channel, record, &zcopy)))
		return NULL;

	struct qp *qp = hca_receive_zcopy(&adapter->hca, now, (uint8_t)record->port,
					  &channel->source, zcopy.headers, &zcopy.source);

	channel->release_in = UD_ZCOPY_IDLE_ROUNDS;
	if (unlikely(!qp))
		return NULL;
	runtime->rounds.zcopy_bytes += zcopy.source.byte_count;
	if (channel->in.head - channel->in.released >= RELEASE_BYTES)
		channel_release(channel);
	return qp;
}

struct ring_record ud_zcopy_headers(const struct ring_record *record)
{
	struct ring_record packet = *record;

	if (record->kind != RECORD_UD_ZCOPY || record->byte_count < START_BYTES)
		return packet;
	packet.kind = RECORD_PACKET;
	packet.body += sizeof(struct ud_zcopy_ticket);
	packet.byte_count -= (uint32_t)sizeof(struct ud_zcopy_ticket);
	return packet;
}

void ud_zcopy_receive_packet(struct process_runtime *runtime, struct channel *channel, time_ns now,
			     const struct ring_record *record)
{
	uint8_t bytes[FAST_HEADER_BYTES_MAX + PAYLOAD_BYTES_MAX + 4] = {0};
	struct ring_record whole = ud_zcopy_headers(record);
	struct ud_zcopy_record zcopy;

	channel->release_in = UD_ZCOPY_IDLE_ROUNDS;
	if (!read_record(channel, record, &zcopy)) {
		runtime->drops.malformed++;
		return;
	}
	memcpy(bytes, zcopy.headers, zcopy.header_bytes);
	(void)fetch(&zcopy.source, bytes + zcopy.header_bytes);
	whole.body = bytes;
	receive_direct_record(runtime, channel, now, &whole);
}
