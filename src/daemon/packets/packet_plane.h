/* SPDX-License-Identifier: Apache-2.0 */
/* What moves packets between programs and the fabric: the state of ingress, delivery, captures,
 * gateways and injected link faults. */
#ifndef SOFTIB_DAEMON_PACKETS_PACKET_PLANE_H
#define SOFTIB_DAEMON_PACKETS_PACKET_PLANE_H

#include <stdint.h>
#include "base/list.h"
#include "daemon/packets/fault_log.h"
#include "daemon/packets/gateway_sockets.h"

struct cm_fabric;
struct daemon_core;
struct mad_dispatch;
struct sysfs_tree;

struct packet_plane {
	struct daemon_core *core;
	struct mad_dispatch *mads; /* gets the packets of QP0 and QP1 */
	struct cm_fabric *cm;	   /* gets IPoIB packets and port changes */
	struct sysfs_tree *sysfs;  /* shows port changes */
	struct list blocked;	   /* endpoints that hold a packet for a full down ring */
	struct list captures;
	uint32_t capture_count;
	struct gateway_sockets gateways;
	struct fault_log fault_log;
	struct fault_replay fault_replay;
};

void packet_plane_init(struct packet_plane *plane, struct daemon_core *core,
		       struct mad_dispatch *mads, struct cm_fabric *cm, struct sysfs_tree *sysfs);
void packet_plane_release(struct packet_plane *plane);

#endif
