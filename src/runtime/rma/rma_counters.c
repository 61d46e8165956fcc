/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the packets and bytes that an RMA request would have put on the links, in both directions.
 */
#include "runtime/rma/rma_counters.h"

#include "runtime/flows.h"
#include "runtime/packets/wire_bytes.h"
#include "net/transport/qp.h"
#include "net/transport/rma/rma_bypass.h"
#include "wire/packet.h"

enum { ATOMIC_ACK_BYTES = 8 };

/* The 4-byte words of packet_count packets that carry byte_count bytes behind their BTHs in all,
 * payload padded. */
static uint64_t words_of(const struct qp *qp, uint64_t packet_count, uint64_t byte_count)
{
	uint64_t header_bytes = wire_bytes_bare(qp->attributes.address.is_global);

	return (packet_count * header_bytes + ((byte_count + 3) & ~UINT64_C(3))) / 4;
}

/* The First and the Last packet of a READ response carry an AETH each (transport 2.2). */
static uint64_t read_response_words(const struct qp *qp, const struct bypass *bypass)
{
	uint64_t aeths = bypass->psn_count > 1 ? 2 : 1;

	return words_of(qp, bypass->psn_count, bypass->byte_count + aeths * AETH_BYTES);
}

void rma_count(struct flow *flow, const struct qp *qp, const struct bypass *bypass)
{
	if (bypass->opcode == SEND_RDMA_WRITE) {
		flow_count(flow, bypass->psn_count,
			   words_of(qp, bypass->psn_count, RETH_BYTES + bypass->byte_count));
		if (qp_is_reliable(qp))
			flow_count_returned(flow, 1, words_of(qp, 1, AETH_BYTES));
	} else if (bypass->opcode == SEND_RDMA_READ) {
		flow_count(flow, 1, words_of(qp, 1, RETH_BYTES));
		flow_count_returned(flow, bypass->psn_count, read_response_words(qp, bypass));
	} else {
		flow_count(flow, 1, words_of(qp, 1, ATOMIC_ETH_BYTES));
		flow_count_returned(flow, 1, words_of(qp, 1, AETH_BYTES + ATOMIC_ACK_BYTES));
	}
}
