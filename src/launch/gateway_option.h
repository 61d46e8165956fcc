/* SPDX-License-Identifier: Apache-2.0 */
/* The value of --gateway: ROUTER=udp:ADDRESS:PORT,ADDRESS:PORT or ROUTER=tap:NAME. */
#ifndef SOFTIB_LAUNCH_GATEWAY_OPTION_H
#define SOFTIB_LAUNCH_GATEWAY_OPTION_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include "base/attributes.h"

enum { GATEWAY_ROUTER_BYTES = 64 };

struct gateway_option {
	char router[GATEWAY_ROUTER_BYTES];
	const char *where;	      /* the part after "=", in the text that was read */
	struct sockaddr_in own, peer; /* both on loopback */
	char interface[IFNAMSIZ];     /* of a tap device; "": UDP */
};

MUST_USE bool gateway_option_read(const char *text, struct gateway_option *ret_option);

#endif
