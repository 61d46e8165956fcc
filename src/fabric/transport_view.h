/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric's port as the transport sees it: the state, LIDs and tables that queue pairs use. */
#ifndef SOFTIB_FABRIC_TRANSPORT_VIEW_H
#define SOFTIB_FABRIC_TRANSPORT_VIEW_H

struct port;
struct port_view;

void transport_view_of(const struct port *port, struct port_view *ret_view);

#endif
