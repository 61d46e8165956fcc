/* SPDX-License-Identifier: Apache-2.0 */
/* Channels to a controller through librdmacm, and one exchange over each. */
#include "channels.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	BUFFER_BYTES = 1024,
	GRH_BYTES = 40,
	TRIES = 5,
	WAIT_MS = 500,
	/* SRP's information units. */
	LOGIN_BYTES = 64,
	COMMAND_BYTES = 48,
	LOGIN_RESPONSE = 0xc0,
	RESPONSE = 0xc1,
	/* A console's frames: 16 bytes, then text. */
	FRAME_HEADER_BYTES = 16,
};

static const char line[] = "echo figure 20\n";

static bool fail(const char *what)
{
	fprintf(stderr, "softib-address-resolution: %s: %s\n", what, strerror(errno));
	return false;
}

/* An id with a queue pair, whose route is this path: the service ID decides who answers. */
static struct rdma_cm_id *make_id(const struct ibv_path_record *path, uint64_t service_id,
				  enum ibv_qp_type type)
{
	struct ibv_path_data route = {.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY |
					       IBV_PATH_FLAG_BIDIRECTIONAL,
				      .path = *path};
	struct sockaddr_ib from = {.sib_family = AF_IB, .sib_pkey = path->pkey};
	struct sockaddr_ib to = {.sib_family = AF_IB,
				 .sib_pkey = path->pkey,
				 .sib_sid = htobe64(service_id),
				 .sib_sid_mask = htobe64(UINT64_MAX)};
	struct rdma_addrinfo info = {.ai_family = AF_IB,
				     .ai_qp_type = type,
				     .ai_port_space = RDMA_PS_IB,
				     .ai_src_len = sizeof(from),
				     .ai_dst_len = sizeof(to),
				     .ai_src_addr = (struct sockaddr *)&from,
				     .ai_dst_addr = (struct sockaddr *)&to,
				     .ai_route = &route,
				     .ai_route_len = sizeof(route)};
	struct ibv_qp_init_attr attributes = {
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
	struct rdma_cm_id *id;

	memcpy(&from.sib_addr, &path->sgid, sizeof(from.sib_addr));
	memcpy(&to.sib_addr, &path->dgid, sizeof(to.sib_addr));
	return rdma_create_ep(&id, &info, NULL, &attributes) == 0 ? id : NULL;
}

static void put_be64_at(uint8_t *bytes, uint64_t value)
{
	value = htobe64(value);
	memcpy(bytes, &value, sizeof(value));
}

/* Waits a while for a completion of the receive queue. */
static bool wait_for_receive(struct rdma_cm_id *id, struct ibv_wc *ret_completion)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	for (unsigned waited_ms = 0; waited_ms < WAIT_MS; waited_ms++) {
		if (ibv_poll_cq(id->recv_cq, 1, ret_completion) == 1)
			return ret_completion->status == IBV_WC_SUCCESS;
		nanosleep(&moment, NULL);
	}
	return false;
}

/* SRP_LOGIN_REQ is private data of the REQ, SRP_LOGIN_RSP is private data of the REP. */
static bool log_in(struct rdma_cm_id *id, const struct io_service *service,
		   const struct io_profile *profile)
{
	uint8_t login[LOGIN_BYTES] = {[15] = 1, [18] = BUFFER_BYTES >> 8, [25] = 6};
	struct rdma_conn_param parameters = {.private_data = login,
					     .private_data_len = sizeof(login),
					     .responder_resources = 1,
					     .retry_count = 7,
					     .rnr_retry_count = 7};
	const struct rdma_conn_param *answer;

	memcpy(login + 32, "softib resolve\0\1", 16);
	/* The target's name: SRP.T10: and 16 digits, then the controller's GUID. */
	put_be64_at(login + 48, strtoull(service->name + strlen("SRP.T10:"), NULL, 16));
	put_be64_at(login + 56, profile->guid);
	if (rdma_connect(id, &parameters) != 0)
		return fail("CM");
	answer = &id->event->param.conn;
	printf("7. CM: service ID 0x%016llx is queue pair 0x%06x, connected from 0x%06x\n",
	       (unsigned long long)service->id, answer->qp_num, id->qp->qp_num);
	return answer->private_data_len > 0 &&
	       *(const uint8_t *)answer->private_data == LOGIN_RESPONSE;
}

bool exchange_by_connection(const struct ibv_path_record *path, const struct io_service *service,
			    const struct io_profile *profile)
{
	static uint8_t bytes[2 * BUFFER_BYTES];
	uint8_t *command = bytes, *response = bytes + BUFFER_BYTES;
	struct rdma_cm_id *id = make_id(path, service->id, IBV_QPT_RC);
	struct ibv_mr *mr = id ? rdma_reg_msgs(id, bytes, sizeof(bytes)) : NULL;
	struct ibv_wc completion;
	bool is_done = false;

	if (!mr || rdma_post_recv(id, NULL, response, BUFFER_BYTES, mr) != 0)
		return fail("a queue pair");
	if (log_in(id, service, profile)) {
		/* SRP_CMD with the command TEST UNIT READY for logical unit 0. */
		command[0] = 2;
		command[15] = 2;
		if (rdma_post_send(id, NULL, command, COMMAND_BYTES, mr, 0) == 0 &&
		    wait_for_receive(id, &completion) && response[0] == RESPONSE) {
			printf("8. exchange: TEST UNIT READY is answered with SCSI status %u\n",
			       response[19]);
			is_done = true;
		}
		rdma_disconnect(id);
	}
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	return is_done || fail("the target refused");
}

static void write_frame(uint32_t session, uint32_t expected, const char *text, uint8_t *ret_bytes)
{
	size_t text_bytes = strlen(text);

	memset(ret_bytes, 0, FRAME_HEADER_BYTES);
	ret_bytes[0] = 1;		   /* version */
	ret_bytes[1] = text_bytes ? 3 : 0; /* has a number, and ends our direction */
	ret_bytes[3] = (uint8_t)text_bytes;
	session = htobe32(session);
	expected = htobe32(expected);
	memcpy(ret_bytes + 4, &session, 4);
	memcpy(ret_bytes + 12, &expected, 4);
	memcpy(ret_bytes + FRAME_HEADER_BYTES, text, text_bytes);
}

/* Sends the line until its answer comes, and acknowledges the answer. */
static bool exchange_line(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *bytes,
			  struct ibv_ah *ah, uint32_t qpn, uint32_t session)
{
	uint8_t *received = bytes + BUFFER_BYTES, *frame = received + GRH_BYTES;
	struct ibv_wc completion;

	write_frame(session, 0, line, bytes);
	for (unsigned try = 0; try < TRIES; try++) {
		if (rdma_post_ud_send(id, NULL, bytes, FRAME_HEADER_BYTES + strlen(line), mr,
				      IBV_SEND_SIGNALED, ah, qpn) != 0)
			return false;
		while (wait_for_receive(id, &completion)) {
			size_t text_bytes = completion.byte_len - GRH_BYTES - FRAME_HEADER_BYTES;

			/* An acknowledgement without text comes as well. */
			if (completion.byte_len > GRH_BYTES + FRAME_HEADER_BYTES &&
			    frame[3] == text_bytes) {
				printf("8. exchange: \"%.*s\" is answered with \"%.*s\"\n",
				       (int)strlen(line) - 1, line, (int)text_bytes - 1,
				       frame + FRAME_HEADER_BYTES);
				write_frame(session, (frame[1] & 1) ? 1 : 0, "", bytes);
				return rdma_post_ud_send(id, NULL, bytes, FRAME_HEADER_BYTES, mr,
							 IBV_SEND_SIGNALED, ah, qpn) == 0;
			}
			if (rdma_post_recv(id, NULL, received, BUFFER_BYTES, mr) != 0)
				return false;
		}
	}
	errno = ETIMEDOUT;
	return false;
}

bool exchange_by_datagrams(const struct ibv_path_record *path, const struct io_service *service)
{
	static uint8_t bytes[2 * BUFFER_BYTES];
	struct rdma_cm_id *id = make_id(path, service->id, IBV_QPT_UD);
	struct ibv_mr *mr = id ? rdma_reg_msgs(id, bytes, sizeof(bytes)) : NULL;
	const struct rdma_ud_param *answer;
	struct ibv_ah_attr attributes;
	struct ibv_ah *ah;
	uint32_t session;
	bool is_done;

	if (!mr || rdma_post_recv(id, NULL, bytes + BUFFER_BYTES, BUFFER_BYTES, mr) != 0)
		return fail("a queue pair");
	if (rdma_connect(id, NULL) != 0)
		return fail("SIDR");
	answer = &id->event->param.ud;
	attributes = answer->ah_attr;
	if (answer->private_data_len < FRAME_HEADER_BYTES)
		return fail("SIDR");
	memcpy(&session, (const uint8_t *)answer->private_data + 4, sizeof(session));
	printf("7. SIDR: service ID 0x%016llx is queue pair 0x%06x with Q_Key 0x%08x\n",
	       (unsigned long long)service->id, answer->qp_num, answer->qkey);
	ah = ibv_create_ah(id->pd, &attributes);
	if (!ah)
		return fail("an address handle");
	is_done = exchange_line(id, mr, bytes, ah, answer->qp_num, be32toh(session));
	ibv_destroy_ah(ah);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	return is_done || fail("the console");
}
