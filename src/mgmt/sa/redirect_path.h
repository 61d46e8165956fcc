/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths to the GIDs that redirections name, from the SA (management 1.6): the ask_path of
 * mad_transactions_options, and what its result does.
 */
#ifndef SOFTIB_MGMT_SA_REDIRECT_PATH_H
#define SOFTIB_MGMT_SA_REDIRECT_PATH_H

#include "mgmt/sa/sa_client.h"

/* false: the client does not know its own GID, or has no room. */
MUST_USE bool redirect_path_ask(struct sa_client *client, const struct gid *gid,
				struct mad_purpose purpose);

/* The path in the result. false: there is none. */
MUST_USE bool redirect_path_read(const struct sa_client_result *result, struct mad_path *ret_path);

/* As mad_transactions_take_path(), whose number is the detail of the result's purpose. */
MUST_USE bool redirect_path_take(struct mad_transactions *transactions,
				 const struct sa_client_result *result,
				 struct mad_purpose *ret_purpose,
				 struct mad_message *ret_redirection);

#endif
