/* SPDX-License-Identifier: Apache-2.0 */
/* Get and Set of Notice in general service classes (management 5.1, 5.3). */
#include "mgmt/agents/class_notices.h"

#include "mgmt/agents/traps.h"
#include "wire/notice.h"
#include "wire/smp.h"

/* A manager that does not rely on traps can read and remove notices one by one (management 5.3). */
enum mad_status class_notice_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct notice notice = {.header = {.type = NOTICE_EMPTY}};

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	if (request->environment->memory)
		trap_peek_of_class(request->environment->memory, request->arrival,
				   request->header.management_class, &notice);
	notice_encode(&notice, ret_data);
	return MAD_STATUS_OK;
}

enum mad_status class_notice_set(const struct gs_request *request, uint8_t *ret_data)
{
	struct notice read;

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	notice_decode(request->data, &read);
	if (request->environment->memory)
		trap_remove(request->environment->memory, request->arrival,
			    request->header.management_class, &read.header);
	return class_notice_get(request, ret_data);
}
