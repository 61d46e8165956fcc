/* SPDX-License-Identifier: Apache-2.0 */
/* Two switch ports joined by a link, and packets for the first one to send. */
#ifndef SOFTIB_TESTS_UNIT_NET_LINK_PORT_PAIR_H
#define SOFTIB_TESTS_UNIT_NET_LINK_PORT_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "net/link/detail_counters.h"
#include "net/link/frame.h"
#include "net/link/lane_credits.h"
#include "net/link/link.h"
#include "net/link/port_queues.h"

struct pair {
	struct frame_pool pool;
	struct port a, b;
};

static inline void pair_init(struct pair *pair)
{
	memset(pair, 0, sizeof(*pair));
	frame_pool_init(&pair->pool, 1024);
	for (unsigned i = 0; i < 2; i++) {
		struct port *port = i ? &pair->b : &pair->a;

		port->kind = PORT_OF_SWITCH;
		port->info = (struct port_info){
			.link_width_enabled = 2,
			.link_speed_enabled = 4,
			.mtu_cap = 5,
			.vl_cap = 4,
			.link_down_default_state = PHYSICAL_POLLING,
			.vl_arbitration_high_cap = 8,
			.vl_arbitration_low_cap = 8,
			.hoq_life = 20,
		};
		assert_int_equal(port_queues_create(port), 0);
	}
	assert_int_equal(link_connect(&pair->a, &pair->b), 0);
	assert_true(link_train(&pair->a));
	pair->a.info.port_state = PORT_ACTIVE;
	pair->b.info.port_state = PORT_ACTIVE;
}

static inline void pair_release(struct pair *pair)
{
	port_release_details(&pair->a);
	port_release_details(&pair->b);
	port_queues_destroy(&pair->a);
	port_queues_destroy(&pair->b);
	frame_pool_release(&pair->pool);
}

/* Queues a packet of this many blocks at `a`. */
static inline struct frame *put(struct pair *pair, uint8_t vl, uint32_t blocks, time_ns now)
{
	struct frame *frame = frame_take(&pair->pool);

	frame->byte_count = blocks * CREDIT_BLOCK_BYTES - 6;
	frame->vl = vl;
	assert_int_equal(port_enqueue(&pair->a, frame, now), DROP_NONE);
	return frame;
}

#endif
