/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of an adapter and its ports (vol 1, chapter 11: Query HCA). */
#include "api/libibverbs/objects/objects.h"

#include <string.h>
#include "api/libibverbs/device_memory.h"
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/operations.h"
#include "base/bytes.h"
#include "net/transport/pacing.h"

enum {
	VENDOR_ID = 0x025f1b,
	ADAPTER_PART_ID = 1,
	HARDWARE_VERSION = 1,
	/* rdma-core 49 added a 32-bit speed behind the ibv_port_attr of 44. */
	ACTIVE_SPEED_EX_OFFSET = 52,
};

#define PAGE_SIZES 0xfffffffffffff000u
#define CLOCK_KHZ  1000000u

/* Bits of device_cap_flags_ex that verbs.h names since rdma-core 45. */
#define DEVICE_FLUSH_GLOBAL	(UINT64_C(1) << 38)
#define DEVICE_FLUSH_PERSISTENT (UINT64_C(1) << 39)
#define DEVICE_ATOMIC_WRITE	(UINT64_C(1) << 40)

static __be64 to_be64(uint64_t value)
{
	uint8_t bytes[8];
	__be64 result;

	put_be64(bytes, value);
	memcpy(&result, bytes, sizeof(result));
	return result;
}

static int at_most_int_max(uint64_t value)
{
	return value > INT32_MAX ? INT32_MAX : (int)value;
}

int ibv_query_device(struct ibv_context *public, struct ibv_device_attr *ret_attr)
{
	if (!public || !ret_attr)
		return verbs_result(-EINVAL);

	struct context_object *context = context_of(public);
	const struct hca *hca = adapter_hca(context->adapter);
	const struct hca_limits *limits = &hca->limits;
	int fault = injected_fault(VERB_QUERY_DEVICE);

	if (unlikely(fault))
		return verbs_result(fault);
	*ret_attr = (struct ibv_device_attr){
		.fw_ver = "0.1.0",
		.node_guid = to_be64(hca->node_guid),
		.sys_image_guid = to_be64(hca->system_image_guid),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = PAGE_SIZES,
		.vendor_id = VENDOR_ID,
		.vendor_part_id = ADAPTER_PART_ID,
		.hw_ver = HARDWARE_VERSION,
		.max_qp = at_most_int_max(limits->qp_count_max),
		.max_qp_wr = at_most_int_max(limits->requests_max),
		.device_cap_flags = IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR |
				    IBV_DEVICE_CHANGE_PHY_PORT | IBV_DEVICE_CURR_QP_STATE_MOD |
				    IBV_DEVICE_RAW_MULTI | IBV_DEVICE_AUTO_PATH_MIG |
				    IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
				    IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE |
				    IBV_DEVICE_XRC | IBV_DEVICE_MEM_WINDOW |
				    IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS,
		.max_sge = at_most_int_max(limits->sges_max),
		.max_sge_rd = at_most_int_max(limits->sges_max),
		.max_cq = at_most_int_max(limits->cq_count_max),
		.max_cqe = at_most_int_max(limits->cqes_max),
		.max_mr = at_most_int_max(limits->region_count_max),
		.max_mw = at_most_int_max(limits->region_count_max),
		.max_pd = at_most_int_max(limits->pd_count_max),
		.max_qp_rd_atom = limits->responder_resources_max,
		.max_res_rd_atom = at_most_int_max((uint64_t)limits->responder_resources_max *
						   limits->qp_count_max),
		.max_qp_init_rd_atom = limits->initiator_depth_max,
		/* Atomics are the processor's own, so IBV_ATOMIC_GLOB would also be true. But UCX
		 * uses an adapter's atomics only if it reports IBV_ATOMIC_HCA. */
		.atomic_cap = IBV_ATOMIC_HCA,
		.max_ah = at_most_int_max(limits->ah_count_max),
		.max_srq = at_most_int_max(limits->srq_count_max),
		.max_srq_wr = at_most_int_max(limits->srq_requests_max),
		.max_srq_sge = at_most_int_max(limits->srq_sges_max),
		.max_ee = at_most_int_max(limits->eec_count_max),
		.max_rdd = at_most_int_max(limits->rdd_count_max),
		.max_ee_rd_atom = limits->responder_resources_max,
		.max_ee_init_rd_atom = limits->initiator_depth_max,
		.max_raw_ipv6_qp = (int)hca->port_count,
		.max_raw_ethy_qp = (int)hca->port_count,
		.max_mcast_grp = at_most_int_max(limits->multicast_groups_max),
		.max_mcast_qp_attach = at_most_int_max(limits->multicast_members_max),
		.max_total_mcast_qp_attach = at_most_int_max(limits->multicast_total_members_max),
		.max_pkeys = PORT_PKEYS_MAX,
		.local_ca_ack_delay = limits->ack_delay,
		.phys_port_cnt = (uint8_t)hca->port_count,
	};
	return 0;
}

int verbs_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *ret_attr, size_t attr_bytes)
{
	if (!ret_attr)
		return verbs_result(-EINVAL);

	struct ibv_device_attr_ex attr = {
		.odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT,
		.odp_caps.per_transport_caps.rc_odp_caps =
			IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
			IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV,
		.odp_caps.per_transport_caps.uc_odp_caps =
			IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
			IBV_ODP_SUPPORT_SRQ_RECV,
		.odp_caps.per_transport_caps.ud_odp_caps =
			IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV,
		.xrc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE |
				IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC |
				IBV_ODP_SUPPORT_SRQ_RECV,
		.packet_pacing_caps.qp_rate_limit_min = RATE_LIMIT_MIN,
		.packet_pacing_caps.qp_rate_limit_max = RATE_LIMIT_MAX,
		.packet_pacing_caps.supported_qpts =
			1 << IBV_QPT_RC | 1 << IBV_QPT_UC | 1 << IBV_QPT_UD | 1 << IBV_QPT_XRC_SEND,
		.tm_caps.max_rndv_hdr_size = TAG_RENDEZVOUS_BYTES_MAX,
		.tm_caps.max_num_tags = TAGS_MAX,
		.tm_caps.flags = IBV_TM_CAP_RC,
		.tm_caps.max_ops = TAG_OPERATIONS_MAX,
		.tm_caps.max_sge = TAG_SGES_MAX,
		.cq_mod_caps.max_cq_count = UINT16_MAX,
		.cq_mod_caps.max_cq_period = UINT16_MAX,
		.completion_timestamp_mask = UINT64_MAX,
		.hca_core_clock = CLOCK_KHZ,
		.max_dm_size = DEVICE_MEMORY_BYTES_MAX,
	};

	if (input && input->comp_mask)
		return verbs_result(-EINVAL);
	if (attr_bytes < sizeof(attr.orig_attr))
		return verbs_result(-EINVAL);

	int error = ibv_query_device(context, &attr.orig_attr);

	if (error)
		return error;
	attr.device_cap_flags_ex = attr.orig_attr.device_cap_flags | DEVICE_FLUSH_GLOBAL |
				   DEVICE_FLUSH_PERSISTENT | DEVICE_ATOMIC_WRITE;
	attr.phys_port_cnt_ex = attr.orig_attr.phys_port_cnt;
	memset(ret_attr, 0, attr_bytes);
	memcpy(ret_attr, &attr, attr_bytes < sizeof(attr) ? attr_bytes : sizeof(attr));
	return 0;
}

int verbs_query_rt_values(struct ibv_context *public, struct ibv_values_ex *ret_values)
{
	if (!ret_values)
		return verbs_result(-EINVAL);

	struct context_object *context = context_of(public);
	uint32_t given = ret_values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK;

	if (given) {
		time_ns now = adapter_now(context->adapter);

		ret_values->raw_clock.tv_sec = (time_t)(now / SECONDS(1));
		ret_values->raw_clock.tv_nsec = (long)(now % SECONDS(1));
	}
	ret_values->comp_mask = given;
	return 0;
}

/* A copy of the port's view, taken under the lock. */
static int copy_port(struct ibv_context *public, unsigned port_number, struct port_view *ret_port)
{
	struct context_object *context = context_of(public);
	const struct hca *hca = adapter_hca(context->adapter);

	if (port_number == 0 || port_number > hca->port_count)
		return -EINVAL;
	adapter_lock(context->adapter);
	*ret_port = *hca->port_views[port_number - 1];
	adapter_unlock(context->adapter);
	return 0;
}

int verbs_query_port(struct ibv_context *context, uint8_t port_number,
		     struct ibv_port_attr *ret_attr, size_t attr_bytes)
{
	if (!ret_attr)
		return verbs_result(-EINVAL);

	struct port_view port;
	int error = injected_fault(VERB_QUERY_PORT);

	if (!error)
		error = copy_port(context, port_number, &port);
	if (error)
		return verbs_result(error);

	const uint32_t speed = port.link_speed_active;
	const struct ibv_port_attr attr = {
		.state = (enum ibv_port_state)port.state,
		.max_mtu = (enum ibv_mtu)port.mtu_cap_code,
		.active_mtu = (enum ibv_mtu)port.mtu_code,
		.gid_tbl_len = port.gid_count,
		.port_cap_flags = port.capability_mask,
		.max_msg_sz = MESSAGE_BYTES_MAX,
		.bad_pkey_cntr = port.pkey_violations,
		.qkey_viol_cntr = port.qkey_violations,
		.pkey_tbl_len = port.pkey_count,
		.lid = port.lid,
		.sm_lid = port.sm_lid,
		.lmc = port.lmc,
		.max_vl_num = port.vl_count_code,
		.sm_sl = port.sm_sl,
		.subnet_timeout = port.subnet_timeout,
		.init_type_reply = port.init_type_reply,
		.active_width = port.link_width_active,
		.active_speed = (uint8_t)(speed > 128 ? 128 : speed),
		.phys_state = port.physical_state,
		.link_layer = IBV_LINK_LAYER_INFINIBAND,
	};
	size_t known_bytes =
		sizeof(attr) < ACTIVE_SPEED_EX_OFFSET ? sizeof(attr) : ACTIVE_SPEED_EX_OFFSET;

	memset(ret_attr, 0, attr_bytes);
	memcpy(ret_attr, &attr, attr_bytes < known_bytes ? attr_bytes : known_bytes);
	if (attr_bytes >= ACTIVE_SPEED_EX_OFFSET + sizeof(speed))
		memcpy((char *)ret_attr + ACTIVE_SPEED_EX_OFFSET, &speed, sizeof(speed));
	return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port_number,
		   struct _compat_ibv_port_attr *ret_attr)
{
	return verbs_query_port(context, port_number, (struct ibv_port_attr *)ret_attr,
				EXPORTED_PORT_ATTR_BYTES);
}

static bool gid_is_unused(const struct gid *gid)
{
	return gid_guid(gid) == 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_number, int index,
		  union ibv_gid *ret_gid)
{
	if (!context || !ret_gid) {
		errno = EINVAL;
		return -1;
	}

	struct port_view port;
	int error = injected_fault(VERB_QUERY_GID);

	if (!error)
		error = copy_port(context, port_number, &port);
	if (!error && (index < 0 || index >= port.gid_count || index >= PORT_GIDS_MAX))
		error = -EINVAL;
	if (error) {
		errno = -error;
		return -1;
	}
	memcpy(ret_gid->raw, port.gids[index].bytes, sizeof(ret_gid->raw));
	return 0;
}

static struct ibv_gid_entry gid_entry(const struct port_view *port, uint32_t index)
{
	struct ibv_gid_entry entry = {
		.gid_index = index,
		.port_num = port->number,
		.gid_type = IBV_GID_TYPE_IB,
	};

	memcpy(entry.gid.raw, port->gids[index].bytes, sizeof(entry.gid.raw));
	return entry;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_number, uint32_t index,
		      struct ibv_gid_entry *ret_entry, uint32_t flags, size_t entry_bytes)
{
	if (!context || !ret_entry)
		return verbs_result(-EINVAL);

	struct port_view port;
	int error = flags ? -EOPNOTSUPP : copy_port(context, port_number, &port);

	if (error)
		return verbs_result(error);
	if (index >= port.gid_count || index >= PORT_GIDS_MAX)
		return verbs_result(-EINVAL);
	if (gid_is_unused(&port.gids[index]))
		return verbs_result(-ENODATA);

	const struct ibv_gid_entry entry = gid_entry(&port, index);

	memset(ret_entry, 0, entry_bytes);
	memcpy(ret_entry, &entry, entry_bytes < sizeof(entry) ? entry_bytes : sizeof(entry));
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *ret_entries,
			     size_t entry_count_max, uint32_t flags, size_t entry_bytes)
{
	if (!context || !ret_entries)
		return -EINVAL;

	const struct hca *hca = adapter_hca(context_of(context)->adapter);
	size_t count = 0;

	if (flags || entry_bytes == 0)
		return -EOPNOTSUPP;
	for (unsigned number = 1; number <= hca->port_count; number++) {
		struct port_view port;
		int error = copy_port(context, number, &port);

		if (error)
			return error;
		for (uint32_t i = 0; i < port.gid_count && i < PORT_GIDS_MAX; i++) {
			const struct ibv_gid_entry entry = gid_entry(&port, i);
			char *place = (char *)ret_entries + count * entry_bytes;

			if (gid_is_unused(&port.gids[i]))
				continue;
			if (count == entry_count_max)
				return -EINVAL;
			memset(place, 0, entry_bytes);
			memcpy(place, &entry,
			       entry_bytes < sizeof(entry) ? entry_bytes : sizeof(entry));
			count++;
		}
	}
	return (ssize_t)count;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_number, int index, __be16 *ret_pkey)
{
	if (!context || !ret_pkey) {
		errno = EINVAL;
		return -1;
	}

	struct port_view port;
	int error = copy_port(context, port_number, &port);

	if (!error && (index < 0 || index >= port.pkey_count || index >= PORT_PKEYS_MAX))
		error = -EINVAL;
	if (error) {
		errno = -error;
		return -1;
	}
	*ret_pkey = __builtin_bswap16(port.pkeys[index]);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_number, __be16 pkey)
{
	if (!context) {
		errno = EINVAL;
		return -1;
	}

	struct port_view port;
	int error = copy_port(context, port_number, &port);

	for (int i = 0; !error && i < port.pkey_count && i < PORT_PKEYS_MAX; i++)
		if (port.pkeys[i] == __builtin_bswap16(pkey))
			return i;
	errno = error ? -error : ENOENT;
	return -1;
}
