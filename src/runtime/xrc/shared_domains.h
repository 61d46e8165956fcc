/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XRC domains that processes of one host share by a file, and their targets, which softibd leases
 * to one process at a time (net/hca/shared_target.h).
 */
#ifndef SOFTIB_RUNTIME_XRC_SHARED_DOMAINS_H
#define SOFTIB_RUNTIME_XRC_SHARED_DOMAINS_H

#include <stdint.h>
#include "base/attributes.h"
#include "net/hca/hca.h"

struct adapter;

/* The caller does not hold the adapter's lock, unless stated otherwise. */

/* As xrcd_open, for all processes of the host. */
MUST_USE int adapter_domain_open(struct adapter *adapter, const struct xrcd_file *file,
				 enum xrcd_opening opening, struct xrcd **ret_xrcd);
MUST_USE int adapter_domain_close(struct adapter *adapter, struct xrcd *xrcd);

/* As qp_object_create, for a target of a domain with an id. */
MUST_USE int adapter_target_create(struct adapter *adapter, const struct qp_options *options,
				   struct qp_object **ret_object);
/* Opens a target that another process created. -EINVAL: the domain has no such target. */
MUST_USE int adapter_target_open(struct adapter *adapter, struct xrcd *xrcd, uint32_t qpn,
				 void *context, struct qp_object **ret_object);

/* The caller of the following functions holds the lock. */

/* The last handle of a target in this process is about to be closed. */
void adapter_target_close(struct adapter *adapter, struct qp_object *object);
/* Leases the target to this process, and keeps it until adapter_target_release. Releases the lock
 * while it waits. -ETIMEDOUT: the process that has the lease does not return it. */
MUST_USE int adapter_target_hold(struct adapter *adapter, struct qp_object *object);
void adapter_target_release(struct adapter *adapter, struct qp_object *object);

#endif
