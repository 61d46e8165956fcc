/* SPDX-License-Identifier: Apache-2.0 */
/* Questions by MADs through libibumad: paths from subnet administration, I/O controllers from
 * device management. */
#ifndef SOFTIB_EXAMPLES_RESOLUTION_QUERIES_H
#define SOFTIB_EXAMPLES_RESOLUTION_QUERIES_H

#include <infiniband/sa.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdint.h>

enum { SLOTS_MAX = 255, SERVICE_NAME_BYTES = 40, ID_STRING_BYTES = 64 };

/* Our port, with an agent for each class. */
struct query_port {
	int umad;
	int sa_agent;
	int device_agent;
	union ibv_gid gid;
	uint16_t sm_lid;
	uint8_t sm_sl;
};

struct io_unit {
	unsigned change_id;
	unsigned slot_count;
	bool has_controller[SLOTS_MAX + 1];
};

struct io_profile {
	uint64_t guid;
	unsigned io_class, protocol, service_count;
	char id_string[ID_STRING_BYTES + 1];
};

struct io_service {
	char name[SERVICE_NAME_BYTES + 1];
	uint64_t id;
};

/* All print the error and return false. */
bool query_port_open(struct query_port *port);
/* The path to the port with this GUID; service_id 0: any traffic. */
bool query_path(const struct query_port *port, uint64_t guid, uint64_t service_id,
		struct ibv_path_record *ret_path);
bool query_unit(const struct query_port *port, const struct ibv_path_record *path,
		struct io_unit *ret_unit);
bool query_profile(const struct query_port *port, const struct ibv_path_record *path, unsigned slot,
		   struct io_profile *ret_profile);
/* The first service of the controller. */
bool query_service(const struct query_port *port, const struct ibv_path_record *path, unsigned slot,
		   struct io_service *ret_service);

#endif
