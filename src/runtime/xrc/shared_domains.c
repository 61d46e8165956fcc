/* SPDX-License-Identifier: Apache-2.0 */
/* XRC domains that processes of one host share by a file: this process's requests to softibd. */
#include "runtime/xrc/shared_domains.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include "runtime/adapter.h"
#include "runtime/process_runtime.h"
#include "runtime/softibd_connection.h"
#include "runtime/xrc/leased_targets.h"
#include "net/hca/shared_target.h"

enum {
	LEASE_TRIES_MAX = 20000,
	LEASE_TRIES_BEFORE_RECALL =
		500, /* then softibd is told to take the target even in the middle of a message */
};

#define LEASE_PAUSE_NS MICROSECONDS(100)

static int ask_number(struct adapter *adapter, const char *text, const char *name,
		      uint32_t *ret_number)
{
	json_t *answer;
	uint64_t number;
	int error = session_ask_plain(adapter->runtime->session, text, &answer);

	if (error)
		return error;
	error = answer_number(answer, name, &number);
	json_decref(answer);
	if (!error && (number == 0 || number > UINT32_MAX))
		error = -EPROTO;
	if (!error)
		*ret_number = (uint32_t)number;
	return error;
}

static int open_everywhere(struct adapter *adapter, const struct xrcd_file *file,
			   enum xrcd_opening opening, struct xrcd **ret_xrcd)
{
	char text[192];
	uint32_t id;

	snprintf(
		text, sizeof(text),
		"{\"command\":\"domain\",\"adapter\":%u,\"device\":\"0x%llx\",\"inode\":\"0x%llx\","
		"\"opening\":%d}",
		adapter->description->index, (unsigned long long)file->device,
		(unsigned long long)file->inode, (int)opening);

	int error = ask_number(adapter, text, "id", &id);

	if (error)
		return error;
	adapter_lock(adapter);
	error = xrcd_open(&adapter->hca, file, XRCD_CREATE, ret_xrcd);
	if (error)
		xrc_leases_say(adapter, RECORD_DOMAIN_CLOSED, id);
	else
		(*ret_xrcd)->id = id;
	adapter_unlock(adapter);
	return error;
}

int adapter_domain_open(struct adapter *adapter, const struct xrcd_file *file,
			enum xrcd_opening opening, struct xrcd **ret_xrcd)
{
	struct session *session = adapter->runtime->session;
	int error = 0;

	/* Only one thread opens at a time, so that two opens of the same file get the same domain.
	 */
	pthread_mutex_lock(&session->attaching);
	adapter_lock(adapter);

	bool is_known = !file || xrcd_find(&adapter->hca, file);

	if (is_known)
		error = xrcd_open(&adapter->hca, file, opening, ret_xrcd);
	adapter_unlock(adapter);
	if (!is_known)
		error = open_everywhere(adapter, file, opening, ret_xrcd);
	pthread_mutex_unlock(&session->attaching);
	return error;
}

/* Returns the leased targets first, since other processes may need them. */
static void give_back_all(struct adapter *adapter, const struct xrcd *xrcd)
{
	list_for_each_safe (link, &adapter->hca.borrowed) {
		struct qp_object *object = container_of(link, struct qp_object, borrowed_link);

		if (object->xrcd == xrcd && !xrc_lease_return(adapter, object))
			return;
	}
}

/* Waits until softibd has read the record. When the close returns, the file may be opened anew, in
 * this process or another. */
static void wait_until_read(struct session *session)
{
	json_t *answer;

	if (session_ask_plain(session, "{\"command\":\"catch-up\"}", &answer) == 0)
		json_decref(answer);
}

int adapter_domain_close(struct adapter *adapter, struct xrcd *xrcd)
{
	struct session *session = adapter->runtime->session;
	uint32_t id = xrcd->id;

	pthread_mutex_lock(&session->attaching);
	adapter_lock(adapter);

	bool is_last = xrcd->open_count == 1 && !xrcd->users;

	if (is_last && id)
		give_back_all(adapter, xrcd);

	int error = xrcd_close(xrcd);

	bool is_closed = !error && is_last && id;

	if (is_closed)
		xrc_leases_say(adapter, RECORD_DOMAIN_CLOSED, id);
	adapter_unlock(adapter);
	if (is_closed)
		wait_until_read(session);
	pthread_mutex_unlock(&session->attaching);
	return error;
}

static int ask_for_target(struct adapter *adapter, uint32_t domain_id, uint32_t *ret_qpn,
			  bool *ret_is_shared)
{
	json_t *answer;
	uint64_t qpn;
	char text[96];

	snprintf(text, sizeof(text), "{\"command\":\"target\",\"adapter\":%u,\"domain\":%u}",
		 adapter->description->index, domain_id);

	int error = session_ask_plain(adapter->runtime->session, text, &answer);

	if (error)
		return error;
	error = answer_number(answer, "qpn", &qpn);
	*ret_is_shared = json_is_true(json_object_get(answer, "shared"));
	json_decref(answer);
	if (!error && (qpn == 0 || qpn > 0xffffff))
		error = -EPROTO;
	if (!error)
		*ret_qpn = (uint32_t)qpn;
	return error;
}

int adapter_target_create(struct adapter *adapter, const struct qp_options *options,
			  struct qp_object **ret_object)
{
	struct qp_options with_number = *options;
	bool is_shared;
	int error = ask_for_target(adapter, options->xrcd->id, &with_number.qpn, &is_shared);

	if (error)
		return error;
	adapter_lock(adapter);
	error = qp_object_create(&adapter->hca, &with_number, ret_object);
	if (error)
		xrc_leases_say(adapter, RECORD_TARGET_CLOSED, with_number.qpn);
	else if (is_shared)
		shared_target_begin(*ret_object);
	adapter_unlock(adapter);
	return error;
}

static int ask_about_target(struct adapter *adapter, const char *command, uint32_t domain_id,
			    uint32_t qpn, const char *more)
{
	json_t *answer;
	char text[160];

	snprintf(text, sizeof(text),
		 "{\"command\":\"%s\",\"adapter\":%u,\"domain\":%u,\"qpn\":%u%s}", command,
		 adapter->description->index, domain_id, qpn, more);

	int error = session_ask_plain(adapter->runtime->session, text, &answer);

	if (!error)
		json_decref(answer);
	return error;
}

int adapter_target_open(struct adapter *adapter, struct xrcd *xrcd, uint32_t qpn, void *context,
			struct qp_object **ret_object)
{
	int error = ask_about_target(adapter, "target-open", xrcd->id, qpn, "");

	if (error)
		return error == -ENOENT ? -EINVAL : error;
	adapter_lock(adapter);

	/* softibd may already have leased the target to this process for its XRC SRQs. */
	struct qp_object *object = xrcd_target(xrcd, qpn);

	if (!object)
		error = shared_target_add(xrcd, qpn, &object);
	else if (object->context)
		error = -EAGAIN;
	if (!error) {
		shared_target_adopt(object, context);
		*ret_object = object;
	} else {
		xrc_leases_say(adapter, RECORD_TARGET_CLOSED, qpn);
	}
	adapter_unlock(adapter);
	return error;
}

void adapter_target_close(struct adapter *adapter, struct qp_object *object)
{
	if (!runtime_is_usable(adapter->runtime))
		return;
	if (object->is_shared && !object->is_away)
		(void)!xrc_lease_return(adapter, object);
	xrc_leases_say(adapter, RECORD_TARGET_CLOSED, object->qp.qpn);
}

int adapter_target_hold(struct adapter *adapter, struct qp_object *object)
{
	const struct timespec pause = {.tv_nsec = LEASE_PAUSE_NS};
	struct process_runtime *runtime = adapter->runtime;
	uint32_t domain_id = object->xrcd ? object->xrcd->id : 0;
	uint32_t qpn = object->qp.qpn;
	int error = -EAGAIN;

	/* softibd may make the target shared while this process works with it. */
	object->pin_count++;
	for (unsigned i = 0; object->is_away && i < LEASE_TRIES_MAX; i++) {
		runtime_progress(runtime, runtime_now());
		if (!object->is_away)
			break;
		if (!runtime_is_usable(runtime)) {
			error = -EIO;
			break;
		}
		runtime_unlock(runtime);
		if (error == -EAGAIN)
			error = ask_about_target(adapter, "target-borrow", domain_id, qpn,
						 i < LEASE_TRIES_BEFORE_RECALL ? ""
									       : ",\"now\":true");
		if (error != -EAGAIN || i > 10)
			nanosleep(&pause, NULL);
		runtime_lock(runtime);
		if (error && error != -EAGAIN)
			break;
	}
	if (!object->is_away)
		return 0;
	object->pin_count--;
	return error && error != -EAGAIN ? error : -ETIMEDOUT;
}

void adapter_target_release(struct adapter *adapter, struct qp_object *object)
{
	(void)adapter;
	object->pin_count--;
}
