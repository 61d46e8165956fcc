/* SPDX-License-Identifier: Apache-2.0 */
/* Connects to an SRP target by its service ID, and moves information units. */
#include "io/nbdkit/srp_connection.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "io/srp/login.h"

enum {
	SENDS_MAX = 2 * SRP_INITIATOR_REQUESTS_MAX,
	INLINE_BYTES = 128, /* a command with a few descriptors */
	RETRIES_WITHOUT_END = 7,
	READS_AT_ONCE = 16,
	SEND = CONNECTION_RECEIVES, /* the work request's ID where a receive has its index */
};

time_ns srp_clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return SECONDS(now.tv_sec) + (time_ns)now.tv_nsec;
}

int srp_milliseconds_until(time_ns deadline)
{
	time_ns now = srp_clock_now();

	if (deadline == TIME_NEVER)
		return -1;
	return deadline <= now ? 0 : (int)((deadline - now) / MILLISECONDS(1) + 1);
}

/* Waits for this event of connection management. The event must be acknowledged on success. */
static int await_event(struct srp_connection *connection, enum rdma_cm_event_type wanted,
		       time_ns until, struct rdma_cm_event **ret_event)
{
	struct pollfd file = {.fd = connection->events->fd, .events = POLLIN};
	int count;

	do {
		count = poll(&file, 1, srp_milliseconds_until(until));
	} while (count < 0 && errno == EINTR);
	if (count <= 0)
		return count ? -errno : -ETIMEDOUT;
	if (rdma_get_cm_event(connection->events, ret_event) != 0)
		return -errno;
	/* A rejection carries the target's reason. */
	if ((*ret_event)->event == wanted || (*ret_event)->event == RDMA_CM_EVENT_REJECTED)
		return 0;

	int error = (*ret_event)->status < 0 ? (*ret_event)->status : -ECONNREFUSED;

	rdma_ack_cm_event(*ret_event);
	return error;
}

static int resolve(struct srp_connection *connection, const struct srp_target_text *target,
		   int timeout_ms, time_ns until)
{
	struct sockaddr_ib address = {.sib_family = AF_IB,
				      .sib_pkey = htobe16(target->pkey),
				      .sib_sid = htobe64(target->service_id),
				      .sib_sid_mask = UINT64_MAX};
	struct rdma_cm_event *event;
	int error;

	memcpy(&address.sib_addr, target->dgid, sizeof(target->dgid));
	if (rdma_create_id(connection->events, &connection->id, NULL, RDMA_PS_IB) != 0 ||
	    rdma_resolve_addr(connection->id, NULL, (struct sockaddr *)&address, timeout_ms) != 0)
		return -errno;
	error = await_event(connection, RDMA_CM_EVENT_ADDR_RESOLVED, until, &event);
	if (error)
		return error;
	rdma_ack_cm_event(event);
	if (rdma_resolve_route(connection->id, timeout_ms) != 0)
		return -errno;
	error = await_event(connection, RDMA_CM_EVENT_ROUTE_RESOLVED, until, &event);
	if (!error)
		rdma_ack_cm_event(event);
	return error;
}

int srp_connection_repost(struct srp_connection *connection, uint32_t index)
{
	struct ibv_sge sge = {.addr = (uintptr_t)connection->received[index],
			      .length = sizeof(connection->received[index]),
			      .lkey = connection->region->lkey};
	struct ibv_recv_wr request = {.wr_id = index, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	return -ibv_post_recv(connection->id->qp, &request, &bad);
}

/* The completion queue, with a channel that is looked at only by poll(2). */
static int make_completions(struct srp_connection *connection)
{
	struct ibv_context *verbs = connection->id->verbs;

	connection->completions = ibv_create_comp_channel(verbs);
	if (!connection->completions)
		return -errno;

	int file = connection->completions->fd;
	int flags = fcntl(file, F_GETFL);

	if (flags < 0 || fcntl(file, F_SETFL, flags | O_NONBLOCK) != 0)
		return -errno;
	connection->cq = ibv_create_cq(verbs, SENDS_MAX + CONNECTION_RECEIVES, NULL,
				       connection->completions, 0);
	return connection->cq ? 0 : -errno;
}

static int make_regions(struct srp_connection *connection, void *data, size_t data_byte_count)
{
	struct ibv_pd *pd = connection->id->pd;
	size_t byte_count = CONNECTION_RECEIVES * sizeof(*connection->received);

	connection->received = calloc(1, byte_count);
	if (!connection->received)
		return -ENOMEM;
	connection->region =
		ibv_reg_mr(pd, connection->received, byte_count, IBV_ACCESS_LOCAL_WRITE);
	if (!connection->region)
		return -errno;
	connection->data = ibv_reg_mr(pd, data, data_byte_count,
				      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					      IBV_ACCESS_REMOTE_READ);
	return connection->data ? 0 : -errno;
}

static int make_queue_pair(struct srp_connection *connection)
{
	struct rdma_cm_id *id = connection->id;
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = SENDS_MAX,
						.max_recv_wr = CONNECTION_RECEIVES,
						.max_send_sge = 1,
						.max_recv_sge = 1,
						.max_inline_data = INLINE_BYTES}};
	int error = 0;

	attr.send_cq = connection->cq;
	attr.recv_cq = connection->cq;
	if (rdma_create_qp(id, id->pd, &attr) != 0)
		return -errno;
	for (uint32_t index = 0; !error && index < CONNECTION_RECEIVES; index++)
		error = srp_connection_repost(connection, index);
	return error;
}

static int login(struct srp_connection *connection, const struct srp_target_text *target,
		 time_ns until, struct srp_initiator *ret_initiator, const char **ret_problem)
{
	const struct srp_names names = {
		.initiator_extension = target->initiator_ext,
		.initiator_guid =
			be64toh(connection->id->route.addr.addr.ibaddr.sgid.global.interface_id),
		.target_extension = target->id_ext,
		.target_guid = target->ioc_guid};
	uint8_t bytes[SRP_LOGIN_REQ_BYTES];
	struct rdma_conn_param offer = {.private_data = bytes,
					.private_data_len = sizeof(bytes),
					.responder_resources = READS_AT_ONCE,
					.initiator_depth = 1,
					.flow_control = 1,
					.retry_count = RETRIES_WITHOUT_END,
					.rnr_retry_count = RETRIES_WITHOUT_END};
	struct rdma_cm_event *event;
	uint32_t reason;

	srp_initiator_login(&names, bytes);
	if (rdma_connect(connection->id, &offer) != 0)
		return -errno;

	int error = await_event(connection, RDMA_CM_EVENT_ESTABLISHED, until, &event);

	if (error)
		return error;
	if (!srp_initiator_logged_in(ret_initiator, event->param.conn.private_data,
				     event->param.conn.private_data_len, &reason) ||
	    event->event == RDMA_CM_EVENT_REJECTED) {
		if (reason)
			*ret_problem = srp_login_reject_text(reason);
		error = -ECONNREFUSED;
	}
	rdma_ack_cm_event(event);
	return error;
}

int srp_connection_open(struct srp_connection *connection, const struct srp_target_text *target,
			void *data, size_t data_byte_count, int timeout_ms,
			struct srp_initiator *ret_initiator, const char **ret_problem)
{
	time_ns until = srp_clock_now() + MILLISECONDS(timeout_ms);

	*connection = (struct srp_connection){.events = rdma_create_event_channel()};
	if (!connection->events) {
		*ret_problem = strerror(errno);
		return -errno;
	}

	int error = resolve(connection, target, timeout_ms, until);

	*ret_problem = NULL;
	if (!error)
		error = make_regions(connection, data, data_byte_count);
	if (!error)
		error = make_completions(connection);
	if (!error)
		error = make_queue_pair(connection);
	if (!error)
		error = login(connection, target, until, ret_initiator, ret_problem);
	if (error) {
		srp_connection_close(connection);
		if (!*ret_problem)
			*ret_problem = strerror(-error);
	}
	return error;
}

void srp_connection_close(struct srp_connection *connection)
{
	struct rdma_cm_id *id = connection->id;

	if (id && id->qp) {
		rdma_disconnect(id);
		rdma_destroy_qp(id);
	}
	if (connection->cq)
		ibv_destroy_cq(connection->cq);
	if (connection->completions)
		ibv_destroy_comp_channel(connection->completions);
	if (connection->data)
		ibv_dereg_mr(connection->data);
	if (connection->region)
		ibv_dereg_mr(connection->region);
	if (id)
		rdma_destroy_id(id);
	rdma_destroy_event_channel(connection->events);
	free(connection->received);
}

int srp_connection_send(struct srp_connection *connection, const uint8_t *unit, size_t byte_count)
{
	struct ibv_sge sge = {.addr = (uintptr_t)unit, .length = (uint32_t)byte_count};
	struct ibv_send_wr request = {.wr_id = SEND,
				      .sg_list = &sge,
				      .num_sge = 1,
				      .opcode = IBV_WR_SEND,
				      .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE};
	struct ibv_send_wr *bad;

	return -ibv_post_send(connection->id->qp, &request, &bad);
}

int srp_connection_poll(struct srp_connection *connection,
			struct srp_received ret_received[static CONNECTION_ARRIVALS])
{
	struct ibv_wc completions[CONNECTION_ARRIVALS];
	int count = ibv_poll_cq(connection->cq, CONNECTION_ARRIVALS, completions);
	int arrived = 0;

	if (count < 0)
		return -EIO;
	for (int index = 0; index < count; index++) {
		if (completions[index].status != IBV_WC_SUCCESS)
			return -ENOTCONN;
		if (completions[index].wr_id == SEND)
			continue;
		ret_received[arrived++] =
			(struct srp_received){.index = (uint32_t)completions[index].wr_id,
					      .byte_count = completions[index].byte_len};
	}
	return arrived;
}

int srp_connection_arm(struct srp_connection *connection)
{
	return -ibv_req_notify_cq(connection->cq, 0);
}

void srp_connection_disarm(struct srp_connection *connection)
{
	struct ibv_cq *cq;
	void *context;

	while (ibv_get_cq_event(connection->completions, &cq, &context) == 0)
		ibv_ack_cq_events(cq, 1);
}
