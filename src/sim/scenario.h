/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario: the file that softib sim runs (softib-scenario(5)).
 *
 * The reader checks every word. Names of hosts and ports are looked up when the scenario runs.
 */
#ifndef SOFTIB_SIM_SCENARIO_H
#define SOFTIB_SIM_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "fabric/faults/fault_judge.h"
#include "net/link/port.h"

enum {
	SCENARIO_NAME_BYTES = 64,
	SCENARIO_TEXT_BYTES = 256,
	SCENARIO_FLOWS_MAX = 65536,
	SCENARIO_EVENTS_MAX = 4096,
	SCENARIO_SETTINGS_MAX = 4096,
	SCENARIO_MEMBERS_MAX = 64,
};

enum flow_service { FLOW_RC, FLOW_UC, FLOW_UD, FLOW_LOAD, FLOW_MULTICAST };

/* One stream of messages. */
struct scenario_flow {
	char name[SCENARIO_NAME_BYTES];
	char from[SCENARIO_NAME_BYTES];
	char to[SCENARIO_NAME_BYTES]; /* empty for a multicast */
	char (*members)[SCENARIO_NAME_BYTES];
	unsigned member_count;
	enum flow_service service;
	uint32_t message_bytes;
	uint64_t bits_per_second; /* of payload; 0: no limit */
	unsigned depth;		  /* messages outstanding at once */
	uint64_t message_count;	  /* 0: until it stops */
	time_ns start, stop;	  /* after the subnet came up; stop 0: at the end */
	uint8_t sl;
	uint8_t static_rate; /* rate code; 0: none */
	unsigned line;
};

/* Settings of ports: links before the manager brings them up, tables after it. */
enum setting_kind { SETTING_LINK, SETTING_SL_TO_VL, SETTING_VL_ARBITRATION, SETTING_LIFETIME };

struct scenario_setting {
	enum setting_kind kind;
	char port[SCENARIO_NAME_BYTES]; /* "*": all */
	uint8_t width;			/* PortInfo codes; 0: unchanged */
	uint16_t speed;			/* 1 SDR .. 256 XDR */
	uint8_t sl_to_vl[SL_COUNT];
	bool is_high;
	unsigned entry_count;
	uint8_t entries[VL_ARBITRATION_ENTRIES][2];
	int limit;			     /* of high priority; -1: not given */
	int head_of_queue_code, switch_code; /* -1: not given */
	unsigned line;
};

enum event_kind { EVENT_LINK_DOWN, EVENT_LINK_UP, EVENT_FAULT, EVENT_FAULT_CLEAR };

struct scenario_event {
	enum event_kind kind;
	time_ns at; /* after the subnet came up */
	char port[SCENARIO_NAME_BYTES];
	struct fault_settings faults;
	unsigned line;
};

struct scenario {
	char topology[SCENARIO_TEXT_BYTES]; /* a generator, or the path of a file as written */
	bool topology_is_file;
	char engine[SCENARIO_NAME_BYTES]; /* "": the default */
	uint64_t seed;
	time_ns duration;
	time_ns warmup;	       /* not measured */
	uint8_t data_vl_count; /* of every port: 1, 2, 4, 8 or 15; 0: as the topology says */
	bool checks;	       /* checks the invariants after every millisecond */
	bool controls_congestion;
	struct scenario_flow *flows;
	uint32_t flow_count;
	struct scenario_setting *settings;
	uint32_t setting_count;
	struct scenario_event *events; /* sorted by time */
	uint32_t event_count;
};

struct scenario_error {
	unsigned line; /* from 1; 0: the error is not about a line */
	char reason[SCENARIO_TEXT_BYTES];
};

/* -EINVAL with line and reason; -ENOMEM. */
MUST_USE int scenario_read(const char *text, size_t byte_count, struct scenario *ret_scenario,
			   struct scenario_error *ret_error);
void scenario_release(struct scenario *scenario);

#endif
