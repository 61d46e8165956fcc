/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the value of --gateway: see gateway_option.h. */
#include "launch/gateway_option.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESS_BYTES = 64, PORT_MAX = 65535, LOOPBACK_NETWORK = 127 };

/* "127.0.0.1:PORT": a gateway's packets never leave the machine. */
static bool read_address(const char *text, size_t length, struct sockaddr_in *ret_address)
{
	char copy[ADDRESS_BYTES];
	struct in_addr address;

	if (length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';

	char *port = strchr(copy, ':');

	if (!port)
		return false;
	*port++ = '\0';
	if (!*port || port[strspn(port, "0123456789")] || strlen(port) > 5 ||
	    inet_pton(AF_INET, copy, &address) != 1 ||
	    ntohl(address.s_addr) >> 24 != LOOPBACK_NETWORK)
		return false;

	unsigned long number = strtoul(port, NULL, 10);

	if (number == 0 || number > PORT_MAX)
		return false;
	*ret_address = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons((uint16_t)number), .sin_addr = address};
	return true;
}

static bool read_udp(const char *text, struct gateway_option *option)
{
	const char *comma = strchr(text, ',');

	return comma && read_address(text, (size_t)(comma - text), &option->own) &&
	       read_address(comma + 1, strlen(comma + 1), &option->peer);
}

/* A name that Linux accepts; "%" would make Linux choose one. */
static bool read_tap(const char *text, struct gateway_option *option)
{
	size_t length = strlen(text);

	if (length == 0 || length >= sizeof(option->interface) || strpbrk(text, "/%: \t\n"))
		return false;
	memcpy(option->interface, text, length + 1);
	return true;
}

bool gateway_option_read(const char *text, struct gateway_option *ret_option)
{
	struct gateway_option option = {.interface = ""};
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : 0;

	if (length == 0 || length >= sizeof(option.router))
		return false;
	memcpy(option.router, text, length);
	option.where = equals + 1;
	if (strncmp(option.where, "udp:", 4) == 0) {
		if (!read_udp(option.where + 4, &option))
			return false;
	} else if (strncmp(option.where, "tap:", 4) == 0) {
		if (!read_tap(option.where + 4, &option))
			return false;
	} else {
		return false;
	}
	*ret_option = option;
	return true;
}
