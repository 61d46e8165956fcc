/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing an adapter in this process. */
#include "runtime/adapter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "runtime/process_runtime.h"
#include "runtime/memory/memory_guard.h"
#include "runtime/softibd_connection.h"
#include "runtime/session.h"
#include "runtime/rma/rma.h"
#include "runtime/rma/rma_target.h"
#include "runtime/key_violations.h"
#include "runtime/zcopy/zcopy_send.h"
#include "runtime/packets/transmit.h"
#include "runtime/rma/rkey_export.h"

/* Processes that run at the same time rarely have equal keys, so a process that imports a region
 * can use its key. */
enum { PORTS_WAIT_MS = 5000, KEYS_PER_PROCESS = 509 };

static void ignore_event(void *context, const struct hca_event *event)
{
	(void)context;
	(void)event;
}

static void ignore_cq(void *context, struct cq *cq)
{
	(void)context;
	(void)cq;
}

const struct hca_owner adapter_nobody = {.event = ignore_event, .cq_notify = ignore_cq};

static int get_adapter(struct process_runtime *runtime,
		       const struct adapter_description *description, struct adapter **ret_adapter)
{
	struct adapter **place = &runtime->adapters[description->index];

	if (!*place) {
		struct adapter *adapter = calloc(1, sizeof(*adapter));

		if (!adapter)
			return -ENOMEM;
		adapter->runtime = runtime;
		adapter->description = description;
		*place = adapter;
		if (runtime->adapter_limit <= description->index)
			runtime->adapter_limit = description->index + 1;
	}
	*ret_adapter = *place;
	return 0;
}

static void end_rma(struct qp *qp)
{
	rma_target_end(qp);
	rma_forget(qp);
}

static int start_hca(struct adapter *adapter, const struct hca_owner *owner)
{
	const struct adapter_description *description = adapter->description;
	int error = hca_init(&adapter->hca, &hca_limits_default, owner, description->node_guid,
			     description->port_count);

	if (error)
		return error;
	adapter->hca.system_image_guid = description->system_image_guid;
	adapter->hca.is_unprivileged = !adapter->runtime->session->is_privileged;
	memory_begin_keys(&adapter->hca.memory, (uint32_t)getpid() * KEYS_PER_PROCESS);
	adapter->hca.environment.adapter_index = description->index;
	adapter->hca.environment.is_underway = transmit_is_underway;
	adapter->hca.environment.key_violation = key_violation_note;
	adapter->hca.environment.end_rma = end_rma;
	adapter->hca.environment.take_back = zcopy_revoke;
	rkey_export_watch(adapter);
	memory_guard_begin(adapter);
	/* The QPNs that softibd gave when the adapter was open before are still ours. */
	for (unsigned i = 0; i < adapter->grant_count && !error; i++)
		error = hca_add_qpns(&adapter->hca, adapter->grants[i].first,
				     adapter->grants[i].count);
	if (error)
		hca_release(&adapter->hca);
	else
		adapter->has_hca = true;
	return error;
}

static int ask_for_ports(struct adapter *adapter)
{
	json_t *answer;
	char text[64];

	snprintf(text, sizeof(text), "{\"command\":\"port\",\"adapter\":%u}",
		 adapter->description->index);

	int error = session_ask_plain(adapter->runtime->session, text, &answer);

	if (!error)
		json_decref(answer);
	return error;
}

static bool ports_are_known(const struct hca *hca)
{
	for (unsigned i = 0; i < hca->port_count; i++)
		if (hca->ports[i].number == 0)
			return false;
	return true;
}

/* The port updates are in the ring by the time softibd has answered, but another ring may have to
 * be fetched before they are read. */
static int wait_for_ports(struct adapter *adapter)
{
	struct process_runtime *runtime = adapter->runtime;
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int waited_ms = 0; waited_ms < PORTS_WAIT_MS; waited_ms++) {
		runtime_lock(runtime);
		runtime_progress(runtime, runtime_now());

		bool are_known = ports_are_known(&adapter->hca);
		bool is_usable = runtime_is_usable(runtime);

		runtime_unlock(runtime);
		if (are_known)
			return 0;
		if (!is_usable)
			return -ENODEV;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

/* Opening is rare and asks softibd, so openers go one by one, under the session's mutex for
 * attaching. */
static int open_first(struct adapter *adapter, const struct hca_owner *owner)
{
	struct process_runtime *runtime = adapter->runtime;
	int error = 0;

	runtime_lock(runtime);
	if (adapter->has_hca)
		adapter->hca.owner = *owner;
	else
		error = start_hca(adapter, owner);
	runtime_unlock(runtime);
	if (!error)
		error = ask_for_ports(adapter);
	if (!error)
		error = wait_for_ports(adapter);
	runtime_lock(runtime);
	if (error && adapter->has_hca) {
		hca_release(&adapter->hca);
		adapter->has_hca = false;
	}
	runtime_unlock(runtime);
	return error;
}

int adapter_open(struct session *session, unsigned index, const struct hca_owner *owner,
		 struct adapter **ret_adapter)
{
	const struct adapter_description *description = session_adapter(session, index);
	struct process_runtime *runtime;
	struct adapter *adapter = NULL;

	if (!description)
		return -EINVAL;

	int error = runtime_get(session, &runtime);

	if (error)
		return error;
	pthread_mutex_lock(&session->attaching);
	runtime_lock(runtime);
	error = runtime_is_usable(runtime) ? get_adapter(runtime, description, &adapter) : -ENODEV;
	runtime_unlock(runtime);
	if (!error && adapter->open_count == 0)
		error = open_first(adapter, owner);
	if (!error) {
		adapter->open_count++;
		*ret_adapter = adapter;
	}
	pthread_mutex_unlock(&session->attaching);
	return error;
}

void adapter_close(struct adapter *adapter)
{
	struct session *session = adapter->runtime->session;
	struct hca *hca = &adapter->hca;

	pthread_mutex_lock(&session->attaching);
	assert(adapter->open_count > 0);
	if (--adapter->open_count == 0) {
		runtime_lock(adapter->runtime);
		hca->owner = adapter_nobody;
		/* Objects that the program did not destroy stay until it exits, as with a kernel
		 * before close(). */
		if (hca->qp_count == 0 && hca->cq_count == 0 && hca->srq_count == 0 &&
		    hca->pd_count == 0 && hca->rdd_count == 0) {
			hca_release(hca);
			adapter->has_hca = false;
			/* The next hca begins with the first epoch again. */
			for (unsigned i = 0; i < adapter->runtime->direct.count; i++)
				adapter->runtime->direct.channels[i]->receiver = NULL;
		}
		runtime_unlock(adapter->runtime);
	}
	pthread_mutex_unlock(&session->attaching);
}
