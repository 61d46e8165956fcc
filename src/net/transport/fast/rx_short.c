/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of receiving a SEND of one packet: see fast_path.h. */
#include "net/transport/fast/rx_short.h"

static bool receive_connected(struct qp *qp, time_ns now, uint8_t port_number,
			      const uint8_t *headers, const uint8_t *bytes, uint32_t byte_count)
{
	struct receive_slot *slot;
	struct arrival arrival;
	uint8_t *place;

	if (unlikely(!arrival_read(headers, byte_count, FAST_HEADER_BYTES, &arrival) ||
		     arrival.payload_bytes > qp->path_mtu))
		return false;
	slot = arrival_find_connected(qp, &arrival, psn_from(get_be32(headers + FAST_PSN_OFFSET)),
				      &place);
	if (unlikely(!slot))
		return false;
	arrival.deth = 0;
	if (!arrival.has_immediate)
		arrival_remember(qp, port_number, byte_count, &arrival);
	fast_copy(place, bytes + arrival.payload_offset, arrival.payload_bytes);
	arrival_take_connected(qp, qp->type, get_be32(headers + FAST_PSN_OFFSET),
			       arrival.payload_bytes);
	arrival_complete(qp, now, headers, slot->wr_id, &arrival, false);
	return true;
}

__attribute__((noinline)) void arrival_report_predicted(struct qp *qp, time_ns now, uint64_t wr_id,
							const struct rx_header_cache *cache)
{
	struct completion completion;

	completion_write_from(&completion, &cache->completion, wr_id, now);
	arrival_use_request(qp);
	arrival_report(qp, now, &completion);
}

/* type: of the queue pair; word: the word of the BTH with the PSN. */
static IN_LINE bool receive_predicted(struct qp *qp, const struct rx_header_cache *cache,
				      time_ns now, enum qp_type type, uint32_t word,
				      const uint8_t *payload)
{
	const uint32_t payload_bytes = cache->payload_bytes;
	const uint32_t room = type == QP_UD ? GRH_BYTES : 0;
	struct receive_slot *slot;
	uint8_t *place;

	if (unlikely(!arrival_is_next(qp, type, word)))
		return false;
	slot = arrival_find_place(qp, room + payload_bytes, &place);
	if (unlikely(!slot))
		return false;
	fast_copy(place + room, payload, payload_bytes);
	if (type != QP_UD)
		arrival_take_connected(qp, type, word, payload_bytes);
	arrival_complete_predicted(qp, now, slot->wr_id, cache);
	return true;
}

__attribute__((noinline)) static bool receive_matched_datagram(struct qp *qp, time_ns now,
							       const uint8_t *payload)
{
	return receive_predicted(qp, rx_header_cache(qp), now, QP_UD, 0, payload);
}

static IN_LINE bool receive_matched(struct qp *qp, const struct rx_header_cache *cache, time_ns now,
				    const uint8_t *headers, const uint8_t *bytes)
{
	if (qp->type == QP_UD)
		return receive_matched_datagram(qp, now, bytes + FAST_HEADER_BYTES + DETH_BYTES);
	return receive_predicted(qp, cache, now, qp->type, get_be32(headers + FAST_PSN_OFFSET),
				 bytes + FAST_HEADER_BYTES);
}

/* These checks are sufficient for admission_check to return ADMITTED without side effects
 * (transport 5.1). */
bool fast_receive(struct qp *qp, time_ns now, uint8_t port_number, const uint8_t *headers,
		  const uint8_t *bytes, uint32_t byte_count)
{
	const struct rx_header_cache *cache = rx_header_cache(qp);

	if (likely(arrival_is_predicted(qp, cache, port_number, headers, byte_count)))
		return receive_matched(qp, cache, now, headers, bytes);
	if (unlikely(!fast_is_plain_type(qp) || qp->receive_queue->matches_tags ||
		     qp->responder.has_receive || !arrival_is_taken(qp) ||
		     qp->port->number != port_number))
		return false;
	return qp->type == QP_UD
		       ? arrival_receive_datagram(qp, now, headers, bytes, byte_count, NULL)
		       : receive_connected(qp, now, port_number, headers, bytes, byte_count);
}

bool fast_receive_predicted(struct qp *qp, time_ns now, uint8_t port_number, const uint8_t *bytes,
			    uint32_t byte_count)
{
	const struct rx_header_cache *cache = rx_header_cache(qp);
	const uint8_t *behind = bytes + FAST_HEADER_BYTES;

	if (!arrival_matches(qp, cache, port_number, get_be64_once(bytes),
			     get_be64_once(bytes + LRH_BYTES), byte_count))
		return false;
	if (qp->type == QP_UD)
		return cache->deth == get_be64_once(behind) &&
		       receive_matched_datagram(qp, now, behind + DETH_BYTES);
	return receive_predicted(qp, cache, now, qp->type, get_be32_once(bytes + FAST_PSN_OFFSET),
				 behind);
}

struct qp *fast_receive_expected(const struct rx_header_cache *cache, time_ns now,
				 uint8_t port_number, const uint8_t *bytes, uint32_t byte_count)
{
	struct qp *qp = cache->qp;

	if (unlikely(!qp || qp->type != QP_RC ||
		     !arrival_matches(qp, cache, port_number, get_be64_once(bytes),
				      get_be64_once(bytes + LRH_BYTES), byte_count) ||
		     !receive_predicted(qp, cache, now, QP_RC,
					get_be32_once(bytes + FAST_PSN_OFFSET),
					bytes + FAST_HEADER_BYTES)))
		return NULL;
	return qp;
}
