/* SPDX-License-Identifier: Apache-2.0 */
/* Telling programs, connection managers and the sysfs tree what PortInfo says now. */
#ifndef SOFTIB_DAEMON_PACKETS_PORT_UPDATES_H
#define SOFTIB_DAEMON_PACKETS_PORT_UPDATES_H

struct client;
struct packet_plane;

/* Sends the changes since the last call to everybody concerned. */
void port_updates_send(struct packet_plane *plane);
/* Sends a program the state of all ports of an adapter, now and whenever it changes. */
void port_updates_subscribe(struct client *client, unsigned adapter_index);
/* Sends the updates that found no room in the down ring. */
void port_updates_retry(struct client *client);

#endif
