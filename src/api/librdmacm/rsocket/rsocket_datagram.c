/* SPDX-License-Identifier: Apache-2.0 */
/* Datagram rsockets: opening, binding, sending, receiving. */
#include "api/librdmacm/rsocket/rsocket_datagram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAYLOAD_MAX = DATAGRAM_MTU - RSOCKET_DATAGRAM_HEADER_BYTES };

int datagrams_open(struct rsocket *socket)
{
	socket->datagrams = calloc(1, sizeof(*socket->datagrams));
	if (!socket->datagrams)
		return -1;
	socket->datagrams->socket = socket;
	return rdma_create_id(socket->channel, &socket->id, socket, RDMA_PS_UDP);
}

static int datagrams_post_receive(struct rsocket_datagrams *datagrams, uint32_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(datagrams->slots + (size_t)slot * DATAGRAM_SLOT_BYTES),
		.length = DATAGRAM_SLOT_BYTES,
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
		.cap = {.max_send_wr = DATAGRAM_SENDS,
			.max_recv_wr = DATAGRAM_RECEIVES,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	datagrams->pd = ibv_alloc_pd(verbs);
	socket->completions = ibv_create_comp_channel(verbs);
	if (!datagrams->pd || !socket->completions)
		return -1;
	socket->cq = ibv_create_cq(verbs, DATAGRAM_SENDS + DATAGRAM_RECEIVES, socket,
				   socket->completions, 0);
	datagrams->slots = calloc(DATAGRAM_RECEIVES + DATAGRAM_SENDS, DATAGRAM_SLOT_BYTES);
	if (!socket->cq || !datagrams->slots)
		return -1;
	datagrams->mr =
		ibv_reg_mr(datagrams->pd, datagrams->slots,
			   (size_t)(DATAGRAM_RECEIVES + DATAGRAM_SENDS) * DATAGRAM_SLOT_BYTES,
			   IBV_ACCESS_LOCAL_WRITE);
	attributes.send_cq = attributes.recv_cq = socket->cq;
	datagrams->qp = datagrams->mr ? ibv_create_qp(datagrams->pd, &attributes) : NULL;
	if (!datagrams->qp || make_ready(datagrams->qp, port_number))
		return -1;
	for (uint32_t slot = 0; slot < DATAGRAM_RECEIVES; slot++)
		if (datagrams_post_receive(datagrams, slot))
			return -1;
	return 0;
}

/* Opens the device of the local address; for a wildcard address, the host's first. */
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
	return datagram_service_start(datagrams);
}

int datagrams_bind_anywhere(struct rsocket *socket, int family)
{
	struct sockaddr_storage any = {.ss_family = (sa_family_t)family};

	return socket->datagrams->has_name ? 0 : datagrams_bind(socket, (struct sockaddr *)&any);
}

void datagrams_close(struct rsocket *socket)
{
	struct rsocket_datagrams *datagrams = socket->datagrams;

	datagram_service_stop(datagrams);
	destinations_forget(datagrams);
	if (datagrams->qp)
		ibv_destroy_qp(datagrams->qp);
	if (datagrams->mr)
		ibv_dereg_mr(datagrams->mr);
	free(datagrams->slots);
	rsocket_release_completions(socket);
	if (datagrams->pd)
		ibv_dealloc_pd(datagrams->pd);
	free(datagrams);
	socket->datagrams = NULL;
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

static const uint8_t *slot_bytes(const struct rsocket_datagrams *datagrams, uint32_t slot)
{
	return datagrams->slots + (size_t)slot * DATAGRAM_SLOT_BYTES;
}

static void take_datagram(struct rsocket_datagrams *datagrams, const struct ibv_wc *completion)
{
	uint32_t slot = (uint32_t)completion->wr_id;
	struct sockaddr_storage source;

	if (completion->byte_len < DATAGRAM_GRH_BYTES ||
	    !rsocket_datagram_header_decode(slot_bytes(datagrams, slot) + DATAGRAM_GRH_BYTES,
					    completion->byte_len - DATAGRAM_GRH_BYTES, &source)) {
		(void)!datagrams_post_receive(datagrams, slot);
		return;
	}
	/* Remember the sender, so that a reply needs no SIDR exchange. */
	if (!destination_find(datagrams, (struct sockaddr *)&source)) {
		struct ibv_wc copy = *completion;

		destination_remember(datagrams, (struct sockaddr *)&source,
				     ibv_create_ah_from_wc(datagrams->pd, &copy,
							   (void *)slot_bytes(datagrams, slot), 1),
				     completion->src_qp, RDMA_UDP_QKEY);
	}

	unsigned place =
		(datagrams->waiting_first + datagrams->waiting_count++) % DATAGRAM_RECEIVES;

	datagrams->waiting[place].slot = slot;
	datagrams->waiting[place].byte_count =
		completion->byte_len - DATAGRAM_GRH_BYTES - RSOCKET_DATAGRAM_HEADER_BYTES;
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
	if (datagrams->sends_posted - datagrams->sends_completed < DATAGRAM_SENDS)
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

	uint32_t slot = DATAGRAM_RECEIVES + datagrams->sends_posted % DATAGRAM_SENDS;
	uint8_t *bytes = (uint8_t *)slot_bytes(datagrams, slot);
	size_t byte_count = gather(bytes + RSOCKET_DATAGRAM_HEADER_BYTES, parts, part_count);

	if (byte_count == SIZE_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	rsocket_datagram_header_encode(&datagrams->name, bytes);

	struct ibv_sge sge = {.addr = (uintptr_t)bytes,
			      .length = (uint32_t)byte_count + RSOCKET_DATAGRAM_HEADER_BYTES,
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
	struct sockaddr_storage source;

	if (datagrams_bind_anywhere(socket, AF_INET) || rsocket_wait(socket, POLLIN, flags))
		return -1;

	uint32_t slot = datagrams->waiting[datagrams->waiting_first].slot;
	const uint8_t *bytes = slot_bytes(datagrams, slot) + DATAGRAM_GRH_BYTES;
	size_t copied = scatter(parts, part_count, bytes + RSOCKET_DATAGRAM_HEADER_BYTES,
				datagrams->waiting[datagrams->waiting_first].byte_count);

	memcpy(&source, bytes, sizeof(source));
	if (ret_address && address_bytes)
		rsocket_give_name((struct sockaddr *)&source, ret_address, address_bytes);
	if (!(flags & MSG_PEEK)) {
		datagrams->waiting_first = (datagrams->waiting_first + 1) % DATAGRAM_RECEIVES;
		datagrams->waiting_count--;
		(void)!datagrams_post_receive(datagrams, slot);
	}
	return (ssize_t)copied;
}
