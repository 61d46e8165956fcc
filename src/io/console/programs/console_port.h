/* SPDX-License-Identifier: Apache-2.0 */
/* The datagram queue pair of a console program, on the first port of the host. */
#ifndef SOFTIB_IO_CONSOLE_PROGRAMS_CONSOLE_PORT_H
#define SOFTIB_IO_CONSOLE_PROGRAMS_CONSOLE_PORT_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "io/console/console_frame.h"

enum { CONSOLE_RECEIVES = 256 };

struct console_port {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *bytes; /* of the receives: a GRH and a frame each */
	union ibv_gid gid;
};

/* A frame that came: its bytes are the port's until console_port_give_back(). */
struct console_arrival {
	const uint8_t *bytes;
	size_t byte_count;
	struct ibv_wc completion;
	struct ibv_grh *grh;
};

/* Prints the error and returns -errno. */
MUST_USE int console_port_open(struct console_port *ret_port);
void console_port_close(struct console_port *port);

/* What finds no room in the send queue is lost, as on a link. */
void console_port_send(struct console_port *port, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey,
		       const uint8_t *bytes, size_t byte_count);
/* false: nothing has come. */
MUST_USE bool console_port_receive(struct console_port *port, struct console_arrival *ret_arrival);
void console_port_give_back(struct console_port *port, const struct console_arrival *arrival);

/* Makes channel->fd readable when the next frame comes. Call it before the last
 * console_port_receive() that finds nothing, then sleep. */
void console_port_arm(struct console_port *port);

/* The monotonic clock. */
time_ns console_clock(void);

#endif
