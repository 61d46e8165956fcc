/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric's port as an adapter's queue pairs see it. */
#ifndef SOFTIB_SIM_PORT_VIEWS_H
#define SOFTIB_SIM_PORT_VIEWS_H

struct port;
struct port_view;

void port_view_read(const struct port *port, struct port_view *ret_view);

#endif
