/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls for EE contexts between two programs, one after the other, each with a message over the
 * contexts that it connected:
 *   rd_calls serve SERVICE ROUNDS
 *   rd_calls call GID SERVICE ROUNDS RESPONSE-TIMEOUT TRIES
 * The caller prints the event that it did not want, and its status.
 */
#include "rd_client.h"

static struct rd_side side;

static void take_call(struct softib_cm_id *id)
{
	const struct softib_eec_offer own = rd_offer(&side);
	struct softib_eec *eec = rd_context(&side);

	/* The caller may have given up meanwhile. */
	if (softib_accept_eec(id, eec, &own)) {
		rd_forget(id);
		CHECK_EQUAL(softib_destroy_eec(eec), 0);
	}
}

static void serve(uint64_t service_id, unsigned rounds)
{
	struct softib_cm_id *listener = rd_listen(&side, service_id);

	for (unsigned done = 0; done < rounds;) {
		struct softib_cm_event event = rd_next_event(&side);

		switch (event.type) {
		case SOFTIB_CM_REQUEST:
			take_call(event.id);
			break;
		case SOFTIB_CM_DISCONNECTED:
			done++;
			rd_forget(event.id);
			break;
		case SOFTIB_CM_REJECTED:
		case SOFTIB_CM_UNREACHABLE:
			rd_forget(event.id);
			break;
		case SOFTIB_CM_ESTABLISHED:
		case SOFTIB_CM_ERROR:
		case SOFTIB_CM_TIMEWAIT_EXIT:
		case SOFTIB_CM_ALTERNATE_PATH:
			break;
		}
	}
	CHECK_EQUAL(softib_destroy_cm_id(listener), 0);
	CHECK_EQUAL(softib_destroy_cm_channel(side.channel), 0);
}

static int call(const struct softib_eec_call *to)
{
	const struct softib_eec_offer own = rd_offer(&side);
	struct softib_eec *eec = rd_context(&side);
	struct softib_cm_id *id = softib_connect_eec(side.channel, eec, to, &own, NULL);

	CHECK(id);

	struct softib_cm_event event = rd_next_event(&side);

	if (event.type != SOFTIB_CM_ESTABLISHED) {
		printf("%s %d\n", softib_cm_event_str(event.type), event.status);
		return 2;
	}
	rd_send(&side, &event, eec->eec_num);
	CHECK_EQUAL(softib_disconnect_eec(id), 0);
	CHECK_EQUAL(rd_next_event(&side).type, SOFTIB_CM_DISCONNECTED);
	rd_forget(id);
	return 0;
}

int main(int argc, char **argv)
{
	CHECK(argc > 3);
	rd_open(&side);
	if (!strcmp(argv[1], "serve")) {
		serve(strtoull(argv[2], NULL, 0), (unsigned)strtoul(argv[3], NULL, 0));
		return 0;
	}
	CHECK_EQUAL(argc, 7);

	const struct softib_eec_call to = {
		.dgid = rd_gid(argv[2]),
		.service_id = strtoull(argv[3], NULL, 0),
		.port_num = 1,
		.response_timeout = (uint8_t)strtoul(argv[5], NULL, 0),
		.tries = (uint8_t)strtoul(argv[6], NULL, 0),
	};

	for (unsigned round = 0; round < strtoul(argv[4], NULL, 0); round++) {
		int failed = call(&to);

		if (failed)
			return failed;
	}
	return 0;
}
