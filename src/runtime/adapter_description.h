/* SPDX-License-Identifier: Apache-2.0 */
/* An adapter of this program's host as softibd describes it before the adapter is opened. */
#ifndef SOFTIB_RUNTIME_ADAPTER_DESCRIPTION_H
#define SOFTIB_RUNTIME_ADAPTER_DESCRIPTION_H

#include <stdint.h>

enum { SESSION_ADAPTERS_MAX = 32, SESSION_NAME_BYTES = 64, SESSION_PATH_BYTES = 256 };

struct adapter_description {
	char name[20];			       /* softib0 */
	char device_name[20];		       /* uverbs0 */
	char device_path[SESSION_PATH_BYTES];  /* <tree>/sys/class/infiniband_verbs/uverbs0 */
	char adapter_path[SESSION_PATH_BYTES]; /* <tree>/sys/class/infiniband/softib0 */
	uint64_t node_guid;
	uint64_t system_image_guid;
	uint32_t index; /* of the adapter on this host */
	uint32_t port_count;
};

#endif
