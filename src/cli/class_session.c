/* SPDX-License-Identifier: Apache-2.0 */
/* A class_client of mgmt/sa on a port of a host. */
#include "cli/class_session.h"

#include "wire/pkey.h"
#include "wire/sa_mad.h"
#include "wire/smp.h"

static bool own_pkey(void *context, uint16_t pkey, uint16_t *ret_own)
{
	return host_port_own_pkey(context, pkey, ret_own);
}

void class_session_fill(struct mad_engine_port *port, uint32_t agent_number,
			uint32_t sa_agent_number, struct class_client_options *ret_options)
{
	*ret_options = (struct class_client_options){.agent_number = agent_number,
						     .sa_agent_number = sa_agent_number,
						     .own_pkey = own_pkey,
						     .context = &port->host};
}

int class_session_register(struct mad_engine_port *port, const struct mad_agent_options *agent,
			   struct class_client_options *ret_options)
{
	const struct mad_agent_options administration = {.management_class =
								 MAD_CLASS_SUBNET_ADMINISTRATION,
							 .class_version = SA_CLASS_VERSION};
	struct mad_agent_identity identity, sa_identity;
	int error = mad_engine_register(port, agent, &identity);

	if (!error)
		error = mad_engine_register(port, &administration, &sa_identity);
	if (!error)
		class_session_fill(port, identity.number, sa_identity.number, ret_options);
	return error;
}

uint16_t class_session_set_port(const struct mad_engine_port *port, struct class_client *client)
{
	struct gid gid = host_port_gid(&port->host);
	uint16_t pkey, sm_lid;
	uint8_t sm_sl;

	if (!host_port_own_pkey(&port->host, PKEY_DEFAULT_FULL, &pkey))
		pkey = PKEY_DEFAULT_FULL;
	host_port_find_sa(&port->host, &sm_lid, &sm_sl);
	sa_client_set_sa(&client->sa, sm_lid, sm_sl, pkey);
	sa_client_set_own_gid(&client->sa, &gid);
	return pkey;
}
