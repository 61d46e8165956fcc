/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a management class at one port: the CC_Key and the B_Key. The rules are those of the
 * M_Key at protection levels 0 and 1 (management 2.3, 6.2, 6.5). */
#ifndef SOFTIB_MGMT_AGENTS_CLASS_KEY_H
#define SOFTIB_MGMT_AGENTS_CLASS_KEY_H

#include "mgmt/agents/gs_agent.h"
#include "wire/class_key_info.h"

struct class_key {
	struct class_key_info info;
	time_ns lease_ends_at; /* TIME_NEVER: the lease timer does not run */
};

void class_key_init(struct class_key *key);

/* The key that the request carries. */
uint64_t class_key_of(const struct gs_request *request);

/* Every Get passes; any other method needs the key. If the request does not pass, the violation is
 * counted and the lease timer starts; the caller raises the trap of the class. */
MUST_USE bool class_key_admits(struct class_key *key, const struct gs_request *request);

/* The attribute as this requester may see it. */
struct class_key_info class_key_show(struct class_key *key, const struct gs_request *request);
void class_key_change(struct class_key *key, const struct class_key_info *info);

#endif
