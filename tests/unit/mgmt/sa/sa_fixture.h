/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small subnet and its SA, for tests that ask it.
 *
 *	hosts 1 and 2 - switch 1 - switch 2 - hosts 3 and 4, router
 *
 * LIDs: hosts 1 to 4, switches 5 and 6, router 7; with LMC 1 hosts and router have two each. The SA
 * is on host 1. Host n is in the default partition as a full member unless a test says otherwise.
 */
#ifndef SOFTIB_TESTS_SA_FIXTURE_H
#define SOFTIB_TESTS_SA_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "mgmt/sa/sa.h"
#include "mgmt/subnet/multicast_groups.h"
#include "mgmt/subnet/subnet.h"
#include "wire/sa_components.h"
#include "wire/sa_mad.h"
#include "wire/sa_records.h"

enum {
	FIXTURE_HOSTS = 4,
	FIXTURE_SWITCHES = 2,
	FIXTURE_UPLINK = 8, /* the switches' ports towards each other */
	FIXTURE_TABLE_BYTES = 1 << 16,
	FIXTURE_CHANGES = 64,
};

#define FIXTURE_SM_KEY 0x1234567890abcdefu

struct sa_fixture {
	struct subnet *subnet; /* the manager's */
	struct sa *sa;
	time_ns now;
	struct subnet_node *hosts[FIXTURE_HOSTS + 1]; /* from 1 */
	struct subnet_node *switches[FIXTURE_SWITCHES + 1];
	struct subnet_node *router;
	uint16_t changed_mlids[FIXTURE_CHANGES];
	unsigned changed_count;
	uint64_t asked_guids[FIXTURE_CHANGES]; /* ports with ClientReregister */
	unsigned asked_count;
	uint64_t next_transaction;
};

/* A request; fields that are not set are 0. */
struct sa_question {
	unsigned host; /* the host that asks; 0: a LID that no port has */
	enum mad_method method;
	uint16_t attribute_id;
	uint32_t attribute_modifier;
	uint64_t components;
	uint64_t sm_key;
	const uint8_t *data;
	size_t byte_count;
};

struct sa_reply {
	bool came;
	uint8_t method;
	uint16_t status;
	uint16_t attribute_id;
	uint64_t sm_key;
	size_t stride; /* tables */
	size_t count;  /* records; 1 for a single response with status 0 */
	uint8_t bytes[FIXTURE_TABLE_BYTES];
};

void sa_fixture_start(struct sa_fixture *fixture);
/* With 2^lmc LIDs for hosts and router. */
void sa_fixture_start_lmc(struct sa_fixture *fixture, uint8_t lmc);
/* With an SA that prunes in this interval. */
void sa_fixture_start_pruning(struct sa_fixture *fixture, time_ns prune_interval);
void sa_fixture_stop(struct sa_fixture *fixture);

/* Sets up the variable fixture for one test. */
int sa_fixture_set_up(void **state);
int sa_fixture_tear_down(void **state);
#define SA_FIXTURE_TEST(function)                                                                  \
	cmocka_unit_test_prestate_setup_teardown(function, sa_fixture_set_up,                      \
						 sa_fixture_tear_down, &fixture)

/* The port of host n; 0: of the router. */
struct subnet_port *fixture_port(const struct sa_fixture *fixture, unsigned host);
uint16_t fixture_lid(const struct sa_fixture *fixture, unsigned host);
struct gid fixture_gid(const struct sa_fixture *fixture, unsigned host);
void fixture_set_pkeys(struct sa_fixture *fixture, unsigned host, const uint16_t pkeys[],
		       unsigned pkey_count);
/* The manager has swept. */
void fixture_sweep(struct sa_fixture *fixture);
/* As fixture_sweep(), but host n was not found. */
void fixture_sweep_without(struct sa_fixture *fixture, unsigned host);

/* The MAD of a request, as it arrives. */
struct mad_message fixture_message(struct sa_fixture *fixture, const struct sa_question *question);
/* Sends the request, acknowledges tables segment by segment, and returns the whole response. */
void fixture_ask(struct sa_fixture *fixture, const struct sa_question *question,
		 struct sa_reply *ret_reply);
/* One message that the SA sends now. false: none. */
bool fixture_next_message(struct sa_fixture *fixture, struct mad_message *ret_message);

/* Shorthands. */
void fixture_ask_path(struct sa_fixture *fixture, unsigned host, enum mad_method method,
		      const struct path_record *wanted, uint64_t components,
		      struct sa_reply *ret_reply);
struct path_record reply_path(const struct sa_reply *reply, size_t index);
void fixture_ask_member(struct sa_fixture *fixture, unsigned host, enum mad_method method,
			const struct mc_member_record *wanted, uint64_t components,
			struct sa_reply *ret_reply);
struct mc_member_record reply_member(const struct sa_reply *reply, size_t index);

#endif
