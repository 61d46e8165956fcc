/* SPDX-License-Identifier: Apache-2.0 */
/* Communities, users and views, in the words of net-snmp's snmpd.conf. */
#ifndef SOFTIB_DAEMON_SNMPD_SNMPD_CONFIG_H
#define SOFTIB_DAEMON_SNMPD_SNMPD_CONFIG_H

#include <stdbool.h>
#include "base/attributes.h"

/* How notifications are sent: the directive "softibTraps 1|2c COMMUNITY" or "softibTraps 3 USER
 * noauth|auth|priv". */
struct snmpd_trap_settings {
	long version;  /* SNMP_VERSION_1, SNMP_VERSION_2c or SNMP_VERSION_3 */
	char name[65]; /* the community, or the user */
	int security_level;
};

extern struct snmpd_trap_settings snmpd_trap_settings;

/* Adds softib's own directive. */
void snmpd_config_register(void);
/* Call it before init_snmp(), which puts the rules into force. false: the file can't be read. */
MUST_USE bool snmpd_config_read(const char *path);
/* snmpEngineBoots, after init_snmp(). */
void snmpd_config_set_boots(unsigned start_count);

void snmpd_config_set_engine_id(const char *text);
/* Makes the users of createUser for the present engine ID. */
void snmpd_config_create_users(void);

#endif
