/* SPDX-License-Identifier: Apache-2.0 */
/* A program that sends MADs that it should not send; attacker_main() has its arguments. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/random.h"
#include "hostile_attacker.h"
#include "ipc/mad_agent.h"
#include "ipc/memory_file.h"
#include "wire/mad.h"
#include "wire/sa_records.h"

enum {
	WRONG_MADS = 10000,
	UNREAD_MADS = 20000,
	TOTAL_OFFSET = 16, /* in a MAD's header: the length of a message in a file */
	LONG_BYTES = 1 << 16,
	QKEY_OF_QP1 = (int)0x80010000,
};

static void put_mad(int port, uint32_t agent_id, const struct mad_address *address,
		    const uint8_t mad[static MAD_BYTES])
{
	const struct mad_port_header header = {.agent_id = agent_id,
					       .address = *address,
					       .pkey_index = 0xffff /* raw agents: the P_Key */};
	uint8_t bytes[MAD_PORT_SINGLE_BYTES];
	struct pollfd item = {.fd = port, .events = POLLOUT};

	mad_port_header_encode(&header, bytes);
	memcpy(bytes + MAD_PORT_HEADER_BYTES, mad, MAD_BYTES);
	while (send(port, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		CHECK(errno == EAGAIN);
		CHECK(poll(&item, 1, ANSWER_MS) == 1);
	}
}

static void write_mad(uint8_t management_class, uint8_t method, uint16_t attribute,
		      uint64_t transaction_id, uint8_t ret_mad[static MAD_BYTES])
{
	memset(ret_mad, 0, MAD_BYTES);
	ret_mad[0] = 1;
	ret_mad[MAD_CLASS_OFFSET] = management_class;
	ret_mad[MAD_VERSION_OFFSET] = management_class == MAD_CLASS_SUBNET_ADMINISTRATION ? 2 : 1;
	ret_mad[MAD_METHOD_OFFSET] = method;
	put_be64(ret_mad + MAD_TRANSACTION_ID_OFFSET, transaction_id);
	put_be16(ret_mad + MAD_ATTRIBUTE_ID_OFFSET, attribute);
}

static struct mad_address address_of(uint16_t lid, uint32_t qpn)
{
	return (struct mad_address){
		.lid = lid, .qpn = qpn, .qkey = qpn ? (uint32_t)QKEY_OF_QP1 : 0};
}

/* An agent that gets nothing unasked. */
static int open_agent(struct attacker *attacker)
{
	int port = attacker_fetch(attacker, OPEN_PORT, 0);

	attacker_must(
		attacker,
		"{\"command\":\"mad-register\",\"class\":0,\"version\":0,\"oui\":0,\"kind\":\"raw\","
		"\"methods_low\":\"0\",\"methods_high\":\"0\"}",
		port);
	return port;
}

/* The honest program's agent gets what is sent to its class. */
static void attack_foreign_agents(struct attacker *attacker)
{
	struct attacker honest = honest_program(attacker);
	const int honest_port = attacker_fetch(&honest, OPEN_PORT, 0);
	struct pollfd item = {.fd = honest_port, .events = POLLIN};
	uint8_t mad[MAD_BYTES];
	char text[64];

	attacker_must(&honest, REGISTER_DEVICE, honest_port);
	attacker_say_hello(attacker);

	const int port = open_agent(attacker);
	const struct mad_address address = address_of(honest.own_lid, 1);

	CHECK(attacker_is_refused(attacker, REGISTER_DEVICE, port, EBUSY));
	for (unsigned id = 1; id < MAD_PORT_AGENTS_MAX + 10; id++) {
		snprintf(text, sizeof(text), "{\"command\":\"mad-unregister\",\"id\":%u}", id);
		CHECK(attacker_is_refused(attacker, text, port, EINVAL));
		CHECK(attacker_is_refused(attacker, text, -1, EBADF));
	}
	/* An agent's number in a message is one of this port. */
	for (uint32_t id = 1; id < 100; id++) {
		write_mad(MAD_CLASS_DEVICE, MAD_SET, 1, id, mad);
		put_mad(port, id, &address, mad);
	}
	write_mad(MAD_CLASS_DEVICE, MAD_GET, ATTRIBUTE_CLASS_PORT_INFO, 1, mad);
	put_mad(port, 0, &address, mad);
	CHECK(poll(&item, 1, ANSWER_MS) == 1 && (item.revents & POLLIN));
	attacker_leave(&honest);
}

static bool is_method_of_some_class(uint8_t method)
{
	static const uint8_t methods[] = {
		MAD_GET,       MAD_SET,		 MAD_SEND,	MAD_TRAP,
		MAD_REPORT,    MAD_TRAP_REPRESS, MAD_GET_TABLE, MAD_GET_TRACE_TABLE,
		MAD_GET_MULTI, MAD_DELETE};

	return memchr(methods, method, sizeof(methods)) != NULL;
}

/* Any class and attribute, by methods that none has. */
static void attack_wrong_mads(struct attacker *attacker)
{
	const uint16_t lids[] = {attacker->victim_lid, attacker->sm_lid, 0xffff, 0, 1};
	uint8_t mad[MAD_BYTES];

	attacker_say_hello(attacker);

	const int port = open_agent(attacker);

	for (unsigned i = 0; i < WRONG_MADS; i++) {
		const struct mad_address address =
			address_of(lids[random_below(&attacker->random, 5)],
				   (uint32_t)random_below(&attacker->random, 2));

		for (unsigned at = 0; at < MAD_BYTES; at++)
			mad[at] = (uint8_t)random_next(&attacker->random);
		mad[0] = 1;
		mad[MAD_CLASS_OFFSET] = (uint8_t)random_below(&attacker->random, 0x90);
		mad[MAD_METHOD_OFFSET] &= 0x7f;
		if (is_method_of_some_class(mad[MAD_METHOD_OFFSET]))
			mad[MAD_METHOD_OFFSET] = 0x7f;
		put_mad(port, 0, &address, mad);
	}
	CHECK(attacker_is_served(attacker));
}

/* Answers that nobody asked this program for, with transaction ids that others may have. */
static void attack_forged_answers(struct attacker *attacker)
{
	static const struct {
		uint8_t management_class, method;
		uint16_t attribute;
		uint32_t qpn;
	} answers[] = {
		{MAD_CLASS_SUBNET_LID, MAD_GET_RESPONSE, ATTRIBUTE_PORT_INFO, 0},
		{MAD_CLASS_SUBNET_LID, MAD_GET_RESPONSE, ATTRIBUTE_NODE_INFO, 0},
		{MAD_CLASS_SUBNET_LID, MAD_GET_RESPONSE, ATTRIBUTE_SM_INFO, 0},
		{MAD_CLASS_SUBNET_ADMINISTRATION, MAD_GET_RESPONSE, 0x35, 1},
		{MAD_CLASS_SUBNET_ADMINISTRATION, MAD_GET_TABLE_RESPONSE, 0x35, 1},
		{MAD_CLASS_SUBNET_ADMINISTRATION, MAD_REPORT_RESPONSE, ATTRIBUTE_NOTICE, 1},
		{MAD_CLASS_PERFORMANCE, MAD_GET_RESPONSE, ATTRIBUTE_PORT_COUNTERS, 1},
		{MAD_CLASS_COMMUNICATION, MAD_SEND, 0x13 /* REP */, 1},
		{MAD_CLASS_COMMUNICATION, MAD_SEND, 0x15 /* DREQ */, 1},
		{MAD_CLASS_COMMUNICATION, MAD_SEND, 0x12 /* REJ */, 1},
	};
	const uint16_t lids[] = {attacker->victim_lid, attacker->sm_lid};
	uint8_t mad[MAD_BYTES];

	attacker_say_hello(attacker);

	const int port = open_agent(attacker);

	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		for (uint64_t number = 0; number < WRONG_MADS / 10; number++) {
			const struct mad_address address =
				address_of(lids[number % 2], answers[i].qpn);

			write_mad(answers[i].management_class, answers[i].method,
				  answers[i].attribute, (number / 50) << 32 | number % 50, mad);
			put_mad(port, 0, &address, mad);
		}
	}
	CHECK(attacker_is_served(attacker));
}

/* Switches ports off and gives them other LIDs, by Sets without the M_Key. */
static void attack_sets_without_key(struct attacker *attacker)
{
	const uint16_t lids[] = {attacker->victim_lid, attacker->sm_lid, 1, 2, 3, 4};
	uint8_t mad[MAD_BYTES];

	attacker_say_hello(attacker);

	const int port = open_agent(attacker);

	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < sizeof(lids) / sizeof(lids[0]); i++) {
			const struct mad_address address = address_of(lids[i], 0);

			/* PortInfo: LID 77, link down, disabled; a forwarding table to port 0. */
			write_mad(MAD_CLASS_SUBNET_LID, MAD_SET,
				  round % 2 ? ATTRIBUTE_PORT_INFO : ATTRIBUTE_LINEAR_FORWARDING,
				  round, mad);
			put_be64(mad + MAD_HEADER_BYTES, round / 4); /* a guessed M_Key */
			put_be16(mad + 64 + 16, 77);
			mad[64 + 32] = 1;
			mad[64 + 33] = 0x30;
			put_mad(port, 0, &address, mad);
		}
	}
	CHECK(attacker_is_served(attacker));
}

/* The first segment of a message that lies in a file, with that file. */
static bool takes_file(struct attacker *attacker, int file, uint32_t total)
{
	const struct mad_port_header header = {.address = address_of(attacker->victim_lid, 1)};
	uint8_t first[MAD_PORT_SINGLE_BYTES] = {0};
	int port = open_agent(attacker);
	struct pollfd item = {.fd = port, .events = POLLIN | POLLRDHUP};

	mad_port_header_encode(&header, first);
	memcpy(first + TOTAL_OFFSET, &total, sizeof(total));
	CHECK(socket_put(port, first, sizeof(first), &file, 1) > 0);
	CHECK(socket_put(port, first, sizeof(first), &file, 1) > 0 || errno == EPIPE);
	/* The agent is told that it may send single MADs only, or the port is closed. */
	CHECK(poll(&item, 1, ANSWER_MS) == 1);
	close(port);
	return !(item.revents & POLLRDHUP);
}

_Noreturn static void change_for_ever(volatile uint64_t *words)
{
	for (uint64_t i = 0;; i++)
		words[i % (LONG_BYTES / 8)] = i * 0x9e3779b97f4a7c15u;
}

/* Long MADs come in memory files: the wrong file, a file without seals, one of another size, the
 * same one twice while its bytes change. */
static void attack_mad_files(struct attacker *attacker)
{
	const uint32_t wrong_totals[] = {0,
					 1,
					 MAD_PORT_HEADER_BYTES - 1,
					 LONG_BYTES - 1,
					 LONG_BYTES + 1,
					 MAD_PORT_BYTES_MAX + 1,
					 UINT32_MAX};
	int wrong[WRONG_MAX], sealed;
	void *memory;

	attacker_say_hello(attacker);

	const unsigned count = wrong_descriptors(attacker, wrong);

	for (unsigned i = 0; i < count; i++) {
		CHECK(!takes_file(attacker, wrong[i], LONG_BYTES));
		close(wrong[i]);
	}

	const int unsealed = memfd_create("unsealed", MFD_ALLOW_SEALING);

	CHECK(unsealed >= 0 && ftruncate(unsealed, LONG_BYTES) == 0);
	CHECK(!takes_file(attacker, unsealed, LONG_BYTES));
	CHECK(memory_file_create("sealed", LONG_BYTES, &sealed, &memory) == 0);
	for (unsigned i = 0; i < sizeof(wrong_totals) / sizeof(wrong_totals[0]); i++)
		CHECK(!takes_file(attacker, sealed, wrong_totals[i]));

	pid_t changer = fork();

	CHECK(changer >= 0);
	if (changer == 0)
		change_for_ever(memory);
	for (unsigned round = 0; round < 20; round++)
		CHECK(takes_file(attacker, sealed, LONG_BYTES));
	CHECK(kill(changer, SIGKILL) == 0 && waitpid(changer, NULL, 0) == changer);
	munmap(memory, LONG_BYTES);
	close(sealed);
	close(unsealed);
}

/* MADs to its own agent, which reads none. */
static void attack_unread_mads(struct attacker *attacker)
{
	uint8_t mad[MAD_BYTES];

	attacker_attach(attacker);

	const int port = open_agent(attacker);
	const int deaf = attacker_fetch(attacker, OPEN_PORT, 0);
	const struct mad_address address = address_of(attacker->own_lid, 1);

	attacker_must(attacker, REGISTER_DEVICE, deaf);
	for (unsigned i = 0; i < UNREAD_MADS; i++) {
		write_mad(MAD_CLASS_DEVICE, MAD_GET, ATTRIBUTE_CLASS_PORT_INFO, i, mad);
		put_mad(port, 0, &address, mad);
	}
	CHECK(attacker_is_served(attacker));
	attacker_leave(attacker);
}

static const struct attack attacks[] = {
	{"foreign_agents", attack_foreign_agents},
	{"wrong_mads", attack_wrong_mads},
	{"forged_answers", attack_forged_answers},
	{"sets_without_key", attack_sets_without_key},
	{"mad_files", attack_mad_files},
	{"unread_mads", attack_unread_mads},
	{NULL, NULL},
};

int main(int argument_count, char **arguments)
{
	return attacker_main(argument_count, arguments, attacks);
}
