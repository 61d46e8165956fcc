/* SPDX-License-Identifier: Apache-2.0 */
/* softib-snmpd's side of the sockets to softibd. */
#include "daemon/snmpd/snmpd_link.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { LOG_BYTES = 512 };

long snmpd_link_receive(struct snmp_link_header *ret_header, uint8_t *ret_bytes)
{
	for (;;) {
		struct iovec parts[] = {
			{.iov_base = ret_header, .iov_len = sizeof(*ret_header)},
			{.iov_base = ret_bytes, .iov_len = SNMP_LINK_BYTES_MAX},
		};
		struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
		ssize_t got = recvmsg(SNMP_LINK_MESSAGES_FD, &message, 0);

		if (got <= 0)
			return -1;
		if ((size_t)got >= sizeof(*ret_header))
			return got - (long)sizeof(*ret_header);
	}
}

void snmpd_link_send(const struct snmp_link_header *header, const void *bytes, size_t byte_count)
{
	struct iovec parts[] = {
		{.iov_base = (void *)(uintptr_t)header, .iov_len = sizeof(*header)},
		{.iov_base = (void *)(uintptr_t)bytes, .iov_len = byte_count},
	};
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	/* If softibd is gone, the next receive says so. */
	if (sendmsg(SNMP_LINK_MESSAGES_FD, &message, MSG_NOSIGNAL) < 0)
		return;
}

void snmpd_link_log(const char *format, ...)
{
	const struct snmp_link_header header = {.kind = SNMP_LINK_LOG};
	char text[LOG_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text[strcspn(text, "\n")] = '\0';
	snmpd_link_send(&header, text, strlen(text));
}

size_t snmpd_link_ask(const struct snmp_state_question *question, void *ret_answer,
		      size_t bytes_max)
{
	ssize_t got;

	if (send(SNMP_LINK_STATE_FD, question, sizeof(*question), MSG_NOSIGNAL) < 0)
		return 0;
	got = recv(SNMP_LINK_STATE_FD, ret_answer, bytes_max, 0);
	return got < 0 ? 0 : (size_t)got;
}
