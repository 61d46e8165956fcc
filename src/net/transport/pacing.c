/* SPDX-License-Identifier: Apache-2.0 */
/* The send rate limit of a queue pair (ibv_modify_qp_rate_limit; vol 1 knows only the static rate
 * of a path). */
#include "net/transport/pacing.h"

#include "net/transport/port_view.h"
#include "net/transport/qp_state.h"
#include "net/transport/retry.h"
#include "wire/mtu.h"
#include "wire/packet.h"

/* A byte takes 8 000 000 / rate ns at a rate in kbit/s. */
#define BYTE_NS_AT_1_KBPS UINT64_C(8000000)

static time_ns time_of(const struct qp *qp, uint64_t byte_count)
{
	return byte_count * BYTE_NS_AT_1_KBPS / qp->attributes.rate_limit;
}

static uint64_t bytes_in(const struct qp *qp, time_ns time)
{
	return time * qp->attributes.rate_limit / BYTE_NS_AT_1_KBPS;
}

static uint32_t mtu_of(const struct qp *qp)
{
	return qp->type == QP_UD ? mtu_bytes(qp->port->mtu_code) : qp->path_mtu;
}

/* The most header bytes that a packet has beside its payload. */
static uint32_t overhead_of(const struct qp *qp)
{
	enum {
		LOCAL_BYTES = LRH_BYTES + BTH_BYTES + ICRC_BYTES + VCRC_BYTES,
		EXTENDED_BYTES_MAX = ATOMIC_ETH_BYTES,
	};

	bool may_be_global = qp->type == QP_UD || qp->attributes.address.is_global;

	return LOCAL_BYTES + EXTENDED_BYTES_MAX + (may_be_global ? GRH_BYTES : 0);
}

/* Whole packets of the typical size. By default as many as take a millisecond, since process timers
 * are not much more precise. */
static uint64_t burst_bytes(const struct qp *qp)
{
	const struct qp_attributes *attributes = &qp->attributes;
	uint64_t packet =
		attributes->typical_packet_bytes ? attributes->typical_packet_bytes : mtu_of(qp);
	uint64_t burst =
		attributes->burst_bytes ? attributes->burst_bytes : bytes_in(qp, MILLISECONDS(1));

	return burst < packet ? packet : burst - burst % packet;
}

static time_ns debt(const struct qp *qp, time_ns now)
{
	return qp->requester.paced_until > now ? qp->requester.paced_until - now : 0;
}

void pacing_pause(struct qp *qp, time_ns until)
{
	qp->requester.pacing_deadline = until;
	retry_wake_at(qp, until);
}

bool pacing_allows(struct qp *qp, time_ns now, uint32_t payload_bytes)
{
	uint64_t burst = burst_bytes(qp);
	uint64_t packet = (uint64_t)payload_bytes + overhead_of(qp);
	/* A packet larger than a burst counts as a burst of its own. */
	time_ns slack = packet < burst ? time_of(qp, burst - packet) : 0;

	if (debt(qp, now) <= slack)
		return true;
	pacing_pause(qp, qp->requester.paced_until - slack);
	return false;
}

uint32_t pacing_train_bytes(const struct qp *qp, time_ns now, uint32_t train_bytes_max)
{
	uint32_t mtu = mtu_of(qp);
	uint64_t owed = bytes_in(qp, debt(qp, now));
	uint64_t burst = burst_bytes(qp);
	uint64_t packets = owed < burst ? (burst - owed) / (mtu + overhead_of(qp)) : 0;
	uint64_t bytes = (packets ? packets : 1) * mtu;

	return bytes < train_bytes_max ? (uint32_t)bytes : train_bytes_max;
}

void pacing_charge(struct qp *qp, time_ns now, const struct packet *packet)
{
	struct requester *requester = &qp->requester;
	/* Each packet of a train has its own headers. */
	uint32_t header_bytes =
		LRH_BYTES + BTH_BYTES + ICRC_BYTES + VCRC_BYTES + (packet->has_grh ? GRH_BYTES : 0);
	uint64_t wire_bytes = packet_bytes(packet) + ICRC_BYTES + VCRC_BYTES +
			      (uint64_t)(packet->packet_count - 1) * header_bytes;

	if (requester->paced_until < now)
		requester->paced_until = now;
	requester->paced_until += time_of(qp, wire_bytes);
}

void pacing_restart(struct qp *qp)
{
	qp->requester.paced_until = 0;
	qp->requester.pacing_deadline = TIME_NEVER;
}
