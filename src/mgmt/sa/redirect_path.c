/* SPDX-License-Identifier: Apache-2.0 */
/* Paths to the GIDs that redirections name, from the SA (management 1.6). */
#include "mgmt/sa/redirect_path.h"

bool redirect_path_ask(struct sa_client *client, const struct gid *gid, struct mad_purpose purpose)
{
	const struct path_record wanted = {
		.sgid_prefix = gid_prefix(&client->own_gid),
		.sgid_guid = gid_guid(&client->own_gid),
		.dgid_prefix = gid_prefix(gid),
		.dgid_guid = gid_guid(gid),
	};

	return wanted.sgid_guid &&
	       sa_client_query_path(client, &wanted, SA_COMPONENT(PR_SGID) | SA_COMPONENT(PR_DGID),
				    purpose) == 0;
}

bool redirect_path_read(const struct sa_client_result *result, struct mad_path *ret_path)
{
	struct path_record record;

	if (result->outcome != SA_CLIENT_ANSWERED)
		return false;
	path_record_decode(result->data, &record);
	*ret_path = (struct mad_path){
		.lid = record.dlid, .sl = record.sl, .hop_limit = record.hop_limit};
	return true;
}

bool redirect_path_take(struct mad_transactions *transactions,
			const struct sa_client_result *result, struct mad_purpose *ret_purpose,
			struct mad_message *ret_redirection)
{
	struct mad_path path;
	bool is_known = redirect_path_read(result, &path);

	return mad_transactions_take_path(transactions, result->purpose.detail,
					  is_known ? &path : NULL, ret_purpose, ret_redirection);
}
