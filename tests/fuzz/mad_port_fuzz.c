/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: what a management program writes to its port, header included, decoded as softibd
 * does. No field is larger than on the wire, and encoding and decoding again changes nothing. */
#include "fuzz/fuzz.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "ipc/mad_socket.h"

static void check_header(const uint8_t *bytes, size_t byte_count)
{
	uint8_t first[MAD_PORT_HEADER_BYTES], second[MAD_PORT_HEADER_BYTES];
	struct mad_port_header header;

	if (!mad_port_header_decode(bytes, byte_count, &header)) {
		MUST_HOLD(byte_count < MAD_PORT_HEADER_BYTES);
		return;
	}
	MUST_HOLD(header.address.sl < 16);
	MUST_HOLD(header.address.qpn < 1u << 24);
	MUST_HOLD(header.address.flow_label < 1u << 20);
	mad_port_header_encode(&header, first);
	MUST_HOLD(mad_port_header_decode(first, sizeof(first), &header));
	mad_port_header_encode(&header, second);
	MUST_HOLD(memcmp(first, second, sizeof(first)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static struct mad_arrival arrival;
	static uint8_t whole[sizeof(arrival.bytes)];
	int ends[2];

	check_header(bytes, byte_count);
	if (byte_count == 0 || byte_count > sizeof(whole) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return 0;
	if (send(ends[0], bytes, byte_count, MSG_DONTWAIT) == (ssize_t)byte_count) {
		int error = mad_socket_receive(ends[1], &arrival);

		MUST_HOLD((error == 0) == (byte_count >= MAD_PORT_HEADER_BYTES));
		if (!error) {
			MUST_HOLD(arrival.total_bytes == byte_count);
			MUST_HOLD(mad_arrival_take(&arrival, whole) == 0);
			MUST_HOLD(memcmp(whole, bytes, byte_count) == 0);
		}
	}
	close(ends[0]);
	close(ends[1]);
	return 0;
}
