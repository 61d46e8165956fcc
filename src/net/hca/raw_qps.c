/* SPDX-License-Identifier: Apache-2.0 */
/* The raw queue pairs of an adapter (vol 1, chapter 10; transport 9.4). */
#include "net/hca/raw_qps.h"

#include <errno.h>
#include "net/hca/hca.h"
#include "net/hca/multicast.h"
#include "net/transport/raw.h"
#include "wire/pkey.h"

int raw_qp_check(const struct hca *hca, const struct qp_options *options)
{
	if (!qp_type_is_raw(options->type))
		return options->port_number ? -EINVAL : 0;
	if (options->srq || options->port_number < 1 || options->port_number > hca->port_count)
		return -EINVAL;
	return hca->raw_qps[options->port_number - 1][raw_kind_of(options->type)] ? -EBUSY : 0;
}

void raw_qp_enter(struct qp_object *object, const struct qp_options *options)
{
	object->raw_port = options->port_number;
	if (options->port_number)
		object->hca->raw_qps[options->port_number - 1][raw_kind_of(options->type)] = object;
}

void raw_qp_leave(struct qp_object *object)
{
	if (object->raw_port)
		object->hca->raw_qps[object->raw_port - 1][raw_kind_of(object->qp.type)] = NULL;
}

int raw_qp_modify(struct qp_object *object, time_ns now, const struct qp_ports *ports,
		  const struct qp_attributes *attributes, uint32_t mask)
{
	struct qp_attributes with_port = *attributes;
	bool starts =
		object->qp.state == QP_RESET && mask & QP_HAS_STATE && attributes->state == QP_INIT;

	if (mask & QP_HAS_PORT && attributes->port_number != object->raw_port)
		return -EINVAL;
	mask &= ~(uint32_t)QP_HAS_PORT;
	with_port.port_number = object->raw_port;
	return qp_modify(&object->qp, now, ports, &with_port, mask | (starts ? QP_HAS_PORT : 0));
}

void hca_receive_raw(struct hca *hca, time_ns now, uint8_t port_number, const struct packet *packet)
{
	if (port_number == 0 || port_number > hca->port_count) {
		hca->drops[HCA_DROP_NO_SUCH_PORT]++;
		return;
	}

	enum raw_kind kind = packet->kind == PACKET_RAW_IPV6 ? RAW_IPV6 : RAW_ETHERTYPE;
	struct qp_object *object = hca->raw_qps[port_number - 1][kind];

	if (!object)
		hca->drops[HCA_DROP_NO_RAW_QP]++;
	else if (lid_is_multicast(packet->lrh.dlid) && !multicast_takes_raw(object, packet))
		hca->drops[HCA_DROP_MULTICAST_NOT_ATTACHED]++;
	else
		raw_receive(&object->qp, now, packet);
}
