/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagram rsockets: one UD queue pair each. Who wants to send here asks the connection manager for
 * its number (SIDR); a header in front of every datagram says where it comes from, so that answers
 * need not ask.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "api/librdmacm/identifier.h"
#include "api/librdmacm/rsocket.h"

enum {
	RECEIVES = 128,
	SENDS = 64,
	GRH_BYTES = 40,
	MTU = 4096,
	SLOT_BYTES = GRH_BYTES + MTU,
	RESOLVE_TIMEOUT_MS = 4000,
	DESTINATIONS_MAX = 4096,
	SERVICE_LOOK_MS = 1000,
};

struct datagram_header {
	struct sockaddr_storage source;
};

enum { PAYLOAD_MAX = MTU - sizeof(struct datagram_header) };

struct destination {
	struct destination *next;
	struct sockaddr_storage address;
	struct ibv_ah *ah;
	uint32_t qpn, qkey;
};

struct rsocket_datagrams {
	struct rsocket *socket;
	struct rsocket_datagrams *next; /* those that the service thread looks after */
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	uint8_t *slots; /* receives, then sends */
	struct ibv_mr *mr;
	bool has_name;
	struct sockaddr_storage name;
	struct destination *peer; /* of a connected one */
	struct destination *destinations;
	unsigned destination_count;
	uint32_t sends_posted, sends_completed;
	/* Datagrams that came and were not read: slot and bytes. */
	unsigned waiting_first, waiting_count;
	struct {
		uint32_t slot, byte_count;
	} waiting[RECEIVES];
};

static pthread_mutex_t service_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rsocket_datagrams *served;
static bool service_runs;

/* --- who asks for us --- */

static void answer(const struct rsocket_datagrams *datagrams)
{
	struct rdma_cm_event *event;

	while (rdma_get_cm_event(datagrams->socket->channel, &event) == 0) {
		struct rdma_conn_param parameters = {.qp_num = datagrams->qp->qp_num};
		struct rdma_cm_id *id = event->id;
		bool is_request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;

		if (is_request)
			rdma_accept(id, &parameters);
		rdma_ack_cm_event(event);
		if (is_request)
			rdma_destroy_id(id);
	}
}

/* Answers while the program does something else. */
static void *serve(void *context)
{
	struct pollfd watched[FD_SETSIZE];

	(void)context;
	for (;;) {
		nfds_t count = 0;

		pthread_mutex_lock(&service_lock);
		for (struct rsocket_datagrams *one = served; one && count < FD_SETSIZE;
		     one = one->next) {
			answer(one);
			watched[count++] =
				(struct pollfd){.fd = one->socket->channel->fd, .events = POLLIN};
		}
		service_runs = count > 0;
		pthread_mutex_unlock(&service_lock);
		if (count == 0)
			return NULL;
		poll(watched, count, SERVICE_LOOK_MS);
	}
}

static int start_service(struct rsocket_datagrams *datagrams)
{
	pthread_t thread;
	int error = 0;

	pthread_mutex_lock(&service_lock);
	datagrams->next = served;
	served = datagrams;
	if (!service_runs) {
		error = pthread_create(&thread, NULL, serve, NULL);
		service_runs = !error;
		if (!error)
			pthread_detach(thread);
	}
	pthread_mutex_unlock(&service_lock);
	errno = error;
	return error ? -1 : 0;
}

static void stop_service(struct rsocket_datagrams *datagrams)
{
	pthread_mutex_lock(&service_lock);
	for (struct rsocket_datagrams **link = &served; *link; link = &(*link)->next) {
		if (*link != datagrams)
			continue;
		*link = datagrams->next;
		break;
	}
	pthread_mutex_unlock(&service_lock);
}

/* --- opening --- */

int datagrams_open(struct rsocket *socket)
{
	socket->datagrams = calloc(1, sizeof(*socket->datagrams));
	if (!socket->datagrams)
		return -1;
	socket->datagrams->socket = socket;
	return rdma_create_id(socket->channel, &socket->id, socket, RDMA_PS_UDP);
}

static int post_receive(struct rsocket_datagrams *datagrams, uint32_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(datagrams->slots + (size_t)slot * SLOT_BYTES),
		.length = SLOT_BYTES,
		.lkey = datagrams->mr->lkey,
	};
	struct ibv_recv_wr request = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_recv(datagrams->qp, &request, &bad);
}

static int make_ready(struct ibv_qp *qp, uint8_t port_number)
{
	struct ibv_qp_attr attributes = {
		.qp_state = IBV_QPS_INIT, .port_num = port_number, .qkey = RDMA_UDP_QKEY};

	if (ibv_modify_qp(qp, &attributes,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		return -1;
	attributes.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attributes, IBV_QP_STATE))
		return -1;
	attributes.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN) ? -1 : 0;
}

static int make_queue_pair(struct rsocket *socket, struct ibv_context *verbs, uint8_t port_number)
{
	struct rsocket_datagrams *datagrams = socket->datagrams;
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_UD,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = SENDS,
			.max_recv_wr = RECEIVES,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	datagrams->pd = ibv_alloc_pd(verbs);
	socket->completions = ibv_create_comp_channel(verbs);
	if (!datagrams->pd || !socket->completions)
		return -1;
	socket->cq = ibv_create_cq(verbs, SENDS + RECEIVES, socket, socket->completions, 0);
	datagrams->slots = calloc(RECEIVES + SENDS, SLOT_BYTES);
	if (!socket->cq || !datagrams->slots)
		return -1;
	datagrams->mr = ibv_reg_mr(datagrams->pd, datagrams->slots,
				   (size_t)(RECEIVES + SENDS) * SLOT_BYTES, IBV_ACCESS_LOCAL_WRITE);
	attributes.send_cq = attributes.recv_cq = socket->cq;
	datagrams->qp = datagrams->mr ? ibv_create_qp(datagrams->pd, &attributes) : NULL;
	if (!datagrams->qp || make_ready(datagrams->qp, port_number))
		return -1;
	for (uint32_t slot = 0; slot < RECEIVES; slot++)
		if (post_receive(datagrams, slot))
			return -1;
	return 0;
}

/* The device of the address; of a wildcard, the host's first. */
static int open_device(struct rsocket *socket)
{
	struct ibv_context *verbs = socket->id->verbs;
	uint8_t port_number = socket->id->port_num ? socket->id->port_num : 1;

	if (!verbs) {
		int count;
		struct ibv_context **devices = rdma_get_devices(&count);

		verbs = devices && count ? devices[0] : NULL;
		rdma_free_devices(devices);
	}
	if (!verbs) {
		errno = ENODEV;
		return -1;
	}
	return make_queue_pair(socket, verbs, port_number);
}

int datagrams_bind(struct rsocket *socket, const struct sockaddr *address)
{
	struct rsocket_datagrams *datagrams = socket->datagrams;

	if (rdma_bind_addr(socket->id, (struct sockaddr *)address) ||
	    rdma_listen(socket->id, RSOCKET_BACKLOG_MAX) || open_device(socket))
		return -1;
	memcpy(&datagrams->name, rdma_get_local_addr(socket->id), sizeof(datagrams->name));
	datagrams->has_name = true;
	socket->state = RSOCKET_BOUND;
	return start_service(datagrams);
}

static int bind_anywhere(struct rsocket *socket, int family)
{
	struct sockaddr_storage any = {.ss_family = (sa_family_t)family};

	return socket->datagrams->has_name ? 0 : datagrams_bind(socket, (struct sockaddr *)&any);
}

void datagrams_close(struct rsocket *socket)
{
	struct rsocket_datagrams *datagrams = socket->datagrams;

	stop_service(datagrams);
	while (datagrams->destinations) {
		struct destination *destination = datagrams->destinations;

		datagrams->destinations = destination->next;
		ibv_destroy_ah(destination->ah);
		free(destination);
	}
	if (datagrams->qp)
		ibv_destroy_qp(datagrams->qp);
	if (datagrams->mr)
		ibv_dereg_mr(datagrams->mr);
	free(datagrams->slots);
	if (socket->cq) {
		if (socket->unacknowledged)
			ibv_ack_cq_events(socket->cq, socket->unacknowledged);
		ibv_destroy_cq(socket->cq);
		socket->cq = NULL;
	}
	if (socket->completions)
		ibv_destroy_comp_channel(socket->completions);
	socket->completions = NULL;
	if (datagrams->pd)
		ibv_dealloc_pd(datagrams->pd);
	free(datagrams);
	socket->datagrams = NULL;
}

/* --- where to --- */

static bool is_same(const struct sockaddr_storage *a, const struct sockaddr *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->sa_family)
		return false;
	if (b->sa_family == AF_INET)
		return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return b->sa_family == AF_INET6 && a6->sin6_port == b6->sin6_port &&
	       memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr)) == 0;
}

static struct destination *find(const struct rsocket_datagrams *datagrams,
				const struct sockaddr *address)
{
	struct destination *destination = datagrams->destinations;

	while (destination && !is_same(&destination->address, address))
		destination = destination->next;
	return destination;
}

static struct destination *remember(struct rsocket_datagrams *datagrams,
				    const struct sockaddr *address, struct ibv_ah *ah, uint32_t qpn,
				    uint32_t qkey)
{
	struct destination *destination = ah && datagrams->destination_count < DESTINATIONS_MAX
						  ? calloc(1, sizeof(*destination))
						  : NULL;

	if (!destination) {
		if (ah)
			ibv_destroy_ah(ah);
		return NULL;
	}
	memcpy(&destination->address, address, address_length(address));
	destination->ah = ah;
	destination->qpn = qpn;
	destination->qkey = qkey;
	destination->next = datagrams->destinations;
	datagrams->destinations = destination;
	datagrams->destination_count++;
	return destination;
}

/* A wildcard socket has the address of the way it sends by. */
static void learn_name(struct rsocket_datagrams *datagrams, const struct sockaddr *local)
{
	struct sockaddr_in *name = (void *)&datagrams->name;
	struct sockaddr_in6 *name6 = (void *)&datagrams->name;
	in_port_t port = datagrams->name.ss_family == AF_INET6 ? name6->sin6_port : name->sin_port;

	memcpy(&datagrams->name, local, address_length(local));
	if (local->sa_family == AF_INET6)
		name6->sin6_port = port;
	else
		name->sin_port = port;
}

/* Asks the connection manager there for its queue pair. */
static struct destination *resolve(struct rsocket *socket, const struct sockaddr *address)
{
	struct rsocket_datagrams *datagrams = socket->datagrams;
	struct rdma_conn_param parameters = {0};
	struct destination *destination = NULL;
	struct rdma_cm_id *id;

	/* Without a channel the calls wait for their ends. */
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP))
		return NULL;
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)address, RESOLVE_TIMEOUT_MS) == 0 &&
	    rdma_resolve_route(id, RESOLVE_TIMEOUT_MS) == 0) {
		if (rdma_connect(id, &parameters) == 0 && id->event) {
			struct rdma_ud_param *found = &id->event->param.ud;

			destination = remember(datagrams, address,
					       ibv_create_ah(datagrams->pd, &found->ah_attr),
					       found->qp_num, found->qkey);
			learn_name(datagrams, rdma_get_local_addr(id));
		} else {
			/* Its own errno is the status of SIDR. */
			errno = ECONNREFUSED;
		}
	}

	int error = errno;

	rdma_destroy_id(id);
	errno = error;
	return destination;
}

static struct destination *destination_of(struct rsocket *socket, const struct sockaddr *address)
{
	struct destination *destination;

	if (bind_anywhere(socket, address->sa_family))
		return NULL;
	destination = find(socket->datagrams, address);
	return destination ? destination : resolve(socket, address);
}

int datagrams_connect(struct rsocket *socket, const struct sockaddr *address, socklen_t byte_count)
{
	(void)byte_count;
	socket->datagrams->peer = destination_of(socket, address);
	return socket->datagrams->peer ? 0 : -1;
}

int datagrams_name(struct rsocket *socket, bool is_peer, struct sockaddr *ret_address,
		   socklen_t *address_bytes)
{
	struct rsocket_datagrams *datagrams = socket->datagrams;
	const struct sockaddr *name =
		is_peer ? (datagrams->peer ? (struct sockaddr *)&datagrams->peer->address : NULL)
			: (struct sockaddr *)&datagrams->name;

	if (!name) {
		errno = ENOTCONN;
		return -1;
	}

	return rsocket_give_name(name, ret_address, address_bytes);
}

/* --- bytes --- */

static const uint8_t *slot_bytes(const struct rsocket_datagrams *datagrams, uint32_t slot)
{
	return datagrams->slots + (size_t)slot * SLOT_BYTES;
}

static void take_datagram(struct rsocket_datagrams *datagrams, const struct ibv_wc *completion)
{
	uint32_t slot = (uint32_t)completion->wr_id;
	struct datagram_header header;

	if (completion->byte_len < GRH_BYTES + sizeof(header)) {
		(void)!post_receive(datagrams, slot);
		return;
	}
	memcpy(&header, slot_bytes(datagrams, slot) + GRH_BYTES, sizeof(header));
	/* Answers need not ask again. */
	if (!find(datagrams, (struct sockaddr *)&header.source)) {
		struct ibv_wc copy = *completion;

		remember(datagrams, (struct sockaddr *)&header.source,
			 ibv_create_ah_from_wc(datagrams->pd, &copy,
					       (void *)slot_bytes(datagrams, slot), 1),
			 completion->src_qp, RDMA_UDP_QKEY);
	}

	unsigned place = (datagrams->waiting_first + datagrams->waiting_count++) % RECEIVES;

	datagrams->waiting[place].slot = slot;
	datagrams->waiting[place].byte_count =
		completion->byte_len - GRH_BYTES - (uint32_t)sizeof(header);
}

static void poll_completions(struct rsocket *socket)
{
	struct rsocket_datagrams *datagrams = socket->datagrams;
	struct ibv_wc completion;

	while (socket->cq && ibv_poll_cq(socket->cq, 1, &completion) > 0) {
		if (completion.opcode & IBV_WC_RECV && completion.status == IBV_WC_SUCCESS)
			take_datagram(datagrams, &completion);
		else
			datagrams->sends_completed++;
	}
}

short datagrams_ready(struct rsocket *socket)
{
	struct rsocket_datagrams *datagrams = socket->datagrams;
	short ready = 0;

	poll_completions(socket);
	if (datagrams->waiting_count)
		ready |= POLLIN;
	if (datagrams->sends_posted - datagrams->sends_completed < SENDS)
		ready |= POLLOUT;
	return ready;
}

static size_t gather(uint8_t *ret_bytes, const struct iovec *parts, int part_count)
{
	size_t total = 0;

	for (int i = 0; i < part_count; i++) {
		if (total + parts[i].iov_len > PAYLOAD_MAX)
			return SIZE_MAX;
		memcpy(ret_bytes + total, parts[i].iov_base, parts[i].iov_len);
		total += parts[i].iov_len;
	}
	return total;
}

ssize_t datagrams_send(struct rsocket *socket, const struct iovec *parts, int part_count, int flags,
		       const struct sockaddr *address, socklen_t address_bytes)
{
	struct rsocket_datagrams *datagrams = socket->datagrams;
	struct destination *destination =
		address && address_bytes ? destination_of(socket, address) : datagrams->peer;

	if (!destination) {
		if (!address)
			errno = EDESTADDRREQ;
		return -1;
	}
	if (rsocket_wait(socket, POLLOUT, flags))
		return -1;

	uint32_t slot = RECEIVES + datagrams->sends_posted % SENDS;
	uint8_t *bytes = (uint8_t *)slot_bytes(datagrams, slot);
	const struct datagram_header header = {.source = datagrams->name};
	size_t byte_count = gather(bytes + sizeof(header), parts, part_count);

	if (byte_count == SIZE_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	memcpy(bytes, &header, sizeof(header));

	struct ibv_sge sge = {.addr = (uintptr_t)bytes,
			      .length = (uint32_t)(byte_count + sizeof(header)),
			      .lkey = datagrams->mr->lkey};
	struct ibv_send_wr request = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.wr.ud = {.ah = destination->ah,
			  .remote_qpn = destination->qpn,
			  .remote_qkey = destination->qkey},
	};
	struct ibv_send_wr *bad;
	int error = ibv_post_send(datagrams->qp, &request, &bad);

	if (error) {
		errno = error;
		return -1;
	}
	datagrams->sends_posted++;
	return (ssize_t)byte_count;
}

static size_t scatter(const struct iovec *parts, int part_count, const uint8_t *bytes,
		      size_t byte_count)
{
	size_t copied = 0;

	for (int i = 0; i < part_count && copied < byte_count; i++) {
		size_t piece = parts[i].iov_len < byte_count - copied ? parts[i].iov_len
								      : byte_count - copied;

		memcpy(parts[i].iov_base, bytes + copied, piece);
		copied += piece;
	}
	return copied;
}

ssize_t datagrams_receive(struct rsocket *socket, const struct iovec *parts, int part_count,
			  int flags, struct sockaddr *ret_address, socklen_t *address_bytes)
{
	struct rsocket_datagrams *datagrams = socket->datagrams;
	struct datagram_header header;

	if (bind_anywhere(socket, AF_INET) || rsocket_wait(socket, POLLIN, flags))
		return -1;

	uint32_t slot = datagrams->waiting[datagrams->waiting_first].slot;
	const uint8_t *bytes = slot_bytes(datagrams, slot) + GRH_BYTES;
	size_t copied = scatter(parts, part_count, bytes + sizeof(header),
				datagrams->waiting[datagrams->waiting_first].byte_count);

	memcpy(&header, bytes, sizeof(header));
	if (ret_address && address_bytes)
		rsocket_give_name((struct sockaddr *)&header.source, ret_address, address_bytes);
	if (!(flags & MSG_PEEK)) {
		datagrams->waiting_first = (datagrams->waiting_first + 1) % RECEIVES;
		datagrams->waiting_count--;
		(void)!post_receive(datagrams, slot);
	}
	return (ssize_t)copied;
}
