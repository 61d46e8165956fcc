/* SPDX-License-Identifier: Apache-2.0 */
/* Registering agents on an open port, by the three register calls that libibumad has. */
#include "api/libibumad/umad_agents.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/umad.h>

#include "runtime/mad_port.h"
#include "wire/rmpp.h"

enum {
	OUI_VERSION = 1,       /* of vendor classes with an OUI */
	OPENIB_OUI = 0x001405, /* if the program names none */
	PORTS_MAX = 4096,
};

/* One bit per agent, indexed by the port's descriptor. softibd checks ports beyond the table. */
static uint32_t registered[PORTS_MAX];

static bool is_in_table(int port)
{
	return port >= 0 && port < PORTS_MAX;
}

bool agent_is_registered(int port, int agent)
{
	if (agent < 0 || agent >= MAD_PORT_AGENTS_MAX)
		return false;
	return !is_in_table(port) ||
	       (__atomic_load_n(&registered[port], __ATOMIC_RELAXED) >> agent & 1);
}

void agents_forget(int port)
{
	if (is_in_table(port))
		__atomic_store_n(&registered[port], 0, __ATOMIC_RELAXED);
}

static int enlist(int port, const struct mad_agent_options *options)
{
	struct mad_agent_identity identity;
	int error = mad_port_register(port, options, &identity);

	if (error)
		return error;
	if (is_in_table(port))
		__atomic_or_fetch(&registered[port], 1u << identity.id, __ATOMIC_RELAXED);
	return (int)identity.id;
}

/* The mask is an array of longs; bit n stands for method n. */
static void copy_methods(const long *mask, uint64_t ret_methods[2])
{
	if (mask)
		memcpy(ret_methods, mask, 2 * sizeof(ret_methods[0]));
}

static bool rmpp_version_is_known(unsigned version)
{
	return version == 0 || version == RMPP_VERSION;
}

/* umad_register and umad_register_oui return only one error. */
static int refuse(int error)
{
	errno = -error;
	return -EPERM;
}

int umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
		  long method_mask[16 / sizeof(long)])
{
	struct mad_agent_options options = {
		.management_class = (uint8_t)mgmt_class,
		.class_version = (uint8_t)mgmt_version,
		.oui = OPENIB_OUI,
		.kind = rmpp_version ? MAD_AGENT_RMPP : MAD_AGENT_SINGLE,
	};

	copy_methods(method_mask, options.methods);
	if (!rmpp_version_is_known(rmpp_version))
		return refuse(-EINVAL);

	int agent = enlist(portid, &options);

	return agent < 0 ? refuse(agent) : agent;
}

int umad_register_oui(int portid, int mgmt_class, uint8_t rmpp_version, uint8_t oui[3],
		      long method_mask[16 / sizeof(long)])
{
	struct mad_agent_options options = {
		.management_class = (uint8_t)mgmt_class,
		.class_version = OUI_VERSION,
		.oui = (uint32_t)oui[0] << 16 | (uint32_t)oui[1] << 8 | oui[2],
		.kind = rmpp_version ? MAD_AGENT_RMPP : MAD_AGENT_SINGLE,
	};

	if (!mad_class_has_oui((unsigned)mgmt_class)) {
		errno = EINVAL;
		return -EINVAL;
	}
	copy_methods(method_mask, options.methods);
	if (!rmpp_version_is_known(rmpp_version))
		return refuse(-EINVAL);

	int agent = enlist(portid, &options);

	return agent < 0 ? refuse(agent) : agent;
}

int umad_register2(int port_fd, struct umad_reg_attr *attr, uint32_t *agent_id)
{
	if (!attr || !agent_id)
		return EINVAL;
	if (attr->flags & ~(uint32_t)UMAD_USER_RMPP) {
		/* Tells the caller which flags are supported. */
		attr->flags = UMAD_USER_RMPP;
		return EINVAL;
	}
	if (!rmpp_version_is_known(attr->rmpp_version))
		return EINVAL;

	struct mad_agent_options options = {
		.management_class = attr->mgmt_class,
		.class_version = attr->mgmt_class_version,
		.oui = attr->oui,
		.methods = {attr->method_mask[0], attr->method_mask[1]},
	};

	if (attr->rmpp_version)
		options.kind = attr->flags & UMAD_USER_RMPP ? MAD_AGENT_USER_RMPP : MAD_AGENT_RMPP;

	int agent = enlist(port_fd, &options);

	if (agent < 0)
		return -agent;
	*agent_id = (uint32_t)agent;
	return 0;
}

int umad_unregister(int portid, int agentid)
{
	int error = agentid < 0 ? -EINVAL : mad_port_unregister(portid, (uint32_t)agentid);

	if (error) {
		errno = -error;
		return -1;
	}
	if (is_in_table(portid))
		__atomic_and_fetch(&registered[portid], ~(1u << agentid), __ATOMIC_RELAXED);
	return 0;
}
