/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs that fail on purpose: the faults that softibd injects into a program (RECORD_VERB_FAULT).
 * Records come in order; a program that attaches later gets the faults that still hold.
 */
#ifndef SOFTIB_IPC_VERB_FAULTS_H
#define SOFTIB_IPC_VERB_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/* Calls that can be made to fail; verb_call_names has their names. */
enum verb_call {
	VERB_OPEN_DEVICE,
	VERB_QUERY_DEVICE,
	VERB_QUERY_PORT,
	VERB_QUERY_GID,
	VERB_ALLOC_PD,
	VERB_REG_MR,
	VERB_DEREG_MR,
	VERB_ALLOC_MW,
	VERB_CREATE_COMP_CHANNEL,
	VERB_CREATE_CQ,
	VERB_REQ_NOTIFY_CQ,
	VERB_CREATE_SRQ,
	VERB_CREATE_QP,
	VERB_MODIFY_QP,
	VERB_CREATE_AH,
	VERB_ATTACH_MCAST,
	VERB_POST_SEND,
	VERB_POST_RECV,
	VERB_POST_SRQ_RECV,
	VERB_CALL_COUNT,
};

enum verb_fault_kind {
	VERB_FAULT_CALL,
	VERB_FAULT_COMPLETION,
	VERB_FAULT_EVENT, /* now, once */
	VERB_FAULT_NONE,  /* all earlier faults are over */
};

enum { VERB_FAULTS_MAX = 64, COMPLETION_STATUS_COUNT = 24, ASYNC_EVENT_COUNT = 19 };

struct verb_fault {
	uint32_t kind;
	uint32_t call;	 /* enum verb_call */
	int32_t error;	 /* positive */
	uint32_t status; /* of completions, as the verbs number them */
	uint32_t event;	 /* as the verbs number them */
	uint32_t reserved;
	uint64_t skip_count; /* calls that succeed first */
	uint64_t times;	     /* calls that then may fail; 0: no limit */
	uint64_t chance;     /* of each of them, in parts of 2^32 */
	uint64_t seed;
};

/* By number; NULL where the verbs have none. */
extern const char *const verb_call_names[VERB_CALL_COUNT];
extern const char *const completion_status_names[COMPLETION_STATUS_COUNT];
extern const char *const async_event_names[ASYNC_EVENT_COUNT];

#endif
