/* SPDX-License-Identifier: Apache-2.0 */
/* Redirection of a general service class to another QP or port (management 1.6). */
#include "mgmt/mad/redirect.h"

#include "base/bytes.h"
#include "wire/class_port_info.h"
#include "wire/pkey.h"
#include "wire/rmpp.h"
#include "wire/smp.h"

size_t mad_data_offset(uint8_t management_class)
{
	if (management_class == MAD_CLASS_COMMUNICATION ||
	    (management_class >= MAD_CLASS_VENDOR1_FIRST &&
	     management_class <= MAD_CLASS_VENDOR1_LAST))
		return MAD_HEADER_BYTES;
	if (rmpp_class_has_header(management_class))
		return rmpp_data_offset(management_class);
	return SMP_DATA_OFFSET;
}

/* Some agents write their own place where there is no redirection. */
static bool names_another_place(const struct mad_message *answer)
{
	struct class_port_info info;

	mad_redirect_read(answer, &info);
	if (info.redirect_lid && info.redirect_lid == answer->address.lid &&
	    (!info.redirect_qpn || info.redirect_qpn == answer->address.qpn))
		return false;
	return info.redirect_lid || info.redirect_gid_guid;
}

bool mad_is_redirected(const struct mad_message *answer)
{
	uint8_t management_class = answer->bytes[MAD_CLASS_OFFSET];
	uint16_t status = get_be16(answer->bytes + MAD_STATUS_OFFSET);

	if (management_class == MAD_CLASS_SUBNET_LID ||
	    management_class == MAD_CLASS_SUBNET_DIRECTED)
		return false;
	return status & MAD_STATUS_REDIRECT ||
	       (status == MAD_STATUS_OK && answer->bytes[MAD_METHOD_OFFSET] == MAD_GET_RESPONSE &&
		get_be16(answer->bytes + MAD_ATTRIBUTE_ID_OFFSET) == ATTRIBUTE_CLASS_PORT_INFO &&
		names_another_place(answer));
}

bool mad_path_within_subnet(const struct gid *gid, const struct gid *own, uint16_t lid, uint8_t sl,
			    struct mad_path *ret_path)
{
	if (!lid || gid_prefix(gid) != gid_prefix(own))
		return false;
	*ret_path = (struct mad_path){.lid = lid, .sl = sl};
	return true;
}

/* Copies the fields that are needed whether the target is named by LID or by GID. */
static void take_place(const struct class_port_info *info, struct mad_address *address)
{
	address->qpn = info->redirect_qpn ? info->redirect_qpn : QPN_GSI;
	address->traffic_class = info->redirect_traffic_class;
	address->flow_label = info->redirect_flow_label;
	if (info->redirect_qkey)
		address->qkey = info->redirect_qkey;
	if (info->redirect_pkey & 0x7fff)
		address->pkey = info->redirect_pkey;
	if (info->redirect_gid_guid)
		address->gid = gid_from(info->redirect_gid_prefix, info->redirect_gid_guid);
	else
		address->has_grh = false;
}

bool mad_redirect_apply(const struct class_port_info *info, struct mad_address *address)
{
	if (!lid_is_unicast(info->redirect_lid))
		return false;
	address->lid = info->redirect_lid;
	address->sl = info->redirect_sl;
	take_place(info, address);
	/* Traffic class and flow label travel in a GRH, which RedirectGID asks for. */
	address->has_grh = info->redirect_gid_guid;
	return true;
}

bool mad_redirect_needs_path(const struct class_port_info *info)
{
	return !info->redirect_lid && info->redirect_gid_guid;
}

bool mad_redirect_apply_path(const struct class_port_info *info, const struct mad_path *path,
			     struct mad_address *address)
{
	if (!mad_redirect_needs_path(info) || !lid_is_unicast(path->lid))
		return false;
	address->lid = path->lid;
	address->sl = path->sl;
	take_place(info, address);
	if (path->hop_limit > 1) {
		address->has_grh = true;
		address->hop_limit = path->hop_limit;
	}
	return true;
}

void mad_redirect_read(const struct mad_message *answer, struct class_port_info *ret_info)
{
	class_port_info_decode(answer->bytes + mad_data_offset(answer->bytes[MAD_CLASS_OFFSET]),
			       ret_info);
}
