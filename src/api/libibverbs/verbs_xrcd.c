/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XRC domains (vol 1, annex A14; rdma-core's ibv_open_xrcd).
 *
 * A file identifies a domain: all processes of this host that open the same file share it
 * (runtime/xrc/shared_domains.h).
 */
#include "api/libibverbs/objects/objects.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "api/libibverbs/objects/operations.h"
#include "runtime/xrc/shared_domains.h"

static int check_attributes(const struct ibv_xrcd_init_attr *attr)
{
	const uint32_t needed = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;

	if (attr->comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED)
		return -EOPNOTSUPP;
	if ((attr->comp_mask & needed) != needed || attr->oflags & ~(O_CREAT | O_EXCL))
		return -EINVAL;
	return 0;
}

static enum xrcd_opening opening_from(int oflags)
{
	if (oflags & O_EXCL)
		return XRCD_CREATE_EXCLUSIVE;
	return oflags & O_CREAT ? XRCD_CREATE : XRCD_EXISTING;
}

struct ibv_xrcd *verbs_open_xrcd(struct ibv_context *public, struct ibv_xrcd_init_attr *attr)
{
	if (!attr)
		return verbs_null(-EINVAL);

	struct context_object *context = context_of(public);
	struct xrcd_file file;
	struct stat status;
	int error = check_attributes(attr);

	if (error)
		return verbs_null(error);
	if (attr->fd != -1) {
		if (fstat(attr->fd, &status) < 0)
			return verbs_null(-errno);
		file = (struct xrcd_file){status.st_dev, status.st_ino};
	}

	struct verbs_xrcd *xrcd = calloc(1, sizeof(*xrcd));

	if (!xrcd)
		return verbs_null(-ENOMEM);
	xrcd->xrcd.context = public;
	error = adapter_domain_open(context->adapter, attr->fd == -1 ? NULL : &file,
				    opening_from(attr->oflags), &xrcd->domain);
	if (error) {
		free(xrcd);
		return verbs_null(error);
	}
	adapter_lock(context->adapter);
	context->object_count++;
	adapter_unlock(context->adapter);
	return &xrcd->xrcd;
}

int verbs_close_xrcd(struct ibv_xrcd *public)
{
	struct context_object *context = context_of(public->context);
	struct verbs_xrcd *xrcd = xrcd_of(public);

	int error = adapter_domain_close(context->adapter, xrcd->domain);

	if (error)
		return verbs_result(error);
	free(xrcd);
	context_object_gone(context);
	return 0;
}
