/* SPDX-License-Identifier: Apache-2.0 */
/* The raw queue pairs of an adapter: at most one of each kind and port (vol 1, chapter 10;
 * transport 9.4). */
#ifndef SOFTIB_NET_HCA_RAW_QPS_H
#define SOFTIB_NET_HCA_RAW_QPS_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "net/transport/qp.h"
#include "wire/raw_packet.h"

struct hca;
struct qp_object;
struct qp_options;

static inline enum raw_kind raw_kind_of(enum qp_type type)
{
	return type == QP_RAW_IPV6 ? RAW_IPV6 : RAW_ETHERTYPE;
}

/* -EINVAL: no such port, or a shared receive queue; -EBUSY: the port has one already. 0 for all
 * other types. */
MUST_USE int raw_qp_check(const struct hca *hca, const struct qp_options *options);
void raw_qp_enter(struct qp_object *object, const struct qp_options *options);
void raw_qp_leave(struct qp_object *object);

/* As qp_modify. The port is the one that the queue pair was created for, not an attribute. */
MUST_USE int raw_qp_modify(struct qp_object *object, time_ns now, const struct qp_ports *ports,
			   const struct qp_attributes *attributes, uint32_t mask);

/* Receives a raw packet for a port; if no queue pair takes it, the reason is counted. */
void hca_receive_raw(struct hca *hca, time_ns now, uint8_t port_number,
		     const struct packet *packet);

#endif
