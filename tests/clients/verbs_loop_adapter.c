/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host layer of one adapter whose port leads back to itself, so that the verbs programs run with
 * no fabric, also under sanitizers. All progress is inline.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include "runtime/adapter.h"
#include "runtime/session.h"
#include "runtime/raw_claims.h"
#include "runtime/xrc/shared_domains.h"
#include "net/hca/raw_qps.h"
#include "wire/packet.h"
#include "wire/pkey.h"
#include "wire/subnet_attributes.h"

enum { LOOP_LID = 7, FIRST_QPN = 0x400, QPNS_PER_BLOCK = 1024, BATCH = 8, TRAIN_BYTES = 65536 };

struct session {
	struct adapter_description description;
};

struct adapter {
	struct hca hca;
	pthread_mutex_t mutex;
	unsigned open_count;
	uint32_t next_qpn;
};

static struct session the_session = {
	.description = {.name = "softib0",
			.device_name = "uverbs0",
			.device_path = "/sys/class/infiniband_verbs/uverbs0",
			.adapter_path = "/sys/class/infiniband/softib0",
			.node_guid = 0x025f1b0100010000,
			.port_count = 1},
};
static struct adapter the_adapter = {.mutex = PTHREAD_MUTEX_INITIALIZER};

int session_get(struct session **ret_session)
{
	*ret_session = &the_session;
	return 0;
}

unsigned session_adapter_count(const struct session *session)
{
	(void)session;
	return 1;
}

const struct adapter_description *session_adapter(const struct session *session, unsigned index)
{
	(void)index;
	return &session->description;
}

const char *session_tree(const struct session *session)
{
	(void)session;
	return "";
}

static void set_port(struct hca *hca)
{
	struct port_view view = {
		.number = 1,
		.state = PORT_ACTIVE,
		.physical_state = 5,
		.mtu_code = 5,
		.mtu_cap_code = 5,
		.link_width_active = 2,
		.link_speed_active = 32,
		.lid = LOOP_LID,
		.sm_lid = 1,
		.pkey_count = 4,
		.gid_count = 2,
		.pkeys = {0xffff, 0x8001},
	};

	view.gids[0] = gid_from(GID_PREFIX_LINK_LOCAL, the_session.description.node_guid + 1);
	hca_port_update(hca, &view, false);
}

int adapter_open(struct session *session, unsigned index, const struct hca_owner *owner,
		 struct adapter **ret_adapter)
{
	struct adapter *adapter = &the_adapter;

	(void)index;
	if (adapter->open_count == 0) {
		int error = hca_init(&adapter->hca, &hca_limits_default, owner,
				     session->description.node_guid, 1);

		if (error)
			return error;
		adapter->next_qpn = FIRST_QPN;
		set_port(&adapter->hca);
	}
	adapter->open_count++;
	*ret_adapter = adapter;
	return 0;
}

void adapter_close(struct adapter *adapter)
{
	if (--adapter->open_count == 0)
		hca_release(&adapter->hca);
}

struct hca *adapter_hca(struct adapter *adapter)
{
	return &adapter->hca;
}

void adapter_lock(struct adapter *adapter)
{
	pthread_mutex_lock(&adapter->mutex);
}

bool adapter_try_lock(struct adapter *adapter)
{
	return pthread_mutex_trylock(&adapter->mutex) == 0;
}

void adapter_unlock(struct adapter *adapter)
{
	pthread_mutex_unlock(&adapter->mutex);
}

time_ns adapter_now(const struct adapter *adapter)
{
	struct timespec now;

	(void)adapter;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return SECONDS(now.tv_sec) + (uint64_t)now.tv_nsec;
}

void adapter_transmit(struct adapter *adapter, time_ns now)
{
	struct hca *hca = &adapter->hca;

	for (struct qp *qp = hca_ready_first(hca); qp; qp = hca_ready_first(hca)) {
		struct packet packets[BATCH];
		struct qp_route route;
		unsigned count = 0;

		hca_ready_remove(hca, qp);
		if (qp_next_route(qp, now, &route))
			count = qp_transmit(qp, now, BATCH, TRAIN_BYTES, packets);
		for (unsigned i = 0; i < count; i++) {
			if (packets[i].lrh.dlid != LOOP_LID &&
			    !lid_is_multicast(packets[i].lrh.dlid))
				continue;
			if (packets[i].kind == PACKET_IBA)
				hca_receive(hca, now, 1, &packets[i]);
			else
				hca_receive_raw(hca, now, 1, &packets[i]);
		}
		if (count)
			hca_ready_add(hca, qp);
	}
}

void adapter_prepare(struct adapter *adapter, struct qp_object *qp, time_ns now)
{
	(void)adapter;
	(void)qp;
	(void)now;
}

void adapter_last_answers(struct adapter *adapter, struct qp_object *qp, time_ns now)
{
	(void)qp;
	adapter_transmit(adapter, now);
}

bool adapter_post(struct adapter *adapter, struct qp_object *qp, const struct send_request *request)
{
	(void)adapter;
	(void)qp;
	(void)request;
	return false;
}

bool adapter_post_by_template(struct adapter *adapter, struct qp_object *qp, uint64_t wr_id,
			      uint32_t flags, const struct sge *sge)
{
	(void)adapter, (void)qp, (void)wr_id, (void)flags, (void)sge;
	return false;
}

bool adapter_rma(struct adapter *adapter, struct qp_object *qp, const struct rma_request *request,
		 const struct sge *sge)
{
	(void)adapter, (void)qp, (void)request, (void)sge;
	return false;
}

void adapter_posted(struct adapter *adapter)
{
	(void)adapter;
}

bool adapter_is_paced(const struct adapter *adapter)
{
	(void)adapter;
	return false;
}

unsigned adapter_programs_per_core(const struct adapter *adapter)
{
	(void)adapter;
	return 1;
}

void adapter_nap(struct adapter *adapter, time_ns nap_ns)
{
	(void)adapter, (void)nap_ns;
}

bool adapter_sends_through_softibd(const struct adapter *adapter)
{
	(void)adapter;
	return false;
}

void adapter_expect_silence(struct adapter *adapter)
{
	(void)adapter;
}

bool adapter_progress(struct adapter *adapter, time_ns now)
{
	if (hca_deadline(&adapter->hca) > now && !hca_ready_first(&adapter->hca))
		return false;
	hca_expire(&adapter->hca, now);
	adapter_transmit(adapter, now);
	return true;
}

void adapter_send(struct adapter *adapter, struct qp_object *qp)
{
	hca_ready_add(&adapter->hca, &qp->qp);
	adapter_transmit(adapter, adapter_now(adapter));
}

bool adapter_poll(struct adapter *adapter)
{
	return adapter_progress(adapter, adapter_now(adapter));
}

void adapter_want_time(struct adapter *adapter)
{
	(void)adapter;
}

int adapter_more_qpns(struct adapter *adapter)
{
	int error = hca_add_qpns(&adapter->hca, adapter->next_qpn, QPNS_PER_BLOCK);

	if (!error)
		adapter->next_qpn += QPNS_PER_BLOCK;
	return error;
}

/* There are no other processes, so that no domain has an id. */
int adapter_domain_open(struct adapter *adapter, const struct xrcd_file *file,
			enum xrcd_opening opening, struct xrcd **ret_xrcd)
{
	adapter_lock(adapter);

	int error = xrcd_open(&adapter->hca, file, opening, ret_xrcd);

	adapter_unlock(adapter);
	return error;
}

int adapter_domain_close(struct adapter *adapter, struct xrcd *xrcd)
{
	adapter_lock(adapter);

	int error = xrcd_close(xrcd);

	adapter_unlock(adapter);
	return error;
}

int adapter_target_create(struct adapter *adapter, const struct qp_options *options,
			  struct qp_object **ret_object)
{
	return qp_object_create(&adapter->hca, options, ret_object);
}

int adapter_target_open(struct adapter *adapter, struct xrcd *xrcd, uint32_t qpn, void *context,
			struct qp_object **ret_object)
{
	(void)adapter;
	(void)xrcd;
	(void)qpn;
	(void)context;
	(void)ret_object;
	return -EINVAL;
}

void adapter_target_close(struct adapter *adapter, struct qp_object *object)
{
	(void)adapter;
	(void)object;
}

int adapter_target_hold(struct adapter *adapter, struct qp_object *object)
{
	(void)adapter;
	(void)object;
	return 0;
}

void adapter_target_release(struct adapter *adapter, struct qp_object *object)
{
	(void)adapter;
	(void)object;
}

/* One process, whose adapter itself knows of its raw queue pairs. */
int adapter_raw_claim(struct adapter *adapter, uint8_t port_number, enum raw_kind kind)
{
	(void)adapter;
	(void)port_number;
	(void)kind;
	return 0;
}

void adapter_raw_release(struct adapter *adapter, uint8_t port_number, enum raw_kind kind)
{
	(void)adapter;
	(void)port_number;
	(void)kind;
}

void adapter_raw_settle(struct adapter *adapter)
{
	(void)adapter;
}
