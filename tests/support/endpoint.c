/* SPDX-License-Identifier: Apache-2.0 */
/* One queue pair with all objects of an adapter that it needs, for tests. */
#include "support/endpoint.h"

#include <assert.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/random.h"
#include "wire/mtu.h"
#include "wire/pkey.h"

static struct endpoint *endpoint_of(struct qp *qp)
{
	return container_of(qp, struct endpoint, qp);
}

static struct completion_list *list_of(struct endpoint *endpoint, unsigned side)
{
	return side == SIDE_SEND ? &endpoint->sent : &endpoint->received;
}

static bool collect(struct qp *qp, enum queue_side side, const struct completion *completion)
{
	struct endpoint *endpoint = endpoint_of(qp);
	struct completion_list *list = list_of(endpoint, side);

	if (list->room == 0)
		return false;
	if (list->room != UINT_MAX)
		list->room--;
	assert_true(list->count < ENDPOINT_COMPLETIONS);
	list->entries[list->count++] = *completion;
	return true;
}

static void collect_event(struct qp *qp, enum qp_event event)
{
	struct endpoint *endpoint = endpoint_of(qp);

	assert_true(endpoint->event_count < ENDPOINT_EVENTS);
	endpoint->events[endpoint->event_count++] = event;
}

static void count_taken(struct qp *qp)
{
	endpoint_of(qp)->shared_taken++;
}

static struct receive_queue *find_xrc_queue(const struct qp *qp, uint32_t srqn)
{
	const struct endpoint *endpoint = container_of(qp, const struct endpoint, qp);

	return srqn < ENDPOINT_XRC_QUEUES ? endpoint->xrc_queues[srqn] : NULL;
}

struct endpoint_options endpoint_options_default(enum qp_type type)
{
	return (struct endpoint_options){
		.type = type,
		.mtu_code = MTU_256,
		.send_requests_max = 64,
		.receive_requests_max = 64,
		.timeout = 14,
		.retry_count = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 12,
		.initiator_depth = 4,
		.responder_resources = 4,
		.access = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
			  ACCESS_REMOTE_ATOMIC,
		.signal_all = true,
	};
}

static void area_init(struct area *area, struct endpoint *endpoint, uint32_t access)
{
	area->bytes = calloc(1, AREA_BYTES);
	area->used = 0;
	assert_non_null(area->bytes);
	assert_int_equal(region_register(&endpoint->memory, &endpoint->pd, area->bytes, AREA_BYTES,
					 (uintptr_t)area->bytes, access, &area->region),
			 0);
}

static void port_init(struct port_view *port, uint16_t lid, unsigned mtu_code)
{
	*port = (struct port_view){
		.number = 1,
		.state = 4,
		.mtu_code = (uint8_t)mtu_code,
		.lid = lid,
		.gid_prefix = GID_PREFIX_LINK_LOCAL,
		.guid = lid,
		.pkey_count = PORT_PKEYS_MAX,
		.gid_count = PORT_GIDS_MAX,
	};
	port->pkeys[0] = PKEY_DEFAULT_FULL;
	port->gids[0] = gid_from(GID_PREFIX_LINK_LOCAL, lid);
}

void endpoint_init(struct endpoint *endpoint, const struct endpoint_options *options, uint16_t lid)
{
	bool is_target = options->type == QP_XRC_TGT;
	struct qp_capabilities capabilities = {
		.send_requests_max = options->send_requests_max,
		.receive_requests_max = options->receive_requests_max,
		.send_sges_max = 4,
		.receive_sges_max = 4,
		.inline_bytes_max = 256,
	};

	*endpoint = (struct endpoint){.options = *options};
	memory_init(&endpoint->memory, 1000);
	timer_queue_init(&endpoint->timers);
	assert_int_equal(timer_queue_reserve(&endpoint->timers, 1), 0);
	endpoint->environment = (struct qp_environment){
		.epoch = 1,
		.memory = &endpoint->memory,
		.timers = &endpoint->timers,
		.complete = collect,
		.event = collect_event,
		.shared_receive_taken = count_taken,
		.find_xrc_queue = find_xrc_queue,
		.xrc_sges_max = ENDPOINT_XRC_SGES,
	};
	endpoint->memory.epoch = &endpoint->environment.epoch;
	endpoint->sent.room = UINT_MAX;
	endpoint->received.room = UINT_MAX;
	bool is_datagram = options->type == QP_UD || qp_type_is_raw(options->type);

	port_init(&endpoint->port, lid, is_datagram ? options->mtu_code : MTU_4096);
	endpoint->second_port = endpoint->port;
	endpoint->second_port.number = 2;
	endpoint->second_port.lid = (uint16_t)(lid + ENDPOINT_SECOND_LID);
	endpoint->second_port.gids[0] = gid_from(GID_PREFIX_LINK_LOCAL, lid + ENDPOINT_SECOND_LID);
	endpoint->ports[0] = &endpoint->port;
	endpoint->ports[1] = &endpoint->second_port;
	endpoint->port_count = 1;
	area_init(&endpoint->outbox, endpoint, ACCESS_LOCAL_WRITE);
	area_init(&endpoint->inbox, endpoint, ACCESS_LOCAL_WRITE);
	area_init(&endpoint->window, endpoint,
		  ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
			  ACCESS_REMOTE_ATOMIC);
	if (options->type == QP_XRC_INI)
		capabilities.receive_requests_max = 0;
	if (is_target)
		capabilities = (struct qp_capabilities){0};
	assert_int_equal(qp_init(&endpoint->qp, &endpoint->environment, options->type, 0x100u + lid,
				 is_target ? NULL : &endpoint->pd, &capabilities,
				 options->shared_queue, options->signal_all),
			 0);
}

static_assert((ENDPOINT_COMPLETIONS & (ENDPOINT_COMPLETIONS - 1)) == 0, "a ring's slots");

void endpoint_give_rings(struct endpoint *endpoint)
{
	for (unsigned side = 0; side < 2; side++) {
		endpoint->rings[side] = (struct completion_ring){
			.slots = list_of(endpoint, side)->entries,
			.slot_count = ENDPOINT_COMPLETIONS,
			.capacity = ENDPOINT_COMPLETIONS,
		};
		endpoint->qp.completions[side] = &endpoint->rings[side];
	}
}

/* The completions are in the ring or in the list; the longer of the two counts. */
void endpoint_count_completions(struct endpoint *endpoint)
{
	for (unsigned side = 0; side < 2; side++) {
		struct completion_ring *ring = &endpoint->rings[side];
		struct completion_list *list = list_of(endpoint, side);

		if (ring->tail > list->count)
			list->count = ring->tail;
		ring->tail = list->count;
	}
}

void endpoint_release(struct endpoint *endpoint)
{
	qp_release(&endpoint->qp);
	memory_release(&endpoint->memory);
	timer_queue_release(&endpoint->timers);
	free(endpoint->outbox.bytes);
	free(endpoint->inbox.bytes);
	free(endpoint->window.bytes);
}

struct qp_ports endpoint_ports(struct endpoint *endpoint)
{
	return (struct qp_ports){
		.views = endpoint->ports,
		.count = endpoint->port_count,
		.initiator_depth_max = 16,
		.responder_resources_max = 16,
	};
}

int endpoint_modify(struct endpoint *endpoint, time_ns now, const struct qp_attributes *attributes,
		    uint32_t mask)
{
	struct qp_ports ports = endpoint_ports(endpoint);

	return qp_modify(&endpoint->qp, now, &ports, attributes, mask);
}

int endpoint_set_state(struct endpoint *endpoint, time_ns now, enum qp_state state)
{
	struct qp_attributes attributes = {.state = state};

	return endpoint_modify(endpoint, now, &attributes, QP_HAS_STATE);
}

void endpoint_to_init(struct endpoint *endpoint)
{
	struct qp_attributes attributes = {
		.state = QP_INIT,
		.access = endpoint->options.access,
		.port_number = 1,
		.qkey = 0x11111111,
	};
	uint32_t mask = QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT |
			(uint32_t)(endpoint->options.type == QP_UD ? QP_HAS_QKEY : QP_HAS_ACCESS);

	if (qp_type_is_raw(endpoint->options.type))
		mask = QP_HAS_STATE | QP_HAS_PORT;
	assert_int_equal(endpoint_modify(endpoint, 0, &attributes, mask), 0);
}

void endpoint_to_rtr(struct endpoint *endpoint, const struct endpoint *peer)
{
	const struct endpoint_options *options = &endpoint->options;
	struct qp_attributes attributes = {
		.state = QP_RTR,
		.address = {.dlid = peer->port.lid,
			    .port_number = 1,
			    .is_global = options->is_global,
			    .dgid = peer->port.gids[0],
			    .hop_limit = 1},
		.path_mtu_code = (uint8_t)options->mtu_code,
		.destination_qpn = peer->qp.qpn,
		.rq_psn = psn_from(options->rq_psn),
		.responder_resources = options->responder_resources,
		.min_rnr_timer = options->min_rnr_timer,
	};
	uint32_t mask = QP_HAS_STATE;

	if (options->type != QP_UD && !qp_type_is_raw(options->type))
		mask |= QP_HAS_ADDRESS | QP_HAS_PATH_MTU | QP_HAS_DESTINATION_QPN | QP_HAS_RQ_PSN;
	if (options->type == QP_RC || options->type == QP_XRC_TGT)
		mask |= QP_HAS_RESPONDER_RESOURCES | QP_HAS_MIN_RNR_TIMER;
	endpoint->peer_lid = peer->port.lid;
	endpoint->peer_qpn = peer->qp.qpn;
	endpoint->peer_gid = peer->port.gids[0];
	assert_int_equal(endpoint_modify(endpoint, 0, &attributes, mask), 0);
}

void endpoint_to_rts(struct endpoint *endpoint)
{
	const struct endpoint_options *options = &endpoint->options;
	struct qp_attributes attributes = {
		.state = QP_RTS,
		.sq_psn = psn_from(options->sq_psn),
		.timeout = options->timeout,
		.retry_count = options->retry_count,
		.rnr_retry = options->rnr_retry,
		.initiator_depth = options->initiator_depth,
	};
	uint32_t mask = QP_HAS_STATE | QP_HAS_SQ_PSN;

	if (options->type == QP_XRC_TGT)
		mask |= QP_HAS_TIMEOUT;
	if (options->type == QP_RC || options->type == QP_XRC_INI)
		mask |= QP_HAS_TIMEOUT | QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY |
			QP_HAS_INITIATOR_DEPTH;
	assert_int_equal(endpoint_modify(endpoint, 0, &attributes, mask), 0);
}

void endpoints_to_rts(struct endpoint *a, struct endpoint *b,
		      const struct endpoint_options *options)
{
	struct endpoint *ends[] = {a, b};

	endpoint_init(a, options, 1);
	endpoint_init(b, options, 2);
	for (unsigned i = 0; i < 2; i++) {
		endpoint_to_init(ends[i]);
		endpoint_to_rtr(ends[i], ends[1 - i]);
		endpoint_to_rts(ends[i]);
	}
}

uint8_t *area_take(struct area *area, uint32_t byte_count)
{
	/* Round robin, 64 bytes apart, so that a byte too many is detected. */
	uint32_t taken = (byte_count + 127) & ~63u;

	assert_true(taken <= AREA_BYTES);
	if (area->used + taken > AREA_BYTES)
		area->used = 0;

	uint8_t *bytes = area->bytes + area->used;

	area->used += taken;
	for (uint32_t i = 0; i < byte_count; i++)
		bytes[i] = 0;
	return bytes;
}

struct sge area_sge(const struct area *area, const void *bytes, uint32_t byte_count)
{
	return (struct sge){
		.address = (uintptr_t)bytes,
		.byte_count = byte_count,
		.lkey = area->region->key,
	};
}

void fill_pattern(uint8_t *bytes, uint32_t byte_count, uint32_t seed)
{
	struct random random = random_seeded(seed);

	for (uint32_t i = 0; i < byte_count; i++)
		bytes[i] = (uint8_t)random_next(&random);
}

void expect_event(struct endpoint *endpoint, enum qp_event event)
{
	assert_true(endpoint->event_count > 0);
	assert_int_equal(endpoint->events[0], event);
	endpoint->event_count--;
	for (unsigned i = 0; i < endpoint->event_count; i++)
		endpoint->events[i] = endpoint->events[i + 1];
}

void expect_no_event(const struct endpoint *endpoint)
{
	assert_int_equal(endpoint->event_count, 0);
}
