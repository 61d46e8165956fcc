/* SPDX-License-Identifier: Apache-2.0 */
/* RC, UC and UD flows through the adapters' own queue pairs. The immediate data number the
 * messages, so that lost messages can be counted. */
#include "sim/connections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sim/paths.h"
#include "sim/traffic.h"
#include "wire/grh.h"

enum {
	DATAGRAM_QKEY = 0x11111111,
	/* Of unreliable flows, which may send on before a message is received. */
	TIMES_PER_DEPTH = 4,
	ACCESS_ALL = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ,
	ACK_TIMEOUT = 14,
};

struct connection_end {
	struct list link; /* traffic->connections[host] */
	struct flow *flow;
	struct sim_host *host;
	struct protection_domain *pd;
	struct cq *cq;
	struct region *region;
	struct qp_object *qp;
};

struct connection {
	struct connection_end from, to;
	struct address_vector address; /* of the receiver */
	uint32_t posted;
	uint32_t completed;
	uint32_t time_count; /* power of two */
	struct {
		uint32_t number;
		time_ns at;
	} * times;
	bool is_broken; /* a queue pair went to Error */
};

static enum qp_type type_of(const struct flow *flow)
{
	return flow->options->service == FLOW_RC   ? QP_RC
	       : flow->options->service == FLOW_UC ? QP_UC
						   : QP_UD;
}

static int end_init(struct connection_end *end, struct flow *flow, struct sim_host *host)
{
	struct traffic *traffic = flow->traffic;
	struct hca *hca = &host->hca;
	struct qp_options options = {
		.type = type_of(flow),
		.signal_all = true,
		.capabilities = {.send_requests_max = flow->options->depth,
				 .receive_requests_max = 2 * flow->options->depth,
				 .send_sges_max = 1,
				 .receive_sges_max = 1},
	};
	int error = hca_pd_alloc(hca, &end->pd);

	end->flow = flow;
	end->host = host;
	if (!error)
		error = cq_create(hca, 4 * flow->options->depth, NULL, &end->cq);
	if (!error)
		error = region_register(&hca->memory, end->pd, traffic->memory,
					traffic->memory_bytes, (uintptr_t)traffic->memory,
					ACCESS_ALL, &end->region);
	options.pd = end->pd;
	options.send_cq = options.receive_cq = end->cq;
	if (!error)
		error = qp_object_create(hca, &options, &end->qp);
	list_append(&traffic->connections[host - traffic->sim->hosts], &end->link);
	return error;
}

static void end_release(struct connection_end *end)
{
	if (!end->host)
		return;
	if (end->qp && qp_object_destroy(end->qp))
		abort();
	if (end->cq && cq_destroy(end->cq))
		abort();
	if (end->region && region_deregister(&end->host->hca.memory, end->region))
		abort();
	if (end->pd && hca_pd_dealloc(&end->host->hca, end->pd))
		abort();
	list_remove(&end->link);
}

static const uint32_t to_init[] = {
	[QP_RC] = QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_ACCESS,
	[QP_UC] = QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_ACCESS,
	[QP_UD] = QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_QKEY,
};
static const uint32_t to_rtr[] = {
	[QP_RC] = QP_HAS_STATE | QP_HAS_ADDRESS | QP_HAS_PATH_MTU | QP_HAS_DESTINATION_QPN |
		  QP_HAS_RQ_PSN | QP_HAS_RESPONDER_RESOURCES | QP_HAS_MIN_RNR_TIMER,
	[QP_UC] = QP_HAS_STATE | QP_HAS_ADDRESS | QP_HAS_PATH_MTU | QP_HAS_DESTINATION_QPN |
		  QP_HAS_RQ_PSN,
	[QP_UD] = QP_HAS_STATE,
};
static const uint32_t to_rts[] = {
	[QP_RC] = QP_HAS_STATE | QP_HAS_TIMEOUT | QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY |
		  QP_HAS_SQ_PSN | QP_HAS_INITIATOR_DEPTH,
	[QP_UC] = QP_HAS_STATE | QP_HAS_SQ_PSN,
	[QP_UD] = QP_HAS_STATE | QP_HAS_SQ_PSN,
};

static int find_address(const struct flow *flow, const struct sim_host *from,
			const struct sim_host *to, struct address_vector *ret_address)
{
	struct sim_path path;
	int error = sim_path_find(flow->traffic->sim, &from->node->ports[1], &to->node->ports[1],
				  &path);

	if (error)
		return error;
	*ret_address = (struct address_vector){
		.dlid = path.dlid,
		.port_number = 1,
		.sl = flow->options->sl,
		.static_rate = flow->options->static_rate,
		.is_global = path.is_global,
		.hop_limit = path.hop_limit,
		.dgid = path.dgid,
	};
	return 0;
}

static int end_connect(struct connection_end *end, const struct connection_end *peer, time_ns now)
{
	const struct flow *flow = end->flow;
	enum qp_type type = type_of(flow);
	struct qp_attributes attributes = {
		.state = QP_INIT,
		.port_number = 1,
		.access = ACCESS_ALL,
		.qkey = DATAGRAM_QKEY,
		.path_mtu_code = end->host->node->ports[1].info.neighbor_mtu,
		.destination_qpn = peer->qp->qp.qpn,
		.responder_resources = 4,
		.initiator_depth = 4,
		.min_rnr_timer = 12,
		.timeout = ACK_TIMEOUT,
		.retry_count = 7,
		.rnr_retry = 7,
	};
	int error = find_address(flow, end->host, peer->host, &attributes.address);

	if (!error)
		error = qp_object_modify(end->qp, now, &attributes, to_init[type]);
	attributes.state = QP_RTR;
	if (!error)
		error = qp_object_modify(end->qp, now, &attributes, to_rtr[type]);
	attributes.state = QP_RTS;
	if (!error)
		error = qp_object_modify(end->qp, now, &attributes, to_rts[type]);
	return error;
}

/* The receive of a datagram has room for the GRH in front. */
static int post_receive(struct connection *connection)
{
	struct flow *flow = connection->to.flow;
	struct traffic *traffic = flow->traffic;
	const struct sge sge = {
		.address = (uintptr_t)traffic->memory,
		.byte_count = flow->options->message_bytes + GRH_BYTES,
		.lkey = connection->to.region->key,
	};
	const struct receive_request request = {.sge_count = 1, .sges = &sge};

	return qp_object_post_receive(connection->to.qp, traffic->sim->now, &request);
}

static uint32_t round_up(uint32_t count)
{
	uint32_t power = 1;

	while (power < count)
		power *= 2;
	return power;
}

int connection_init(struct flow *flow, struct scenario_error *ret_error)
{
	struct traffic *traffic = flow->traffic;
	uint32_t mtu = mtu_bytes(flow->from->node->ports[1].info.neighbor_mtu);
	struct connection *connection = calloc(1, sizeof(*connection));

	if (!connection)
		return -ENOMEM;
	flow->connection = connection;
	if (flow->options->service == FLOW_UD && flow->options->message_bytes > mtu)
		return traffic_refuse(flow, "a datagram is no larger than the MTU", ret_error);
	connection->time_count = round_up(TIMES_PER_DEPTH * flow->options->depth);
	connection->times = calloc(connection->time_count, sizeof(*connection->times));
	if (!connection->times)
		return -ENOMEM;

	int error = end_init(&connection->from, flow, flow->from);

	if (!error)
		error = end_init(&connection->to, flow, flow->to);
	if (!error)
		error = end_connect(&connection->from, &connection->to, traffic->sim->now);
	if (!error)
		error = end_connect(&connection->to, &connection->from, traffic->sim->now);
	for (unsigned i = 0; !error && i < 2 * flow->options->depth; i++)
		error = post_receive(connection);
	if (!error)
		error = find_address(flow, flow->from, flow->to, &connection->address);
	if (error == -ENOMEM)
		return error;
	if (error == -EHOSTUNREACH)
		return traffic_refuse(flow, "no router leads to its receiver", ret_error);
	return error ? traffic_refuse(flow, "its queue pairs could not be made", ret_error) : 0;
}

void connection_release(struct flow *flow)
{
	struct connection *connection = flow->connection;

	if (!connection)
		return;
	end_release(&connection->from);
	end_release(&connection->to);
	free(connection->times);
	free(connection);
	flow->connection = NULL;
}

/* False: the queue is full or broken. */
static bool post_message(struct flow *flow)
{
	struct connection *connection = flow->connection;
	struct traffic *traffic = flow->traffic;
	const struct sge sge = {
		.address = (uintptr_t)traffic->memory,
		.byte_count = flow->options->message_bytes,
		.lkey = connection->from.region->key,
	};
	const struct send_request request = {
		.wr_id = connection->posted,
		.opcode = SEND_SEND_IMMEDIATE,
		.flags = SEND_SIGNALED,
		.immediate_or_rkey = connection->posted,
		.address = &connection->address,
		.address_pd = connection->from.pd,
		.remote_qpn = connection->to.qp->qp.qpn,
		.remote_qkey = DATAGRAM_QKEY,
		.sge_count = 1,
		.sges = &sge,
	};

	if (qp_object_post_send(connection->from.qp, traffic->sim->now, &request))
		return false;

	uint32_t place = connection->posted & (connection->time_count - 1);

	connection->times[place].number = connection->posted;
	connection->times[place].at = traffic->sim->now;
	connection->posted++;
	flow->sent++;
	return true;
}

void connection_send(struct flow *flow)
{
	struct connection *connection = flow->connection;
	bool is_endless = flow->options->bits_per_second == 0;
	bool has_posted = false;

	while (flow->is_running && !connection->is_broken && (is_endless || flow->due > 0) &&
	       connection->posted - connection->completed < flow->options->depth &&
	       (!flow->options->message_count || flow->sent < flow->options->message_count)) {
		if (!post_message(flow))
			break;
		if (!is_endless)
			flow->due--;
		has_posted = true;
	}
	if (has_posted)
		sim_wake_host(flow->from);
}

static void message_received(struct connection *connection, const struct completion *completion)
{
	uint32_t number = completion->immediate_or_rkey;
	uint32_t place = number & (connection->time_count - 1);
	struct flow *flow = connection->to.flow;
	bool is_known = connection->times[place].number == number;

	traffic_message_arrived(flow, flow->options->message_bytes,
				is_known ? connection->times[place].at : flow->traffic->sim->now,
				true);
	if (post_receive(connection))
		connection->is_broken = true;
}

static void poll_end(struct connection_end *end)
{
	struct connection *connection = end->flow->connection;
	const struct completion *completion;

	while ((completion = cq_first(end->cq))) {
		if (end == &connection->from) {
			connection->completed++;
			if (completion->status != COMPLETION_SUCCESS) {
				end->flow->failed++;
				connection->is_broken = true;
			}
		} else if (completion->status == COMPLETION_SUCCESS) {
			message_received(connection, completion);
		} else {
			connection->is_broken = true;
		}
		cq_advance(end->cq);
	}
	if (end == &connection->from)
		connection_send(end->flow);
}

void connections_poll(struct traffic *traffic, const struct sim_host *host)
{
	list_for_each (link, &traffic->connections[host - traffic->sim->hosts])
		poll_end(container_of(link, struct connection_end, link));
}
