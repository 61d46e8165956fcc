/* SPDX-License-Identifier: Apache-2.0 */
/* The state of everything that moves packets between programs and the fabric. */
#include "daemon/packets/packet_plane.h"

#include <stdlib.h>

void packet_plane_init(struct packet_plane *plane, struct daemon_core *core,
		       struct mad_dispatch *mads, struct cm_fabric *cm, struct sysfs_tree *sysfs)
{
	*plane = (struct packet_plane){.core = core, .mads = mads, .cm = cm, .sysfs = sysfs};
	list_init(&plane->blocked);
	list_init(&plane->captures);
}

void packet_plane_release(struct packet_plane *plane)
{
	gateway_sockets_close(&plane->gateways);
	fault_log_release(&plane->fault_log);
	free(plane->fault_replay.text);
}
