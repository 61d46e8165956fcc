/* SPDX-License-Identifier: Apache-2.0 */
/* The VPD memories of a baseboard (management 6.2). */
#include "mgmt/agents/baseboard_vpd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "net/node/node.h"

static const char *kind_of(const struct node *node)
{
	if (node_is_switch(node))
		return "SWITCH";
	return node_is_router(node) ? "ROUTER" : "CA";
}

void vpd_init_module(struct vpd *vpd, const struct node *node)
{
	*vpd = (struct vpd){0};
	snprintf(vpd->bytes, sizeof(vpd->bytes),
		 "FRU=softib module\nNAME=%s\nPART=SOFTIB-%s\nREVISION=%u\nSERIAL=%016" PRIX64
		 "\nVENDOR=0x%06x\nNODE_GUID=0x%016" PRIx64 "\nPORTS=%u\n",
		 node->description, kind_of(node), node->info.revision, node->info.node_guid,
		 node->info.vendor_id, node->info.node_guid, node->port_count);
}

void vpd_init_chassis(struct vpd *vpd, const struct node *node)
{
	*vpd = (struct vpd){0};
	snprintf(vpd->bytes, sizeof(vpd->bytes),
		 "FRU=softib chassis\nPART=SOFTIB-CHASSIS\nSERIAL=%016" PRIX64
		 "\nVENDOR=0x%06x\nSYSTEM_IMAGE_GUID=0x%016" PRIx64 "\nSLOTS=1\n",
		 node->info.system_image_guid, node->info.vendor_id, node->info.system_image_guid);
}

static enum baseboard_status check(const struct vpd *vpd, time_ns now, size_t offset, size_t count,
				   size_t bytes_max)
{
	if (offset >= VPD_BYTES)
		return BASEBOARD_ILLEGAL_OFFSET;
	if (count == 0 || count > bytes_max || count > VPD_BYTES - offset)
		return BASEBOARD_ILLEGAL_BYTE_COUNT;
	return vpd->busy_until > now ? BASEBOARD_BUSY : BASEBOARD_OK;
}

enum baseboard_status vpd_read(struct vpd *vpd, time_ns now, size_t offset, size_t count,
			       size_t bytes_max, uint8_t *ret_bytes)
{
	enum baseboard_status status = check(vpd, now, offset, count, bytes_max);

	if (status == BASEBOARD_OK)
		memcpy(ret_bytes, vpd->bytes + offset, count);
	return status;
}

enum baseboard_status vpd_write(struct vpd *vpd, time_ns now, size_t offset, size_t count,
				size_t bytes_max, const uint8_t *bytes)
{
	enum baseboard_status status = check(vpd, now, offset, count, bytes_max);

	if (status != BASEBOARD_OK)
		return status;
	if (vpd->is_protected)
		return BASEBOARD_WRITE_PROTECTED;
	memcpy(vpd->bytes + offset, bytes, count);
	vpd->busy_until = now + VPD_WRITE_TIME;
	return BASEBOARD_OK;
}
