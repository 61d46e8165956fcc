/* SPDX-License-Identifier: Apache-2.0 */
/* XRC domains: which XRC SRQs an XRC target may use (vol 1, annex A14; transport 5.7). */
#include "net/hca/hca.h"

#include <errno.h>
#include <stdlib.h>
#include "net/hca/shared_target.h"

struct xrcd *xrcd_find(const struct hca *hca, const struct xrcd_file *file)
{
	for (struct list *link = hca->xrcds.next; link != &hca->xrcds; link = link->next) {
		struct xrcd *xrcd = container_of(link, struct xrcd, link);

		if (xrcd->has_file && xrcd->file.device == file->device &&
		    xrcd->file.inode == file->inode)
			return xrcd;
	}
	return NULL;
}

struct xrcd *xrcd_by_id(const struct hca *hca, uint32_t id)
{
	for (struct list *link = hca->xrcds.next; link != &hca->xrcds; link = link->next) {
		struct xrcd *xrcd = container_of(link, struct xrcd, link);

		if (xrcd->id == id)
			return xrcd;
	}
	return NULL;
}

static int create(struct hca *hca, const struct xrcd_file *file, struct xrcd **ret_xrcd)
{
	if (hca->xrcd_count == hca->limits.xrcd_count_max)
		return -ENOMEM;

	struct xrcd *xrcd = calloc(1, sizeof(*xrcd));

	if (!xrcd)
		return -ENOMEM;
	xrcd->hca = hca;
	xrcd->handle = hca->next_handle++;
	xrcd->open_count = 1;
	if (file) {
		xrcd->file = *file;
		xrcd->has_file = true;
	}
	list_init(&xrcd->targets);
	list_append(&hca->xrcds, &xrcd->link);
	hca->xrcd_count++;
	*ret_xrcd = xrcd;
	return 0;
}

int xrcd_open(struct hca *hca, const struct xrcd_file *file, enum xrcd_opening opening,
	      struct xrcd **ret_xrcd)
{
	struct xrcd *existing = file ? xrcd_find(hca, file) : NULL;

	if (!file)
		return create(hca, NULL, ret_xrcd);
	if (!existing)
		return opening == XRCD_EXISTING ? -EAGAIN : create(hca, file, ret_xrcd);
	if (opening == XRCD_CREATE_EXCLUSIVE)
		return -EINVAL;
	existing->open_count++;
	*ret_xrcd = existing;
	return 0;
}

int xrcd_close(struct xrcd *xrcd)
{
	if (xrcd->open_count == 1 && xrcd->users)
		return -EBUSY;
	if (--xrcd->open_count)
		return 0;
	shared_targets_forget(xrcd);
	list_remove(&xrcd->link);
	xrcd->hca->xrcd_count--;
	free(xrcd);
	return 0;
}

struct qp_object *xrcd_target(const struct xrcd *xrcd, uint32_t qpn)
{
	struct qp_object *object = index_table_get(&xrcd->hca->qps, qpn);

	return object && object->xrcd == xrcd ? object : NULL;
}
