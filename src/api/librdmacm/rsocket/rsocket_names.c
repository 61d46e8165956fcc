/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of rsockets: local and peer. */
#include <errno.h>
#include <string.h>
#include "api/librdmacm/identifier.h"
#include "api/librdmacm/rsocket/rsocket.h"
#include "api/librdmacm/rsocket/rsocket_plain.h"

int rsocket_give_name(const struct sockaddr *name, struct sockaddr *ret_address,
		      socklen_t *address_bytes)
{
	socklen_t length = address_length(name);

	memcpy(ret_address, name, *address_bytes < length ? *address_bytes : length);
	*address_bytes = length;
	return 0;
}

static int get_name(int descriptor, bool is_peer, struct sockaddr *ret_address,
		    socklen_t *address_bytes)
{
	struct rsocket *socket = rsocket_find(descriptor);
	int result;

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	if (socket->state == RSOCKET_PLAIN) {
		result = is_peer ? getpeername(descriptor, ret_address, address_bytes)
				 : getsockname(descriptor, ret_address, address_bytes);
	} else if (socket->type == SOCK_DGRAM) {
		result = datagrams_name(socket, is_peer, ret_address, address_bytes);
	} else if (is_peer && socket->state != RSOCKET_CONNECTED) {
		errno = ENOTCONN;
		result = -1;
	} else {
		result = rsocket_give_name(is_peer ? rdma_get_peer_addr(socket->id)
						   : rdma_get_local_addr(socket->id),
					   ret_address, address_bytes);
	}
	pthread_mutex_unlock(&socket->lock);
	return result;
}

RSOCKET_PUBLIC int rgetpeername(int descriptor, struct sockaddr *address, socklen_t *address_bytes)
{
	return get_name(descriptor, true, address, address_bytes);
}

RSOCKET_PUBLIC int rgetsockname(int descriptor, struct sockaddr *address, socklen_t *address_bytes)
{
	return get_name(descriptor, false, address, address_bytes);
}
