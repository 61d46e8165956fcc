/* SPDX-License-Identifier: Apache-2.0 */
/* A management program as softibd's peer sees it: an open port and messages on it. */
#include "unit/daemon/mad_program.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "ipc/mad_socket.h"
#include "wire/pkey.h"

enum { CLASS_OFFSET = 1, METHOD_OFFSET = 3, OUI_TEST = 0x001405 };

static struct daemon *softibd;

struct daemon *mad_programs_start(const char *topology)
{
	softibd = fixture_start(topology);
	return softibd;
}

void mad_programs_stop(void)
{
	fixture_stop();
}

void mad_program_open(struct mad_program *program, const char *host)
{
	program->endpoint = host_endpoint(host_table_find(&softibd->core.hosts, host), 0, 1);
	/* Each is a process of its own. */
	static pid_t last_pid;
	struct account *account = account_of(&softibd->core.accounts, ++last_pid, 0);

	assert_non_null(account);
	assert_int_equal(
		mad_file_open(&softibd->mad_files, account, program->endpoint, &program->port), 0);
	account_release(account);
	program->file = mad_file_find(&softibd->mad_files, program->port);
	assert_non_null(program->file);
}

void mad_program_close(struct mad_program *program)
{
	if (program->port >= 0)
		close(program->port);
	program->port = -1;
	fixture_settle();
}

uint32_t mad_program_register(struct mad_program *program, uint8_t management_class,
			      enum mad_agent_kind kind, uint64_t methods)
{
	const struct mad_agent_options options = {.management_class = management_class,
						  .class_version = 1,
						  .oui = OUI_TEST,
						  .methods = {methods},
						  .kind = kind};
	struct mad_agent_identity identity;

	assert_int_equal(mad_file_add_agent(program->file, &options, &identity), 0);
	return identity.id;
}

struct program_mad mad_program_request(const struct mad_program *to, uint8_t management_class,
				       uint8_t method)
{
	const struct mad_header header = {.base_version = 1,
					  .management_class = management_class,
					  .class_version = 1,
					  .method = method,
					  .transaction_id = 1};
	static struct program_mad mad;

	memset(&mad, 0, sizeof(mad));
	mad.header.address.lid = to->endpoint->port->info.lid;
	mad.header.address.qpn = QPN_GSI;
	mad.header.address.qkey = QKEY_GSI;
	mad_header_encode(&header, mad.mad);
	return mad;
}

void mad_program_send(struct mad_program *program, const struct program_mad *mad, size_t byte_count)
{
	uint8_t *bytes = malloc(MAD_PORT_HEADER_BYTES + byte_count);

	mad_port_header_encode(&mad->header, bytes);
	memcpy(bytes + MAD_PORT_HEADER_BYTES, mad->mad, byte_count);
	assert_int_equal(mad_socket_send(program->port, bytes, MAD_PORT_HEADER_BYTES + byte_count),
			 0);
	free(bytes);
	fixture_settle();
}

void mad_program_answer(struct mad_program *program, struct program_mad *mad, size_t byte_count)
{
	mad->mad[METHOD_OFFSET] |= MAD_RESPONSE;
	mad->header.address.qkey = QKEY_GSI;
	mad->header.timeout_ms = 0;
	mad_program_send(program, mad, byte_count);
}

bool mad_program_receive(struct mad_program *program, struct program_mad *ret_mad)
{
	static uint8_t bytes[PROGRAM_MAD_BYTES_MAX + MAD_PORT_HEADER_BYTES];
	size_t byte_count;
	int error;

	fixture_settle();
	error = mad_socket_read(program->port, sizeof(bytes), bytes, &byte_count);
	if (error == -EAGAIN)
		return false;
	assert_int_equal(error, 0);
	assert_true(mad_port_header_decode(bytes, byte_count, &ret_mad->header));
	ret_mad->byte_count = byte_count - MAD_PORT_HEADER_BYTES;
	memcpy(ret_mad->mad, bytes + MAD_PORT_HEADER_BYTES, ret_mad->byte_count);
	return true;
}
