/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OFED's old XRC calls (infiniband/ofa_verbs.h), implemented with today's calls: a process
 * registers with a receive QP by opening a handle of the XRC target. The domain object keeps these
 * handles by QP number.
 */
#include "api/libibverbs/objects/objects.h"

#include <fcntl.h>
#include <stdlib.h>
#include <infiniband/ofa_verbs.h>
#include "api/libibverbs/objects/operations.h"

struct registration {
	struct list link;
	struct ibv_qp *qp;
};

struct old_domain {
	struct ibv_xrc_domain domain; /* first */
	struct ibv_xrcd *xrcd;
	pthread_mutex_t mutex;
	struct list registrations; /* struct registration by link; under the mutex */
};

static struct old_domain *domain_of(struct ibv_xrc_domain *public)
{
	return (struct old_domain *)public;
}

/* The mutex is held. NULL: this process is not registered. */
static struct registration *find(struct old_domain *domain, uint32_t qpn)
{
	list_for_each (link, &domain->registrations) {
		struct registration *registration = container_of(link, struct registration, link);

		if (registration->qp->qp_num == qpn)
			return registration;
	}
	return NULL;
}

/* Takes over the QP. The mutex is held. 0 or an errno value. */
static int keep(struct old_domain *domain, struct ibv_qp *qp)
{
	struct registration *registration = malloc(sizeof(*registration));

	if (!registration) {
		ibv_destroy_qp(qp);
		return verbs_result(-ENOMEM);
	}
	registration->qp = qp;
	qp_of(qp)->is_named_by_number = true;
	list_append(&domain->registrations, &registration->link);
	return 0;
}

static struct ibv_qp *open_target(struct old_domain *domain, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn,
		.xrcd = domain->xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	return verbs_open_qp(domain->domain.context, &attr);
}

struct ibv_xrc_domain *ibv_open_xrc_domain(struct ibv_context *context, int fd, int oflag)
{
	/* A domain without a file cannot exist already. */
	if (!context || (fd == -1 && oflag != O_CREAT))
		return verbs_null(-EINVAL);

	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = oflag,
	};
	struct old_domain *domain = calloc(1, sizeof(*domain));

	if (!domain)
		return verbs_null(-ENOMEM);
	domain->xrcd = verbs_open_xrcd(context, &attr);
	if (!domain->xrcd) {
		free(domain);
		return NULL;
	}
	domain->domain.context = context;
	pthread_mutex_init(&domain->mutex, NULL);
	list_init(&domain->registrations);
	return &domain->domain;
}

int ibv_close_xrc_domain(struct ibv_xrc_domain *public)
{
	if (!public)
		return verbs_result(-EINVAL);

	struct old_domain *domain = domain_of(public);
	/* The domain counts registered QPs like its other users, so closing fails while there are
	 * any. */
	int error = verbs_close_xrcd(domain->xrcd);

	if (error)
		return error;
	pthread_mutex_destroy(&domain->mutex);
	free(domain);
	return 0;
}

struct ibv_srq *ibv_create_xrc_srq(struct ibv_pd *pd, struct ibv_xrc_domain *domain,
				   struct ibv_cq *xrc_cq, struct ibv_srq_init_attr *init_attr)
{
	if (!pd || !domain || !xrc_cq || !init_attr)
		return verbs_null(-EINVAL);

	struct ibv_srq_init_attr_ex attr = {
		.srq_context = init_attr->srq_context,
		.attr = init_attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = domain_of(domain)->xrcd,
		.cq = xrc_cq,
	};
	struct ibv_srq *srq = verbs_create_srq_ex(domain->context, &attr);

	if (!srq)
		return NULL;
	init_attr->attr = attr.attr;

	struct verbs_srq *object = srq_of(srq);

	object->old.number = object->object->srqn;
	object->old.domain = domain;
	object->old.cq = xrc_cq;
	return srq;
}

int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *init_attr, uint32_t *xrc_rcv_qpn)
{
	if (!init_attr || !xrc_rcv_qpn)
		return verbs_result(-EINVAL);

	struct ibv_xrc_domain *public = ((struct ibv_qp_init_attr_legacy *)init_attr)->xrc_domain;

	if (!public)
		return verbs_result(-EINVAL);

	struct old_domain *domain = domain_of(public);
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = init_attr->qp_context,
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = domain->xrcd,
	};
	struct ibv_qp *qp = verbs_create_qp_ex(public->context, &attr);

	if (!qp)
		return errno;

	uint32_t qpn = qp->qp_num;

	pthread_mutex_lock(&domain->mutex);

	int error = keep(domain, qp);

	pthread_mutex_unlock(&domain->mutex);
	if (!error)
		*xrc_rcv_qpn = qpn;
	return error;
}

struct change {
	struct ibv_qp_attr *attr;
	int mask;
	struct ibv_qp_init_attr *init_attr; /* NULL: modify */
};

static int apply(struct ibv_qp *qp, const struct change *change)
{
	return change->init_attr ? ibv_query_qp(qp, change->attr, change->mask, change->init_attr)
				 : ibv_modify_qp(qp, change->attr, change->mask);
}

/* Uses the handle of this process's registration, or opens one for this call only. */
static int apply_to(struct ibv_xrc_domain *public, uint32_t qpn, const struct change *change)
{
	struct old_domain *domain = domain_of(public);

	pthread_mutex_lock(&domain->mutex);

	struct registration *registration = find(domain, qpn);
	struct ibv_qp *qp = registration ? registration->qp : open_target(domain, qpn);
	int error = qp ? apply(qp, change) : errno;

	if (qp && !registration)
		ibv_destroy_qp(qp);
	pthread_mutex_unlock(&domain->mutex);
	return error;
}

int ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			  struct ibv_qp_attr *attr, int attr_mask)
{
	const struct change change = {attr, attr_mask, NULL};

	return domain && attr ? apply_to(domain, xrc_qp_num, &change) : verbs_result(-EINVAL);
}

int ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			 struct ibv_qp_attr *attr, int attr_mask,
			 struct ibv_qp_init_attr *init_attr)
{
	const struct change change = {attr, attr_mask, init_attr};

	return domain && attr && init_attr ? apply_to(domain, xrc_qp_num, &change)
					   : verbs_result(-EINVAL);
}

int ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *public, uint32_t xrc_qp_num)
{
	if (!public)
		return verbs_result(-EINVAL);

	struct old_domain *domain = domain_of(public);
	int error = 0;

	pthread_mutex_lock(&domain->mutex);
	if (!find(domain, xrc_qp_num)) {
		struct ibv_qp *qp = open_target(domain, xrc_qp_num);

		error = qp ? keep(domain, qp) : errno;
	}
	pthread_mutex_unlock(&domain->mutex);
	return error;
}

int ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *public, uint32_t xrc_qp_num)
{
	if (!public)
		return verbs_result(-EINVAL);

	struct old_domain *domain = domain_of(public);

	pthread_mutex_lock(&domain->mutex);

	struct registration *registration = find(domain, xrc_qp_num);
	int error = registration ? ibv_destroy_qp(registration->qp) : verbs_result(-EINVAL);

	if (registration && !error) {
		list_remove(&registration->link);
		free(registration);
	}
	pthread_mutex_unlock(&domain->mutex);
	return error;
}
