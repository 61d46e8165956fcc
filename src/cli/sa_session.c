/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to subnet administration from a port of a host, one at a time (management 4). */
#include "cli/sa_session.h"

#include <errno.h>
#include <stdio.h>
#include "wire/pkey.h"

int sa_session_open(const char *user, const char *fabric, const char *host,
		    struct sa_session *ret_session)
{
	const struct mad_agent_options options = {.management_class =
							  MAD_CLASS_SUBNET_ADMINISTRATION,
						  .class_version = SA_CLASS_VERSION};
	struct mad_agent_identity identity;
	struct sa_session session = {.awaited = NULL};
	int error = host_port_open(user, fabric, host, 0, &session.port.host);

	if (error)
		return error;
	error = mad_engine_register(&session.port, &options, &identity);
	if (error) {
		mad_engine_close(&session.port);
		return error;
	}
	*ret_session = session;
	error = sa_client_init(&ret_session->client,
			       &(struct sa_client_options){.agent_number = identity.number});
	if (error)
		mad_engine_close(&ret_session->port);
	return error;
}

void sa_session_close(struct sa_session *session)
{
	sa_client_release(&session->client);
	mad_engine_close(&session->port);
}

static void receive(void *context, time_ns now, const struct mad_message *message)
{
	struct sa_session *session = context;

	sa_client_receive(&session->client, now, message);
}

static unsigned transmit(void *context, time_ns now, unsigned messages_max,
			 struct mad_message ret_messages[])
{
	struct sa_session *session = context;

	return sa_client_transmit(&session->client, now, messages_max, ret_messages);
}

static time_ns deadline(const void *context)
{
	const struct sa_session *session = context;

	return sa_client_deadline(&session->client);
}

static bool is_done(void *context, time_ns now)
{
	struct sa_session *session = context;

	(void)now;
	if (session->awaited && sa_client_take_result(&session->client, session->awaited))
		session->awaited = NULL;
	return !session->awaited;
}

/* Statuses of the class (management 4.2). */
static const char *status_text(uint16_t status)
{
	switch (status) {
	case SA_STATUS_NO_RESOURCES:
		return "NO_RESOURCES";
	case SA_STATUS_REQ_INVALID:
		return "REQ_INVALID";
	case SA_STATUS_NO_RECORDS:
		return "NO_RECORDS";
	case SA_STATUS_TOO_MANY_RECORDS:
		return "TOO_MANY_RECORDS";
	case SA_STATUS_DENIED:
		return "REQ_DENIED";
	default:
		return "unknown status";
	}
}

static int judge(const struct sa_session *session, const struct sa_client_result *result)
{
	const struct host_port *port = &session->port.host;

	switch (result->outcome) {
	case SA_CLIENT_ANSWERED:
		return 0;
	case SA_CLIENT_REFUSED:
		fprintf(stderr, "softib %s: subnet administration refuses: %s (0x%04x)\n",
			port->user, status_text(result->status), result->status);
		return -EACCES;
	case SA_CLIENT_TIMED_OUT:
		fprintf(stderr, "softib %s: subnet administration does not answer %s\n", port->user,
			port->name);
		return -ETIMEDOUT;
	}
	return -EPROTO;
}

int sa_session_ask(struct sa_session *session, enum mad_method method, uint16_t attribute_id,
		   uint64_t component_mask, const uint8_t *data, size_t byte_count,
		   struct sa_client_result *ret_result)
{
	const struct mad_engine engine = {.context = session,
					  .receive = receive,
					  .transmit = transmit,
					  .deadline = deadline,
					  .is_done = is_done,
					  .descriptor = -1};
	const struct mad_purpose purpose = {0};
	uint16_t sa_lid;
	uint8_t sa_sl;
	int error;

	host_port_find_sa(&session->port.host, &sa_lid, &sa_sl);
	sa_client_set_sa(&session->client, sa_lid, sa_sl, PKEY_DEFAULT_FULL);
	if (method == MAD_GET_TABLE)
		error = sa_client_get_table(&session->client, attribute_id, component_mask, data,
					    byte_count, purpose);
	else
		error = sa_client_ask(&session->client, method, attribute_id, component_mask, data,
				      byte_count, purpose);
	if (error)
		return error;
	session->awaited = ret_result;
	error = mad_engine_run(&session->port, &engine);
	if (!error && session->awaited)
		error = -EINTR;
	return error ? error : judge(session, ret_result);
}
