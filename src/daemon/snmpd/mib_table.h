/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables and groups of objects whose values are functions of a node's state, as a handler of
 * net-snmp's agent. Rows and columns are in ascending order, so that GETNEXT is a search.
 */
#ifndef SOFTIB_DAEMON_SNMPD_MIB_TABLE_H
#define SOFTIB_DAEMON_SNMPD_MIB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
#include <net-snmp/agent/net-snmp-agent-includes.h>
#include "base/attributes.h"
#include "daemon/snmpd/snmpd_nodes.h"

enum { MIB_INDEX_MAX = 2, MIB_ROOT_MAX = 16 };

/* A value, in the member that its type asks for. */
struct mib_value {
	uint64_t number; /* INTEGER, Gauge32, Counter32, Counter64, TimeTicks */
	const void *bytes;
	size_t byte_count; /* OCTET STRING; OBJECT IDENTIFIER: of its oids */
	uint8_t own[16];   /* where a value may be made that bytes points to */
};

typedef void mib_get(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value);
/* SNMP_ERR_NOERROR or the error of the request. */
typedef int mib_set(struct snmpd_node *node, const netsnmp_variable_list *value);

struct mib_column {
	unsigned number;
	uint8_t type; /* ASN_... */
	mib_get *get;
	mib_set *check, *set; /* NULL: read-only */
};

struct mib_table {
	const char *name;
	oid root[MIB_ROOT_MAX]; /* of the entry; of a group itself */
	size_t root_length;
	const struct mib_column *columns;
	size_t column_count;
	/* NULL: a group of scalars. */
	unsigned (*row_count)(const struct snmpd_node *node);
	size_t index_length;
	void (*index)(const struct snmpd_node *node, unsigned row, oid ret_index[]);
};

/* false: net-snmp refused it. */
MUST_USE bool mib_table_register(const struct mib_table *table);

/* Each NULL-terminated. */
extern const struct mib_table mib_system_tables[];
extern const struct mib_table mib_interface_tables[];
extern const struct mib_table mib_infiniband_tables[];

/* softibMIB, below net-snmp's playpen: not registered with anybody. */
#define SOFTIB_MIB 1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 2523

#endif
