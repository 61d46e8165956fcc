/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the adapter and port for a program that names only one of them, or neither. */
#include "api/libibumad/ca_port_choice.h"

#include <errno.h>
#include <string.h>

#include "api/libibumad/umad_sysfs.h"

enum {
	PORT_STATE_ACTIVE = 4,
	PHYSICAL_STATE_LINK_UP = 5,
};

/* rdma-core's header declares it since 56. */
struct umad_ca_pair {
	char smi_name[UMAD_CA_NAME_LEN];
	uint32_t smi_preferred_port;
	char gsi_name[UMAD_CA_NAME_LEN];
	uint32_t gsi_preferred_port;
};

int umad_get_smi_gsi_pairs(struct umad_ca_pair cas[], size_t max);
int umad_get_smi_gsi_pair_by_ca_name(const char *devname, uint8_t portnum,
				     struct umad_ca_pair *ret_pair, unsigned enforce_smi);

enum port_rank {
	RANK_ABSENT,
	RANK_PRESENT,
	RANK_LINK_UP,
	RANK_ACTIVE,
};

static enum port_rank rank_port(const char *ca_name, int port_number)
{
	char text[UMAD_SYSFS_TEXT_BYTES];

	if (umad_sysfs_read_text(text, "infiniband/%s/ports/%d/state", ca_name, port_number))
		return RANK_ABSENT;
	if (umad_sysfs_number(text) == PORT_STATE_ACTIVE)
		return RANK_ACTIVE;
	umad_sysfs_read_text(text, "infiniband/%s/ports/%d/phys_state", ca_name, port_number);
	return umad_sysfs_number(text) == PHYSICAL_STATE_LINK_UP ? RANK_LINK_UP : RANK_PRESENT;
}

/* The best port of one adapter. port_number 0: any port. */
static enum port_rank rank_ca(const char *ca_name, int port_number, int *ret_port_number)
{
	enum port_rank best = RANK_ABSENT;
	int first = port_number; /* only a switch has a port 0 */
	int last = port_number ? port_number : UMAD_CA_MAX_PORTS - 1;

	for (int number = first; number <= last; number++) {
		enum port_rank rank = rank_port(ca_name, number);

		if (rank > best) {
			best = rank;
			*ret_port_number = number;
		}
	}
	return best;
}

int ca_port_choose(const char *ca_name, int *port_number, char ret_ca_name[static UMAD_CA_NAME_LEN])
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN] = {{0}};
	enum port_rank best = RANK_ABSENT;
	int wanted = *port_number;
	int count = umad_get_cas_names(names, UMAD_MAX_DEVICES);

	for (int i = 0; i < count; i++) {
		enum port_rank rank;
		int number;

		if (ca_name && strcmp(ca_name, names[i]) != 0)
			continue;
		rank = rank_ca(names[i], wanted, &number);
		if (rank > best) {
			best = rank;
			*port_number = number;
			memcpy(ret_ca_name, names[i], UMAD_CA_NAME_LEN);
		}
	}
	return best == RANK_ABSENT ? -ENODEV : 0;
}

/* Every port of softib carries SMPs and GMPs, so both halves of a pair name the same adapter. */
static struct umad_ca_pair pair_of(const char ca_name[static UMAD_CA_NAME_LEN], int port_number)
{
	struct umad_ca_pair pair = {
		.smi_preferred_port = (uint32_t)port_number,
		.gsi_preferred_port = (uint32_t)port_number,
	};

	memcpy(pair.smi_name, ca_name, sizeof(pair.smi_name));
	memcpy(pair.gsi_name, ca_name, sizeof(pair.gsi_name));
	return pair;
}

int umad_get_smi_gsi_pairs(struct umad_ca_pair cas[], size_t max)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN] = {{0}};
	int count = umad_get_cas_names(names, UMAD_MAX_DEVICES);
	int pair_count = 0;

	for (int i = 0; i < count && (size_t)pair_count < max; i++) {
		int number;

		if (rank_ca(names[i], 0, &number) != RANK_ABSENT)
			cas[pair_count++] = pair_of(names[i], number);
	}
	return pair_count;
}

int umad_get_smi_gsi_pair_by_ca_name(const char *devname, uint8_t portnum,
				     struct umad_ca_pair *ret_pair, unsigned enforce_smi)
{
	char name[UMAD_CA_NAME_LEN];
	int number = portnum;
	int status = ca_port_choose(devname, &number, name);

	(void)enforce_smi;
	if (status) {
		errno = -status;
		return status;
	}
	*ret_pair = pair_of(name, number);
	return 0;
}
