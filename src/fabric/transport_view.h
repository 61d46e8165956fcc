/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric's port as the queue pairs behind it see it. */
#ifndef SOFTIB_FABRIC_TRANSPORT_VIEW_H
#define SOFTIB_FABRIC_TRANSPORT_VIEW_H

struct port;
struct port_view;

void transport_view_of(const struct port *port, struct port_view *ret_view);

#endif
