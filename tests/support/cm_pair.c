/* SPDX-License-Identifier: Apache-2.0 */
/* Two connection managers on a virtual clock and a scripted wire. */
#include "support/cm_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "wire/pkey.h"

enum { LIFE_TIME = 14, ACK_TIMEOUT = 15, RESPONSE_TIMEOUT = 18, RETRIES = 3, ROUNDS_MAX = 1000 };

static void take_event(void *context, struct cm_connection *connection,
		       const struct cm_event *event)
{
	struct cm_side *side = context;
	struct cm_seen *seen = &side->events[side->event_count++ % CM_SIDE_EVENTS_MAX];

	*seen = (struct cm_seen){.kind = event->kind,
				 .connection = connection,
				 .reason = event->reason,
				 .vendor_options = event->vendor_options};
	if (event->private_data.byte_count)
		memcpy(seen->private_data, event->private_data.bytes, CM_PRIVATE_KEPT);
}

static void side_init(struct cm_pair *pair, struct cm_side *side, uint64_t ca_guid, uint16_t lid)
{
	const struct cm_options options = {.agent_number = lid,
					   .seed = ca_guid,
					   .ca_guids = &ca_guid,
					   .port_count = 1,
					   .closed_service_grace = MILLISECONDS(100),
					   .event = take_event,
					   .context = side};

	*side = (struct cm_side){.pair = pair, .ca_guid = ca_guid, .lid = lid};
	assert_int_equal(cm_create(&options, &side->cm), 0);
}

void cm_pair_init(struct cm_pair *pair)
{
	pair->now = SECONDS(1);
	side_init(pair, &pair->a, 0xa0, 1);
	side_init(pair, &pair->b, 0xb0, 2);
}

void cm_pair_release(struct cm_pair *pair)
{
	cm_destroy(pair->a.cm);
	cm_destroy(pair->b.cm);
}

void cm_side_lose(struct cm_side *side, unsigned nth)
{
	side->lost[side->lost_count++] = side->sent_count + nth;
}

void cm_side_forget_record(struct cm_side *side)
{
	side->sent[0] = '\0';
}

static bool is_lost(const struct cm_side *side)
{
	for (unsigned index = 0; index < side->lost_count; index++) {
		if (side->lost[index] == side->sent_count)
			return true;
	}
	return false;
}

static bool carry(struct cm_side *from, struct cm_side *to)
{
	struct cm_message message;

	if (cm_transmit(from->cm, from->pair->now, 1, &message) == 0)
		return false;
	from->sent_count++;

	bool was_lost = is_lost(from);
	size_t length = strlen(from->sent);

	snprintf(from->sent + length, sizeof(from->sent) - length, "%s%s%s", length ? " " : "",
		 cm_message_name(get_be16(message.mad.bytes + 16)), was_lost ? "!" : "");
	assert_int_equal(message.mad.address.lid, to->lid);
	assert_int_equal(message.mad.address.qpn, QPN_GSI);
	message.mad.address.lid = from->lid;
	if (!was_lost)
		cm_receive(to->cm, from->pair->now, &message);
	return true;
}

void cm_pair_exchange(struct cm_pair *pair)
{
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		bool any = carry(&pair->a, &pair->b);

		any |= carry(&pair->b, &pair->a);
		if (!any)
			return;
	}
	fail_msg("messages without end");
}

void cm_pair_run_for(struct cm_pair *pair, time_ns duration)
{
	time_ns end = pair->now + duration;

	for (;;) {
		cm_pair_exchange(pair);

		time_ns next = time_earlier(cm_deadline(pair->a.cm), cm_deadline(pair->b.cm));

		if (next > end)
			break;
		pair->now = next > pair->now ? next : pair->now;
	}
	pair->now = end;
}

static struct cm_side *other_side(struct cm_side *side)
{
	return side == &side->pair->a ? &side->pair->b : &side->pair->a;
}

struct cm_connection *cm_side_call(struct cm_side *side, uint64_t service_id, uint32_t qpn)
{
	const struct cm_side *other = other_side(side);
	struct cm_connection *connection;
	const struct cm_call call = {
		.address = {.lid = other->lid, .pkey = PKEY_DEFAULT_FULL},
		.packet_life_time = LIFE_TIME,
		.vendor_options = 0x77,
		.request = {.req = {.service_id = service_id,
				    .local_qpn = qpn,
				    .remote_response_timeout = RESPONSE_TIMEOUT,
				    .local_response_timeout = RESPONSE_TIMEOUT,
				    .max_cm_retries = RETRIES},
			    .primary = {.local_lid = side->lid,
					.remote_lid = other->lid,
					.local_gid_guid = side->ca_guid,
					.remote_gid_guid = other->ca_guid,
					.subnet_local = 1,
					.ack_timeout = ACK_TIMEOUT}},
		.private_data = {(const uint8_t *)"hello", 6},
	};

	assert_int_equal(cm_connect(side->cm, side->pair->now, &call, side, &connection), 0);
	return connection;
}

void cm_side_accept(struct cm_side *side, struct cm_connection *connection, uint32_t qpn)
{
	const struct cm_rep rep = {.local_qpn = qpn};
	const struct cm_private_data private_data = {(const uint8_t *)"welcome", 8};

	cm_connection_set_context(connection, side);
	assert_int_equal(cm_accept(connection, side->pair->now, &rep, 0x88, private_data), 0);
}

void cm_pair_connect(struct cm_pair *pair, struct cm_connection **ret_a,
		     struct cm_connection **ret_b)
{
	static uint32_t qpn = 0x400;
	const struct cm_private_data nothing = {0};
	struct cm_listener *listener;

	if (cm_listen(pair->b.cm, pair->now, CM_SERVICE, UINT64_MAX, NULL, &listener) != 0)
		listener = NULL;
	*ret_a = cm_side_call(&pair->a, CM_SERVICE, ++qpn);
	cm_pair_exchange(pair);
	*ret_b = cm_side_expect(&pair->b, CM_EVENT_REQUEST)->connection;
	cm_side_accept(&pair->b, *ret_b, ++qpn);
	cm_pair_exchange(pair);
	cm_side_expect(&pair->a, CM_EVENT_REPLY);
	assert_int_equal(cm_establish(*ret_a, pair->now, nothing), 0);
	cm_pair_exchange(pair);
	cm_side_expect(&pair->b, CM_EVENT_ESTABLISHED);
	cm_side_forget_record(&pair->a);
	cm_side_forget_record(&pair->b);
}

const struct cm_seen *cm_side_expect(const struct cm_side *side, enum cm_event_kind kind)
{
	assert_true(side->event_count > 0);

	const struct cm_seen *seen = &side->events[(side->event_count - 1) % CM_SIDE_EVENTS_MAX];

	assert_int_equal(seen->kind, kind);
	return seen;
}

void cm_side_expect_sent(const struct cm_side *side, const char *record)
{
	assert_string_equal(side->sent, record);
}

void cm_pair_expect_empty(struct cm_pair *pair)
{
	assert_int_equal(cm_count(pair->a.cm).connections, 0);
	assert_int_equal(cm_count(pair->b.cm).connections, 0);
	assert_int_equal(cm_count(pair->a.cm).orphans, 0);
	assert_int_equal(cm_count(pair->b.cm).orphans, 0);
}
