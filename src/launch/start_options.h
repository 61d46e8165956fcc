/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a new fabric: "softib up" takes them and passes them to softibd. */
#ifndef SOFTIB_LAUNCH_START_OPTIONS_H
#define SOFTIB_LAUNCH_START_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include "launch/mkey_settings.h"

/* clang-format off */
#define START_OPTIONS(OPTION) \
	OPTION(HOSTS, "hosts", required_argument, \
	       "  --hosts N             N hosts, h1 to hN, on a switch (default: 2)\n") \
	OPTION(TOPOLOGY, "topology", required_argument, \
	       "  --topology TOPOLOGY   a file in ibnetdiscover's format, or a generator:\n" \
	       "                        star:N, ring:N, fat-tree:K, mesh:AxB, torus:AxB[xC],\n" \
	       "                        routed:AxB\n") \
	OPTION(TCAS, "tcas", required_argument, \
	       "  --tcas N              N target channel adapters for I/O controllers, tca1 to\n" \
	       "                        tcaN, on the leaf switches (not with a topology file)\n") \
	OPTION(VLS, "vls", required_argument, \
	       "  --vls N               data VLs of every port: 1, 2, 4, 8 (default) or 15;\n" \
	       "                        in a topology file vls=N says it of one port\n") \
	OPTION(NO_SM, "no-sm", no_argument, \
	       "  --no-sm               without the built-in subnet manager: ports stay in Init\n") \
	OPTION(ENGINE, "engine", required_argument, \
	       "  --engine NAME         how the built-in manager routes (default: minhop)\n") \
	OPTION(PARTITIONS, "partitions", required_argument, \
	       "  --partitions FILE     partitions, as in OpenSM's partitions.conf\n") \
	OPTION(PART_ENFORCE, "part-enforce", required_argument, \
	       "  --part-enforce TYPE   both, in, out or off: which packets switches and routers\n" \
	       "                        check (default: both)\n") \
	OPTION(NO_PART_ENFORCE, "no-part-enforce", no_argument, \
	       "  --no-part-enforce     the same as --part-enforce off\n") \
	OPTION(QOS, "qos", required_argument, \
	       "  --qos FILE            service levels of partitions and services, lanes\n") \
	OPTION(LMC, "lmc", required_argument, \
	       "  --lmc N               2^N LIDs per port (default: 0)\n") \
	OPTION(STATE, "state", required_argument, \
	       "  --state FILE          LIDs are remembered there, from one start to the next\n") \
	OPTION(M_KEY, "m-key", required_argument, \
	       "  --m-key KEY           M_Key of every port (default: 0, none)\n") \
	OPTION(M_KEY_SECRET, "m-key-secret", required_argument, \
	       "  --m-key-secret FILE   an M_Key per port, from the secret there; made if absent\n") \
	OPTION(M_KEY_PROTECTION_LEVEL, "m-key-protection-level", required_argument, \
	       "  --m-key-protection-level N\n" \
	       "                        0 shows the key to all, 1 hides it (default), 2 and 3\n" \
	       "                        answer nobody who does not know it\n") \
	OPTION(M_KEY_LEASE_PERIOD, "m-key-lease-period", required_argument, \
	       "  --m-key-lease-period S\n" \
	       "                        protection ends when a wrong key is not followed by the\n" \
	       "                        right one for S seconds (default: 60; 0: never)\n") \
	OPTION(PRUNE, "prune", required_argument, \
	       "  --prune SECONDS       between two questions to the members of multicast groups\n" \
	       "                        whether they still take part (default: 600; 0: none)\n") \
	OPTION(PERF_INTERVAL, "perf-interval", required_argument, \
	       "  --perf-interval SECONDS\n" \
	       "                        between two sweeps of the performance manager (default:\n" \
	       "                        0: it sweeps when softib perf asks)\n") \
	OPTION(NO_OFFLOAD, "no-offload", no_argument, \
	       "  --no-offload          every packet goes through softibd, hop by hop\n") \
	OPTION(ISOLATE, "isolate", no_argument, \
	       "  --isolate             programs share no memory but their rings: every byte of\n" \
	       "                        a message is copied through a ring\n") \
	OPTION(PACED, "paced", no_argument, \
	       "  --paced               links run at their width and speed, not as fast as they\n" \
	       "                        can; \"softib status\" says when that does not work out\n") \
	OPTION(CONGESTION, "congestion", no_argument, \
	       "  --congestion          congestion control from the start: switches mark packets,\n" \
	       "                        adapters slow down (with --paced)\n") \
	OPTION(UNPRIVILEGED, "unprivileged", no_argument, \
	       "  --unprivileged        no program may give a queue pair a controlled Q_Key, one\n" \
	       "                        with the highest bit set (default: the user of the fabric\n" \
	       "                        may)\n") \
	OPTION(GATEWAY, "gateway", required_argument, \
	       "  --gateway ROUTER=WHERE\n" \
	       "                        raw packets leave by this router for a LAN:\n" \
	       "                        udp:127.0.0.1:PORT,127.0.0.1:PEERPORT or tap:NAME\n") \
	OPTION(SNMP_CONFIG, "snmp-config", required_argument, \
	       "  --snmp-config FILE    communities, users and views of the nodes' SNMP agents, as\n" \
	       "                        in snmpd.conf (default: public reads, private writes)\n")
/* clang-format on */

/* For --prune, here and in "softib sm". */
enum {
	PRUNE_SECONDS_DEFAULT = 600,
	PRUNE_SECONDS_MAX = 30 * 24 * 3600,
	PERF_INTERVAL_SECONDS_MAX = 24 * 3600,
};

/* clang-format off */
enum start_option {
	START_OPTION_NONE = 255, /* characters are the options of each program itself */
#define START_OPTION_CODE(code, name, has_argument, usage) START_OPTION_##code,
	START_OPTIONS(START_OPTION_CODE)
#undef START_OPTION_CODE
	START_OPTION_END,
};
/* clang-format on */

/* Rows for getopt_long(), which returns the code. */
#define START_LONG_OPTION(code, name, has_argument, usage)                                         \
	{name, has_argument, NULL, START_OPTION_##code},
#define START_LONG_OPTIONS START_OPTIONS(START_LONG_OPTION)

/* Lines for a usage text. */
#define START_OPTION_USAGE(code, name, has_argument, usage) usage
#define START_OPTIONS_USAGE				    START_OPTIONS(START_OPTION_USAGE)

/* Whether getopt_long() returned one of these. */
bool start_option_is(int code);

/* As on a command line: "--hosts". */
const char *start_option_name(enum start_option option);

/* Whether the option is about M_Keys, and which setting it is. */
bool start_option_is_mkey(enum start_option option, enum mkey_setting *ret_setting);

/* Why a value is refused, or NULL. softibd reads the files. */
const char *start_option_refusal(enum start_option option, const char *value);

#endif
