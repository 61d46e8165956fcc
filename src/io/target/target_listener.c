/* SPDX-License-Identifier: Apache-2.0 */
/* Connection requests of initiators, and the ends of their connections. */
#include "io/target/target_listener.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BACKLOG = TARGET_CHANNELS_MAX, RETRIES_WITHOUT_END = 7 };

int target_listener_open(struct target_listener *listener, struct srp_target *target,
			 uint64_t target_extension, uint64_t target_guid, uint64_t service_id)
{
	struct sockaddr_ib address = {
		.sib_family = AF_IB, .sib_sid = htobe64(service_id), .sib_sid_mask = UINT64_MAX};

	*listener = (struct target_listener){
		.target = target,
		.terms = {.target_extension = target_extension,
			  .target_guid = target_guid,
			  .request_limit = TARGET_REQUEST_LIMIT,
			  .it_iu_bytes_max = SRP_CMD_BYTES_MAX,
			  .ti_iu_bytes_max = SRP_RSP_BYTES_MAX},
		.events = rdma_create_event_channel(),
	};
	if (!listener->events)
		return -errno;
	if (rdma_create_id(listener->events, &listener->id, NULL, RDMA_PS_IB) != 0 ||
	    rdma_bind_addr(listener->id, (struct sockaddr *)&address) != 0 ||
	    rdma_listen(listener->id, BACKLOG) != 0) {
		int error = -errno;

		target_listener_close(listener);
		return error;
	}
	return 0;
}

void target_listener_close(struct target_listener *listener)
{
	if (listener->id)
		rdma_destroy_id(listener->id);
	listener->id = NULL;
	rdma_destroy_event_channel(listener->events);
}

/* A login of the same initiator port ends its earlier channel (SRP 6.2). */
static bool end_earlier(struct srp_target *target, const struct srp_login_req *login)
{
	bool was_there = false;

	list_for_each_safe (link, &target->channels) {
		struct target_channel *channel = container_of(link, struct target_channel, link);

		if (channel->login.initiator_extension != login->initiator_extension ||
		    channel->login.initiator_guid != login->initiator_guid)
			continue;
		target_channel_log(channel, "logs in again");
		target_channel_destroy(channel);
		was_there = true;
	}
	return was_there;
}

static int accept_login(struct rdma_cm_id *id, const struct rdma_conn_param *wish,
			const struct srp_login_rsp *rsp)
{
	uint8_t bytes[SRP_LOGIN_RSP_BYTES];
	struct rdma_conn_param offer = {
		.private_data = bytes,
		.private_data_len = sizeof(bytes),
		.responder_resources = wish->responder_resources,
		.initiator_depth = wish->initiator_depth,
		.flow_control = 1,
		.rnr_retry_count = RETRIES_WITHOUT_END,
	};

	srp_login_rsp_encode(rsp, bytes);
	return rdma_accept(id, &offer) == 0 ? 0 : -errno;
}

static void reject_login(struct rdma_cm_id *id, const struct srp_login_req *login,
			 const struct srp_login_rej *rej)
{
	uint8_t bytes[SRP_LOGIN_REJ_BYTES];

	fprintf(stderr,
		"softib-srp-target: initiator %016" PRIx64 "%016" PRIx64 ": login refused: %s\n",
		login->initiator_extension, login->initiator_guid,
		srp_login_reject_text(rej->reason));
	srp_login_rej_encode(rej, bytes);
	/* The peer may be gone already; then its id goes all the same. */
	if (rdma_reject(id, bytes, sizeof(bytes)) != 0)
		errno = 0;
}

/* Returns whether the id became a channel. */
static bool take_request(struct target_listener *listener, struct rdma_cm_id *id,
			 const struct rdma_conn_param *wish)
{
	struct target_channel *channel;
	struct srp_login_req login;
	struct srp_login_rsp rsp;
	struct srp_login_rej rej;

	if (!srp_login_judge(&listener->terms, wish->private_data, wish->private_data_len, &login,
			     &rsp, &rej)) {
		reject_login(id, &login, &rej);
		return false;
	}
	rej = (struct srp_login_rej){.opcode = SRP_LOGIN_REJ,
				     .reason = SRP_REJECT_NO_RESOURCES,
				     .tag = login.tag,
				     .buffer_formats = rsp.buffer_formats};
	if (listener->target->channel_count >= TARGET_CHANNELS_MAX) {
		rej.reason = SRP_REJECT_CHANNEL_LIMIT;
		reject_login(id, &login, &rej);
		return false;
	}
	if (end_earlier(listener->target, &login))
		rsp.flags = SRP_CHANNELS_TERMINATED;
	if (target_channel_create(listener->target, id, &login, &channel) != 0) {
		reject_login(id, &login, &rej);
		return false;
	}
	id->context = channel;
	if (accept_login(id, wish, &rsp) != 0 || target_channel_start(channel) != 0) {
		target_channel_log(channel, "the connection can't be accepted");
		channel->has_ended = true;
	}
	return true;
}

static void take(struct target_listener *listener, const struct rdma_cm_event *event,
		 bool *ret_destroys)
{
	struct target_channel *channel = event->id->context;

	*ret_destroys = false;
	switch ((int)event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		*ret_destroys = !take_request(listener, event->id, &event->param.conn);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		target_channel_log(channel, "logged in");
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		/* Its thread sees the flushed requests and ends. */
		rdma_disconnect(event->id);
		if (channel && !channel->has_thread)
			channel->has_ended = true;
		break;
	default:
		break;
	}
}

int target_listener_take_event(struct target_listener *listener)
{
	struct rdma_cm_event *event;
	bool destroys;

	if (rdma_get_cm_event(listener->events, &event) != 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;

	struct rdma_cm_id *id = event->id;
	bool is_removal = event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;

	take(listener, event, &destroys);
	rdma_ack_cm_event(event);
	if (destroys)
		rdma_destroy_id(id);
	return is_removal ? -ENODEV : 0;
}
