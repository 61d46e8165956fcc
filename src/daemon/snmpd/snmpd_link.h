/* SPDX-License-Identifier: Apache-2.0 */
/* softib-snmpd's side of the sockets to softibd (ipc/snmp_link.h). */
#ifndef SOFTIB_DAEMON_SNMPD_SNMPD_LINK_H
#define SOFTIB_DAEMON_SNMPD_SNMPD_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "ipc/snmp_link.h"

/* Waits for the next message. Returns the number of its bytes behind the header; -1: softibd is
 * gone. */
MUST_USE long snmpd_link_receive(struct snmp_link_header *ret_header, uint8_t *ret_bytes);
void snmpd_link_send(const struct snmp_link_header *header, const void *bytes, size_t byte_count);
void snmpd_link_log(const char *format, ...) PRINTF_LIKE(1, 2);

/* Asks softibd and waits for the answer. Returns its length; 0: there is none. */
MUST_USE size_t snmpd_link_ask(const struct snmp_state_question *question, void *ret_answer,
			       size_t bytes_max);

#endif
