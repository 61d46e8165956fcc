/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: a connection manager that gets any bytes as messages, in all its states. Its own
 * messages are well formed, and nothing is left when its programs exit. */
#include "fuzz/fuzz.h"

#include <errno.h>
#include <string.h>
#include "mgmt/cm/cm.h"
#include "wire/pkey.h"
#include "wire/sa_records.h"

enum { PROGRAMS_MAX = 64, SERVICE = 7, CHUNK_BYTES = 64 };

static struct cm_connection *owned[PROGRAMS_MAX];
static unsigned owned_count;
static time_ns now;

static void keep(struct cm_connection *connection)
{
	if (owned_count == PROGRAMS_MAX)
		cm_release(owned[--owned_count], now);
	owned[owned_count++] = connection;
}

/* A redirected call goes on, at most a few times, to any address that the peer names. */
static void follow(struct cm_connection *connection, const struct cm_event *event)
{
	const struct path_record path = {.dlid = 9};
	struct cm_place place = {.path_mtu = 4};
	struct cm_redirection redirection;

	if (!cm_redirection_read(event, &redirection) ||
	    !cm_redirection_address(&redirection, &path, &place.address))
		return;

	int status = cm_call_elsewhere(connection, now, &place);

	MUST_HOLD(status == 0 || status == -ELOOP || status == -EINVAL);
}

static void take_event(void *context, struct cm_connection *connection,
		       const struct cm_event *event)
{
	const struct cm_private_data nothing = {0};
	const struct cm_rep rep = {.local_qpn = 5};
	int status = 0;

	(void)context;
	switch (event->kind) {
	case CM_EVENT_REQUEST:
		keep(connection);
		status = cm_accept(connection, now, &rep, 0, nothing);
		break;
	case CM_EVENT_SIDR_REQUEST:
		keep(connection);
		break;
	case CM_EVENT_REPLY:
		status = cm_establish(connection, now, nothing);
		break;
	case CM_EVENT_DISCONNECTED:
		status = cm_disconnect(connection, now, nothing);
		break;
	case CM_EVENT_ALTERNATE_PATH:
		status = cm_answer_alternate(connection, now, CM_APR_REJECTED, nothing);
		break;
	case CM_EVENT_REJECTED:
	case CM_EVENT_SIDR_REPLY:
		follow(connection, event);
		break;
	case CM_EVENT_ESTABLISHED:
	case CM_EVENT_UNREACHABLE:
	case CM_EVENT_DISCONNECT_DONE:
	case CM_EVENT_TIMEWAIT_EXIT:
	case CM_EVENT_ALTERNATE_ANSWER:
	case CM_EVENT_ALTERNATE_UNREACHABLE:
	case CM_EVENT_SIDR_UNREACHABLE:
		break;
	}
	MUST_HOLD(status == 0);
}

/* A sent message may come back, changed by the input, so that its ids exist. */
static struct cm_message last;

static void drain(struct cm *cm)
{
	struct cm_message message;

	while (cm_transmit(cm, now, 1, &message)) {
		MUST_HOLD(message.mad.bytes[1] == MAD_CLASS_COMMUNICATION);
		MUST_HOLD(message.mad.address.qpn != 0);
		last = message;
	}
}

static void feed(struct cm *cm, const uint8_t *bytes, size_t byte_count)
{
	struct cm_message message = last;

	if (bytes[0] & 1)
		memset(message.mad.bytes, 0, MAD_BYTES);
	message.mad.bytes[0] = 1;
	message.mad.bytes[1] = MAD_CLASS_COMMUNICATION;
	message.mad.bytes[2] = CM_CLASS_VERSION;
	message.mad.bytes[3] = MAD_SEND;
	message.mad.bytes[17] = (uint8_t)(0x10 + bytes[0] / 2 % 12);
	/* A reply has local and remote id exchanged. */
	if (bytes[0] & 0x80) {
		uint8_t id[4];

		memcpy(id, message.mad.bytes + CM_DATA_OFFSET, 4);
		memmove(message.mad.bytes + CM_DATA_OFFSET, message.mad.bytes + CM_DATA_OFFSET + 4,
			4);
		memcpy(message.mad.bytes + CM_DATA_OFFSET + 4, id, 4);
	}
	for (size_t index = 1; index + 1 < byte_count; index += 2)
		message.mad.bytes[CM_DATA_OFFSET + bytes[index] % CM_DATA_BYTES] = bytes[index + 1];
	cm_receive(cm, now, &message);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	const uint64_t guid = 1;
	const struct cm_options options = {
		.ca_guids = &guid, .port_count = 1, .event = take_event, .seed = 1};
	const struct cm_call call = {.request = {.req = {.local_qpn = 9, .max_cm_retries = 1}}};
	struct cm_connection *connection;
	struct cm_listener *listener;
	struct cm *cm;

	now = 1;
	owned_count = 0;
	memset(&last, 0, sizeof(last));
	if (cm_create(&options, &cm) != 0)
		return 0;
	MUST_HOLD(cm_listen(cm, now, 0, 0, NULL, &listener) == 0);
	MUST_HOLD(cm_connect(cm, now, &call, NULL, &connection) == 0);
	keep(connection);
	drain(cm);
	for (size_t start = 0; start < byte_count; start += CHUNK_BYTES) {
		size_t count = byte_count - start < CHUNK_BYTES ? byte_count - start : CHUNK_BYTES;

		feed(cm, bytes + start, count);
		now += (time_ns)bytes[start] << 20;
		drain(cm);
	}
	while (owned_count)
		cm_release(owned[--owned_count], now);
	for (unsigned round = 0; round < 10000 && cm_deadline(cm) != TIME_NEVER; round++) {
		now = cm_deadline(cm) > now ? cm_deadline(cm) : now;
		drain(cm);
	}
	MUST_HOLD(cm_count(cm).connections == 0);
	MUST_HOLD(cm_count(cm).orphans == 0);
	cm_destroy(cm);
	return 0;
}
