/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of the fields of a node's attributes. */
#ifndef SOFTIB_MGMT_AGENTS_NODE_FIELD_LIMITS_H
#define SOFTIB_MGMT_AGENTS_NODE_FIELD_LIMITS_H

#include "base/attributes.h"
#include "mgmt/agents/node_fields.h"

/* NODE_SET_OK, NODE_SET_FIXED, or NODE_SET_OUT_OF_RANGE with the greatest legal value. */
MUST_USE enum node_set_result node_field_check_limit(const struct node_attribute *attribute,
						     const struct attribute_field *field,
						     uint64_t value, uint64_t *ret_max);

#endif
