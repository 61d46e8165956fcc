/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing an adapter, and the table of operations that verbs.h calls through the
 * context. */
#include "api/libibverbs/device.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "api/libibverbs/objects/rd_objects.h"
#include "api/libibverbs/async_events.h"
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/import.h"
#include "api/libibverbs/diagnostics/misuse.h"
#include "api/libibverbs/objects/operations.h"
#include "runtime/session.h"

static void set_operations(struct verbs_context *verbs)
{
	struct ibv_context_ops *ops = &verbs->context.ops;

	ops->_compat_query_device = ibv_query_device;
#undef ibv_query_port
	ops->_compat_query_port = ibv_query_port;
	ops->alloc_mw = verbs_alloc_mw;
	ops->bind_mw = verbs_bind_mw;
	ops->dealloc_mw = verbs_dealloc_mw;
	ops->poll_cq = verbs_poll_cq;
	ops->req_notify_cq = verbs_req_notify_cq;
	ops->post_srq_recv = verbs_post_srq_recv;
	ops->post_send = verbs_post_send;
	ops->post_recv = verbs_post_recv;

	verbs->query_port = verbs_query_port;
	verbs->advise_mr = verbs_advise_mr;
	verbs->alloc_null_mr = verbs_alloc_null_mr;
	verbs->reg_dm_mr = verbs_reg_dm_mr;
	verbs->alloc_dm = verbs_alloc_dm;
	verbs->free_dm = verbs_free_dm;
	verbs->alloc_parent_domain = verbs_alloc_parent_domain;
	verbs->dealloc_td = verbs_dealloc_td;
	verbs->alloc_td = verbs_alloc_td;
	verbs->modify_qp_rate_limit = verbs_modify_qp_rate_limit;
	verbs->modify_cq = verbs_modify_cq;
	verbs->post_srq_ops = verbs_post_srq_ops;
	verbs->query_rt_values = verbs_query_rt_values;
	verbs->create_cq_ex = verbs_create_cq_ex;
	verbs->query_device_ex = verbs_query_device_ex;
	verbs->create_qp_ex = verbs_create_qp_ex;
	verbs->open_qp = verbs_open_qp;
	verbs->get_srq_num = verbs_get_srq_num;
	verbs->create_srq_ex = verbs_create_srq_ex;
	verbs->open_xrcd = verbs_open_xrcd;
	verbs->close_xrcd = verbs_close_xrcd;
}

static int attach(struct context_object *context, struct verbs_device *device)
{
	const struct hca_owner owner = {
		.event = events_raise,
		.cq_notify = verbs_cq_notify,
		.fault = fault_injection_receive,
		.context = device,
	};
	struct session *session;
	int error = session_get(&session);

	if (error)
		return error;
	pthread_mutex_lock(&device->mutex);
	error = adapter_open(session, device->index, &owner, &context->adapter);
	if (!error) {
		adapter_lock(context->adapter);
		list_append(&device->contexts, &context->link);
		adapter_unlock(context->adapter);
	}
	pthread_mutex_unlock(&device->mutex);
	return error;
}

struct ibv_context *context_open(struct ibv_device *device, int file)
{
	struct context_object *context = calloc(1, sizeof(*context));
	int error;

	if (!context)
		return verbs_null(-ENOMEM);

	struct verbs_context *verbs = &context->block.verbs;

	warnings_init();
	context->device = device_of(device);
	context->identity = import_file_identity(file, &context->exporter);
	list_init(&context->link);
	list_init(&context->qps);
	list_init(&context->eecs);
	error = event_queue_open(&context->events);
	if (error)
		goto free_context;
	verbs->sz = CONTEXT_BLOCK_BYTES;
	verbs->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	verbs->context.device = device;
	verbs->context.cmd_fd = file;
	verbs->context.async_fd = context->events.fd;
	verbs->context.num_comp_vectors = 1;
	pthread_mutex_init(&verbs->context.mutex, NULL);
	set_operations(verbs);
	error = attach(context, context->device);
	if (error)
		goto close_events;
	handle_add(HANDLE_CONTEXT, &verbs->context);
	return &verbs->context;

close_events:
	event_queue_close(&context->events);
free_context:
	export_table_close(&context->exports);
	free(context);
	return verbs_null(error);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	if (!device)
		return verbs_null(-EINVAL);

	int file;
	int error = export_file_create(device_of(device)->node_guid, &file);

	if (error)
		return verbs_null(error);

	struct ibv_context *context = context_open(device, file);

	if (!context) {
		error = errno;
		close(file);
		errno = error;
		return NULL;
	}
	export_table_open(&context_of(context)->exports, file);
	/* softibd sends the faults to inject when the process attaches, so the check comes after
	 * opening. */
	error = injected_fault(VERB_OPEN_DEVICE);
	if (unlikely(error)) {
		ibv_close_device(context);
		return verbs_null(error);
	}
	return context;
}

/* Destroys the QPs that the program left when it closed the device, as the kernel does. */
static void detach_leftover_qps(struct context_object *context)
{
	for (struct list *link = list_first(&context->qps); link;
	     link = list_first(&context->qps)) {
		struct verbs_qp *qp = container_of(link, struct verbs_qp, context_link);

		multicast_detach_all(qp->object);
		if (verbs_qp_detach(qp))
			return;
	}
}

static void release(struct context_object *context)
{
	struct verbs_device *device = context->device;

	pthread_mutex_lock(&device->mutex);
	adapter_close(context->adapter);
	pthread_mutex_unlock(&device->mutex);
	pthread_mutex_destroy(&context->block.verbs.context.mutex);
	export_table_close(&context->exports);
	free(context);
}

void context_object_gone(struct context_object *context)
{
	adapter_lock(context->adapter);

	bool is_last = --context->object_count == 0 && context->is_closed;

	adapter_unlock(context->adapter);
	if (is_last)
		release(context);
}

int ibv_close_device(struct ibv_context *public)
{
	if (!handle_is_live(HANDLE_CONTEXT, public))
		return verbs_result(-EINVAL);

	struct context_object *context = context_of(public);

	handle_remove(public);
	adapter_lock(context->adapter);
	list_remove(&context->link);
	if (unlikely(warnings_are_on))
		misuse_close(context);
	detach_leftover_qps(context);
	eecs_detach_leftover(context);
	context->is_closed = true;
	/* The context counts as one of its objects until this function is done. */
	context->object_count++;
	adapter_unlock(context->adapter);

	events_forget_all(context);
	event_queue_close(&context->events);
	close(public->cmd_fd);
	/* Objects that the program left keep the adapter open until the last of them is
	 * destroyed. */
	context_object_gone(context);
	return 0;
}
