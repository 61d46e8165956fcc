/* SPDX-License-Identifier: Apache-2.0 */
/* Classes that a port redirects, the rate of its GSI, and the responses that say so (management
 * 1.4, 1.6). */
#include "mgmt/agents/redirects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/agents/call_redirects.h"
#include "mgmt/mad/redirect.h"
#include "mgmt/mad/smp_request.h"
#include "net/node/node.h"
#include "wire/rmpp.h"
#include "wire/smp.h"

/* How many requests the GSI of a port takes. */
struct gsi_rate {
	struct list link; /* in the agents' memory */
	const struct port *port;
	time_ns interval; /* between two requests, on average */
	time_ns next_at;  /* when the next request is due if all come at this rate */
};

static struct redirect *redirect_of(struct list *link)
{
	return container_of(link, struct redirect, link);
}

static struct gsi_rate *rate_of(struct list *link)
{
	return container_of(link, struct gsi_rate, link);
}

static struct redirect *find(const struct agent_memory *memory, const struct port *port,
			     uint8_t management_class)
{
	list_for_each (link, &memory->redirects) {
		struct redirect *redirect = redirect_of(link);

		if (redirect->port == port && redirect->management_class == management_class)
			return redirect;
	}
	return NULL;
}

static struct gsi_rate *find_rate(const struct agent_memory *memory, const struct port *port)
{
	list_for_each (link, &memory->gsi_rates) {
		if (rate_of(link)->port == port)
			return rate_of(link);
	}
	return NULL;
}

int redirect_set(struct agent_memory *memory, const struct redirect *redirect)
{
	struct redirect *own = find(memory, redirect->port, redirect->management_class);

	if (!own) {
		own = calloc(1, sizeof(*own));
		if (!own)
			return -ENOMEM;
		own->port = redirect->port;
		own->management_class = redirect->management_class;
		list_append(&memory->redirects, &own->link);
	}
	own->condition = redirect->condition;
	own->scope = redirect->scope;
	own->place = redirect->place;
	own->place.base_version = MAD_BASE_VERSION;
	own->place.resp_time_value = CLASS_PORT_INFO_RESP_TIME_USUAL;
	return 0;
}

static void end(struct redirect *redirect)
{
	list_remove(&redirect->link);
	free(redirect);
}

bool redirect_end(struct agent_memory *memory, const struct port *port, uint8_t management_class)
{
	struct redirect *redirect = find(memory, port, management_class);

	if (redirect)
		end(redirect);
	return redirect;
}

const struct redirect *redirect_next(const struct agent_memory *memory,
				     const struct redirect *previous)
{
	const struct list *link = previous ? &previous->link : &memory->redirects;

	return link->next == &memory->redirects ? NULL : redirect_of(link->next);
}

static void end_rate(struct gsi_rate *rate)
{
	list_remove(&rate->link);
	free(rate);
}

int gsi_rate_set(struct agent_memory *memory, const struct port *port, uint32_t requests_per_s)
{
	struct gsi_rate *rate = find_rate(memory, port);

	if (!requests_per_s) {
		if (rate)
			end_rate(rate);
		return 0;
	}
	if (!rate) {
		rate = calloc(1, sizeof(*rate));
		if (!rate)
			return -ENOMEM;
		rate->port = port;
		list_append(&memory->gsi_rates, &rate->link);
	}
	rate->interval = SECONDS(1) / requests_per_s;
	rate->next_at = 0;
	return 0;
}

/* A port that was idle for a second takes the requests of a second at once. */
static bool is_busy(const struct agent_memory *memory, const struct port *port, time_ns now)
{
	struct gsi_rate *rate = find_rate(memory, port);

	if (!rate)
		return false;
	if (now >= SECONDS(1) && rate->next_at < now - SECONDS(1))
		rate->next_at = now - SECONDS(1);
	if (rate->next_at > now)
		return true;
	rate->next_at += rate->interval;
	return false;
}

/* A request that gets a response. A transfer that has begun is not redirected: only its first
 * segment is a request. */
static bool is_request(const struct mad_message *message)
{
	const uint8_t *mad = message->bytes;
	uint8_t method = mad[MAD_METHOD_OFFSET];
	struct rmpp_header rmpp;

	if (method & MAD_RESPONSE || method == MAD_SEND || method == MAD_TRAP ||
	    method == MAD_TRAP_REPRESS || mad[MAD_CLASS_OFFSET] == MAD_CLASS_SUBNET_LID ||
	    mad[MAD_CLASS_OFFSET] == MAD_CLASS_SUBNET_DIRECTED)
		return false;
	if (!rmpp_mad_is_active(mad))
		return true;
	rmpp_header_decode(mad, &rmpp);
	return rmpp.type == RMPP_TYPE_DATA && rmpp.segment_number == 1;
}

/* Get(ClassPortInfo) returns the redirect target without an error. Any other request gets the
 * redirect status with a ClassPortInfo (management 1.6). */
static void answer_redirect(const struct redirect *redirect, const struct mad_message *request,
			    struct mad_message *ret_answer)
{
	enum { ATTRIBUTE_ID_OFFSET = 16 };
	const uint8_t *mad = request->bytes;
	size_t offset = mad_data_offset(redirect->management_class);
	struct class_port_info place = redirect->place;
	bool is_asked_for = mad[MAD_METHOD_OFFSET] == MAD_GET && mad[ATTRIBUTE_ID_OFFSET] == 0 &&
			    mad[ATTRIBUTE_ID_OFFSET + 1] == ATTRIBUTE_CLASS_PORT_INFO;

	place.class_version = mad[MAD_VERSION_OFFSET];
	smp_answer_make(request, is_asked_for ? MAD_STATUS_OK : MAD_STATUS_REDIRECT, ret_answer);
	/* The response is a single MAD, also if the request was the first segment of many. */
	if (rmpp_class_has_header(redirect->management_class))
		memset(ret_answer->bytes + RMPP_OFFSET, 0, RMPP_HEADER_BYTES);
	memset(ret_answer->bytes + offset, 0, MAD_BYTES - offset);
	class_port_info_encode(&place, ret_answer->bytes + offset);
}

static bool is_redirected_or_busy(const struct agent_memory *memory, const struct port *port,
				  time_ns now, const struct mad_message *request,
				  struct mad_message *ret_answer)
{
	if (list_is_empty(&memory->redirects) && list_is_empty(&memory->gsi_rates))
		return false;

	bool is_call = mad_is_call(request->bytes);
	const struct redirect *redirect = find(memory, port, request->bytes[MAD_CLASS_OFFSET]);

	if (redirect && redirect->scope == REDIRECT_CONNECTIONS && !is_call)
		redirect = NULL;
	/* Communication management has no status "busy": a call that is not redirected is served.
	 */
	if (!is_request(request) && !(is_call && redirect))
		return false;

	bool is_always = redirect && redirect->condition == REDIRECT_ALWAYS;

	if (!is_always && !is_busy(memory, port, now))
		return false;
	if (is_call)
		return call_redirect_answer(redirect, request, ret_answer);
	if (redirect)
		answer_redirect(redirect, request, ret_answer);
	else
		smp_answer_make(request, MAD_STATUS_BUSY, ret_answer);
	return true;
}

bool gsi_turns_away(const struct agent_environment *environment, const struct port *port,
		    time_ns now, const struct mad_message *request, struct mad_message *ret_answer)
{
	const struct agent_memory *memory = environment->memory;

	if (!memory)
		return false;
	return is_redirected_or_busy(memory, port, now, request, ret_answer) ||
	       (mad_is_call(request->bytes) &&
		call_finds_controller_off(memory, port->node, request, ret_answer));
}

void redirects_forget(struct agent_memory *memory, const struct node *node)
{
	list_for_each_safe (link, &memory->redirects) {
		if (!node || redirect_of(link)->port->node == node)
			end(redirect_of(link));
	}
	list_for_each_safe (link, &memory->gsi_rates) {
		if (!node || rate_of(link)->port->node == node)
			end_rate(rate_of(link));
	}
}
