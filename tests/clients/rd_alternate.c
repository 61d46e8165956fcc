/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EE contexts that are given an alternate path while they are connected (vol 1, 12.8 and 17.2.8),
 * and lose their first: rd_alternate serve SERVICE rd_alternate call GID SERVICE SECOND-GID The
 * caller asks for the path between the second ports; the connection managers agree on it by LAP and
 * APR, and both contexts are armed without a call of who is called. Prints what the script waits
 * for.
 */
#include <poll.h>
#include <time.h>
#include "rd_client.h"

enum { RNR_HOLD_S = 60 };

static struct rd_side side;

static struct ibv_qp_attr attributes_of(struct softib_eec *eec)
{
	struct ibv_qp_attr attr;

	CHECK_EQUAL(softib_query_eec(eec, &attr, IBV_QP_PATH_MIG_STATE | IBV_QP_ALT_PATH), 0);
	return attr;
}

/* The packets of both sides do it, once both have the path. */
static void await_armed(struct softib_eec *eec)
{
	time_t end = time(NULL) + RNR_HOLD_S;

	while (attributes_of(eec).path_mig_state != IBV_MIG_ARMED)
		CHECK(time(NULL) < end);
	CHECK_EQUAL(attributes_of(eec).alt_ah_attr.port_num, 2);
}

static void await_migration(struct softib_eec *eec)
{
	struct pollfd waiting = {.fd = side.device.context->async_fd, .events = POLLIN};
	struct ibv_async_event event;
	unsigned type;

	do {
		CHECK_EQUAL(poll(&waiting, 1, RNR_HOLD_S * 1000), 1);
		CHECK_EQUAL(ibv_get_async_event(side.device.context, &event), 0);
		type = (unsigned)event.event_type;
		CHECK(type != SOFTIB_EVENT_EEC_PATH_MIG_ERR);
		CHECK(type != SOFTIB_EVENT_EEC_PATH_MIG || softib_event_eec(&event) == eec);
		ibv_ack_async_event(&event);
	} while (type != SOFTIB_EVENT_EEC_PATH_MIG);
	printf("migrated\n");
}

static void await_port_down(void)
{
	time_t end = time(NULL) + RNR_HOLD_S;
	struct ibv_port_attr port;

	do {
		CHECK(time(NULL) < end);
		CHECK_EQUAL(ibv_query_port(side.device.context, 1, &port), 0);
	} while (port.state == IBV_PORT_ACTIVE);
}

static void expect_event(enum softib_cm_event_type type, int status)
{
	struct softib_cm_event event = rd_next_event(&side);

	if (event.type != type || event.status != status)
		printf("%s, %s\n", softib_cm_event_str(event.type), strerror(event.status));
	CHECK_EQUAL(event.type, type);
	CHECK_EQUAL(event.status, status);
}

static void serve(uint64_t service_id)
{
	struct softib_cm_id *listener = rd_listen(&side, service_id);
	struct softib_cm_event request = rd_next_event(&side);
	const struct softib_eec_offer own = rd_offer(&side);
	struct softib_eec *eec = rd_context(&side);

	CHECK_EQUAL(request.type, SOFTIB_CM_REQUEST);
	CHECK_EQUAL(softib_accept_eec(request.id, eec, &own), 0);
	expect_event(SOFTIB_CM_ESTABLISHED, 0);
	expect_status(side.cq, IBV_WC_SUCCESS); /* before there is another path */
	expect_status(side.cq, IBV_WC_SUCCESS); /* arms it */
	await_armed(eec);
	printf("pull\n");
	expect_status(side.cq, IBV_WC_SUCCESS);
	await_migration(eec);
	expect_status(side.cq, IBV_WC_SUCCESS); /* the caller has the answer to the one before */
	rd_forget(request.id);
	CHECK_EQUAL(softib_destroy_cm_id(listener), 0);
}

/* Requests that are refused at once, and requests that the SA or the peer refuses: the context
 * stays as it is. */
static void ask_in_vain(struct softib_cm_id *id, const union ibv_gid *second)
{
	union ibv_gid nobody = *second;

	nobody.raw[15] ^= 0x40;
	CHECK_EQUAL(softib_load_alternate_eec(NULL, 2, second), EINVAL);
	CHECK_EQUAL(softib_load_alternate_eec(id, 2, NULL), EINVAL);
	CHECK_EQUAL(softib_load_alternate_eec(id, 3, second), EINVAL);
	CHECK_EQUAL(softib_load_alternate_eec(id, 2, &nobody), 0);
	expect_event(SOFTIB_CM_ALTERNATE_PATH, EHOSTUNREACH);
	CHECK_EQUAL(attributes_of(id->eec).path_mig_state, IBV_MIG_MIGRATED);
}

static void call(const char *gid, uint64_t service_id, const union ibv_gid *second)
{
	const struct softib_eec_call to = {
		.dgid = rd_gid(gid),
		.service_id = service_id,
		.port_num = 1,
		.ack_timeout = 14, /* 67 ms, so that a path that is gone is soon left */
	};
	const struct softib_eec_offer own = rd_offer(&side);
	struct softib_eec *eec = rd_context(&side);
	struct softib_cm_id *id = softib_connect_eec(side.channel, eec, &to, &own, NULL);

	CHECK(id);
	CHECK_EQUAL(softib_load_alternate_eec(id, 2, second), EINVAL); /* not connected yet */

	struct softib_cm_event answer = rd_next_event(&side);

	CHECK_EQUAL(answer.type, SOFTIB_CM_ESTABLISHED);
	CHECK_EQUAL(attributes_of(eec).timeout, 14);
	rd_send(&side, &answer, eec->eec_num);
	ask_in_vain(id, second);
	CHECK_EQUAL(softib_load_alternate_eec(id, 2, second), 0);
	expect_event(SOFTIB_CM_ALTERNATE_PATH, 0);
	CHECK(attributes_of(eec).path_mig_state != IBV_MIG_MIGRATED);
	rd_send(&side, &answer, eec->eec_num);
	await_armed(eec);
	printf("armed\n");
	await_port_down();
	rd_send(&side, &answer, eec->eec_num);
	await_migration(eec);
	CHECK_EQUAL(attributes_of(eec).path_mig_state, IBV_MIG_MIGRATED);
	rd_send(&side, &answer, eec->eec_num);
	/* The managers' messages go by the first path, so nobody hears of it. */
	rd_forget(id);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	CHECK(argc > 2);
	rd_open(&side);
	if (!strcmp(argv[1], "serve")) {
		serve(strtoull(argv[2], NULL, 0));
	} else {
		CHECK_EQUAL(argc, 5);

		const union ibv_gid second = rd_gid(argv[4]);

		call(argv[2], strtoull(argv[3], NULL, 0), &second);
	}
	CHECK_EQUAL(softib_destroy_cm_channel(side.channel), 0);
	return 0;
}
