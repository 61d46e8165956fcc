/* SPDX-License-Identifier: Apache-2.0 */
/* Communities, users and views. */
#include "daemon/snmpd/snmpd_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
#include <net-snmp/agent/net-snmp-agent-includes.h>
#include "daemon/snmpd/snmpd_link.h"

enum { LINE_BYTES = 1024, USERS_MAX = 64 };

struct snmpd_trap_settings snmpd_trap_settings = {SNMP_VERSION_2c, "public", SNMP_SEC_LEVEL_NOAUTH};

static char *user_lines[USERS_MAX];
static unsigned user_count;

static void parse_traps(const char *token, char *line)
{
	static const struct {
		const char *version, *level;
		struct snmpd_trap_settings settings;
	} forms[] = {
		{"1", "", {SNMP_VERSION_1, "", SNMP_SEC_LEVEL_NOAUTH}},
		{"2c", "", {SNMP_VERSION_2c, "", SNMP_SEC_LEVEL_NOAUTH}},
		{"3", "noauth", {SNMP_VERSION_3, "", SNMP_SEC_LEVEL_NOAUTH}},
		{"3", "auth", {SNMP_VERSION_3, "", SNMP_SEC_LEVEL_AUTHNOPRIV}},
		{"3", "priv", {SNMP_VERSION_3, "", SNMP_SEC_LEVEL_AUTHPRIV}},
	};
	char version[8] = "", name[65] = "public", level[8] = "";

	(void)token;
	sscanf(line, "%7s %64s %7s", version, name, level);
	for (size_t i = 0; i < ARRAY_COUNT(forms); i++)
		if (strcmp(forms[i].version, version) == 0 && strcmp(forms[i].level, level) == 0) {
			snmpd_trap_settings = forms[i].settings;
			memcpy(snmpd_trap_settings.name, name, sizeof(name));
			return;
		}
	config_perror("softibTraps takes 1 or 2c and a community, or 3, a user, and noauth, auth "
		      "or priv");
}

void snmpd_config_register(void)
{
	register_app_config_handler("softibTraps", parse_traps, NULL,
				    "1|2c COMMUNITY, or 3 USER noauth|auth|priv");
}

/* A directive of net-snmp, as from its file. */
static void apply(const char *line)
{
	char copy[LINE_BYTES];

	snprintf(copy, sizeof(copy), "%s", line);
	netsnmp_config(copy);
}

static bool is_user(const char *line)
{
	return strncasecmp(line, "createUser", strlen("createUser")) == 0;
}

static void take_line(char *line)
{
	char *begin = line + strspn(line, " \t");

	begin[strcspn(begin, "\r\n")] = '\0';
	if (!*begin || *begin == '#')
		return;
	if (!is_user(begin)) {
		apply(begin);
		return;
	}
	if (user_count < USERS_MAX)
		user_lines[user_count] = strdup(begin);
	if (user_count < USERS_MAX && user_lines[user_count])
		user_count++;
	else
		snmpd_link_log("too many users: %.64s is left out", begin);
}

static void take_defaults(void)
{
	apply("rocommunity public");
	apply("rwcommunity private");
}

bool snmpd_config_read(const char *path)
{
	char line[LINE_BYTES];
	FILE *file = path ? fopen(path, "re") : NULL;

	if (path && !file) {
		snmpd_link_log("%s: %s", path, strerror(errno));
		return false;
	}
	if (!file)
		take_defaults();
	while (file && fgets(line, sizeof(line), file))
		take_line(line);
	if (file)
		fclose(file);
	return true;
}

void snmpd_config_set_boots(unsigned start_count)
{
	char line[LINE_BYTES];

	/* Each start is a boot of all engines: their time begins anew. net-snmp adds one. */
	snprintf(line, sizeof(line), "engineBoots %u", start_count - 1);
	apply(line);
}

void snmpd_config_set_engine_id(const char *text)
{
	static const char directive[] = "exactEngineID";
	char line[LINE_BYTES];

	snprintf(line, sizeof(line), "%s", text);
	for (struct config_line *handler = read_config_get_handlers("softib-snmpd"); handler;
	     handler = handler->next)
		if (strcasecmp(handler->config_token, directive) == 0)
			handler->parse_line(directive, line);
}

void snmpd_config_create_users(void)
{
	for (unsigned i = 0; i < user_count; i++)
		apply(user_lines[i]);
}
