/* SPDX-License-Identifier: Apache-2.0 */
/* libibumad's functions as programs call them, on a host of a fabric of two or more: one line "PASS
 * name" or "FAIL name" per rule. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/umad.h>

enum {
	MAD_BYTES = 256,
	CLASS_SMP_DIRECTED = 0x81,
	CLASS_SMP = 0x01,
	CLASS_SA = 0x03,
	CLASS_TEST = 0x0a,
	CLASS_VENDOR = 0x33,
	METHOD_GET = 1,
	METHOD_SEND = 3,
	METHOD_RESPONSE = 0x80,
	QKEY = (int)0x80010000,
	RNR_HOLD_MS = 20000,
};

static unsigned failures;

static void check(const char *name, bool is_right)
{
	printf("%s %s\n", is_right ? "PASS" : "FAIL", name);
	failures += !is_right;
}

static void *make_umad(size_t mad_bytes)
{
	return umad_alloc(1, umad_size() + mad_bytes);
}

static void put32(uint8_t *bytes, uint32_t value)
{
	value = htobe32(value);
	memcpy(bytes, &value, sizeof(value));
}

static uint32_t get32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return be32toh(value);
}

static void make_mad(void *umad, uint8_t management_class, uint8_t version, uint8_t method,
		     uint32_t id)
{
	uint8_t *mad = umad_get_mad(umad);

	memset(umad, 0, umad_size() + MAD_BYTES);
	mad[0] = 1;
	mad[1] = management_class;
	mad[2] = version;
	mad[3] = method;
	put32(mad + 12, id);
}

/* Get(NodeInfo) of this port's own node. */
static void make_own_smp(void *umad, uint32_t id)
{
	uint8_t *mad = umad_get_mad(umad);

	make_mad(umad, CLASS_SMP_DIRECTED, 1, METHOD_GET, id);
	mad[17] = 0x11;
	memset(mad + 32, 0xff, 4);
	umad_set_addr(umad, 0xffff, 0, 0, 0);
}

static void check_opening(void)
{
	umad_port_t port;
	int a = umad_open_port(NULL, 0);
	int b = umad_open_port("softib0", 1);

	check("a port opens by any name, several times", a >= 0 && b >= 0 && a != b);
	check("umad_get_fd is a descriptor that does not block",
	      (fcntl(umad_get_fd(a), F_GETFL) & O_NONBLOCK) != 0);
	check("a port that is not there does not open", umad_open_port("softib0", 7) < 0);
	check("an adapter that is not there does not open", umad_open_port("mlx5_0", 1) < 0);
	check("umad_get_port tells an active port",
	      umad_get_port(NULL, 0, &port) == 0 && port.state == 4 && port.base_lid > 0);
	umad_release_port(&port);
	check("umad_close_port closes", umad_close_port(a) == 0 && umad_close_port(b) == 0);
	check("a closed port can't be closed again", umad_close_port(b) < 0);
}

static void check_registering(int port)
{
	long mask[16 / sizeof(long)] = {1 << METHOD_GET};
	uint8_t oui[3] = {0, 0x14, 0x05};
	struct umad_reg_attr attributes = {.mgmt_class = CLASS_SA,
					   .mgmt_class_version = 2,
					   .rmpp_version = 1,
					   .flags = UMAD_USER_RMPP};
	struct umad_reg_attr unknown = {.mgmt_class = CLASS_TEST, .flags = 0x80};
	uint32_t id = 99;
	int first = umad_register(port, CLASS_TEST, 1, 0, mask);
	int second = umad_register(port, CLASS_SMP, 1, 0, NULL);
	int other = umad_open_port(NULL, 0);

	check("agents are numbered from 0", first == 0 && second == 1);
	check("a class and method has one owner per port",
	      umad_register(other, CLASS_TEST, 1, 0, mask) == -EPERM);
	check("an agent that only asks needs no class of its own",
	      umad_register(other, CLASS_TEST, 1, 0, NULL) == 0);
	check("a class without RMPP has none", umad_register(other, CLASS_TEST, 1, 1, NULL) < 0);
	check("another RMPP version is refused", umad_register(other, CLASS_SA, 2, 9, NULL) < 0);
	check("vendor classes register with their OUI",
	      umad_register_oui(other, CLASS_VENDOR, 0, oui, mask) == 1);
	check("other classes have no OUI",
	      umad_register_oui(other, CLASS_TEST, 0, oui, mask) == -EINVAL);
	check("umad_register2 takes RMPP of the program's own",
	      umad_register2(other, &attributes, &id) == 0 && id == 2);
	check("umad_register2 says which flags there are",
	      umad_register2(other, &unknown, &id) == EINVAL && unknown.flags == UMAD_USER_RMPP);
	check("umad_unregister frees the number",
	      umad_unregister(port, first) == 0 &&
		      umad_register(port, CLASS_TEST, 1, 0, mask) == 0);
	check("what is not registered can't be unregistered",
	      umad_unregister(port, 17) < 0 && errno == EINVAL);
	umad_unregister(port, 0);
	umad_unregister(port, 1);
	umad_close_port(other);
}

static void check_asking_itself(int port)
{
	int agent = umad_register(port, CLASS_SMP_DIRECTED, 1, 0, NULL);
	void *umad = make_umad(MAD_BYTES);
	uint8_t *mad = umad_get_mad(umad);
	struct pollfd watched = {.fd = umad_get_fd(port), .events = POLLIN | POLLOUT};
	int length = MAD_BYTES;

	check("nothing is there at first", umad_recv(port, umad, &length, 0) == -EWOULDBLOCK);
	check("umad_poll times out", umad_poll(port, 10) == -ETIMEDOUT);
	check("umad_recv times out", umad_recv(port, umad, &length, 10) == -ETIMEDOUT);
	poll(&watched, 1, 0);
	check("the descriptor is writable, not readable", watched.revents == POLLOUT);

	make_own_smp(umad, 42);
	check("umad_send sends", umad_send(port, agent, umad, MAD_BYTES, 1000, 3) == 0);
	check("umad_poll sees the answer", umad_poll(port, RNR_HOLD_MS) == 0);
	watched.events = POLLIN;
	check("so does poll", poll(&watched, 1, 0) == 1 && watched.revents == POLLIN);
	length = MAD_BYTES - 1;
	check("a buffer of less than a MAD is refused",
	      umad_recv(port, umad, &length, 0) == -EINVAL);
	length = MAD_BYTES;
	memset(umad, 0, umad_size() + MAD_BYTES);
	check("umad_recv returns the agent", umad_recv(port, umad, &length, -1) == agent);
	check("its length is a MAD's", length == MAD_BYTES);
	check("its status is good", umad_status(umad) == 0);
	check("it is the answer", mad[3] == (METHOD_GET | METHOD_RESPONSE) && mad[4] == 0x80);
	check("with the id of the request", get32(mad + 12) == 42);
	check("it tells of this node", mad[64] == 1 && mad[66] == 1);
	poll(&watched, 1, 0);
	check("then nothing is readable", !(watched.revents & POLLIN));

	check("an agent that is not there can't send",
	      umad_send(port, agent + 5, umad, MAD_BYTES, 0, 0) == -EIO && errno == EINVAL);
	check("a MAD of a few bytes can't be sent",
	      umad_send(port, agent, umad, 20, 0, 0) == -EIO && errno == EINVAL);
	umad_unregister(port, agent);
	umad_free(umad);
}

static void check_timeouts(int port)
{
	int agent = umad_register(port, CLASS_SMP, 1, 0, NULL);
	void *umad = make_umad(MAD_BYTES);
	uint8_t *mad = umad_get_mad(umad);
	int length = MAD_BYTES;

	make_mad(umad, CLASS_SMP, 1, METHOD_GET, 43);
	mad[17] = 0x11;
	umad_set_addr(umad, 0x3fff, 0, 0, 0); /* nobody's LID */
	check("a request to nobody is sent", umad_send(port, agent, umad, MAD_BYTES, 5, 2) == 0);
	memset(umad, 0, umad_size() + MAD_BYTES);
	check("it comes back", umad_recv(port, umad, &length, RNR_HOLD_MS) == agent);
	check("as timed out", umad_status(umad) == ETIMEDOUT);
	check("with the header of its MAD only", length == 24 && mad[1] == CLASS_SMP);
	check("and its id", get32(mad + 12) == 43);
	umad_unregister(port, agent);
	umad_free(umad);
}

/* Two agents of one program, on two open ports, talk through the fabric. */
static void check_talking(int port)
{
	long mask[16 / sizeof(long)] = {1 << METHOD_SEND};
	int other = umad_open_port(NULL, 0);
	int listening = umad_register(other, CLASS_TEST, 1, 0, mask);
	int asking = umad_register(port, CLASS_TEST, 1, 0, NULL);
	void *umad = make_umad(MAD_BYTES);
	ib_mad_addr_t *address = umad_get_mad_addr(umad);
	int length = MAD_BYTES;
	umad_port_t own;

	umad_get_port(NULL, 0, &own);
	make_mad(umad, CLASS_TEST, 1, METHOD_SEND, 44);
	memset((uint8_t *)umad_get_mad(umad) + 24, 0x5a, MAD_BYTES - 24);
	umad_set_addr(umad, (int)own.base_lid, 1, 0, QKEY);
	umad_set_pkey(umad, 0);
	check("a MAD to the own LID is sent", umad_send(port, asking, umad, MAD_BYTES, 0, 0) == 0);
	memset(umad, 0, umad_size() + MAD_BYTES);
	check("it reaches whoever registered for it",
	      umad_recv(other, umad, &length, RNR_HOLD_MS) == listening);
	check("with the sender's address", be16toh(address->lid) == own.base_lid &&
						   be32toh(address->qpn) == 1 &&
						   umad_get_pkey(umad) == 0);
	check("and all of its bytes", ((uint8_t *)umad_get_mad(umad))[255] == 0x5a);
	umad_release_port(&own);
	umad_unregister(port, asking);
	umad_close_port(other);
	umad_free(umad);
}

/* A long message stays until the buffer is large enough; its length is reported. */
static void check_long_answers(int port)
{
	int agent = umad_register(port, CLASS_SA, 2, 1, NULL);
	void *umad = make_umad(1 << 20);
	uint8_t *mad = umad_get_mad(umad);
	int length = MAD_BYTES;
	int received;
	umad_port_t own;

	umad_get_port(NULL, 0, &own);
	make_mad(umad, CLASS_SA, 2, 0x12, 45); /* GetTable(NodeRecord) */
	mad[17] = 0x11;
	umad_set_addr(umad, (int)own.sm_lid, 1, 0, QKEY);
	check("a table is asked for", umad_send(port, agent, umad, MAD_BYTES, 2000, 3) == 0);
	received = umad_recv(port, umad, &length, RNR_HOLD_MS);
	check("it is too long for one MAD", received == -ENOSPC && errno == ENOSPC);
	check("the length is told", length > MAD_BYTES && (length - 56) % 8 == 0);
	check("and the first segment shown", mad[3] == 0x92 && get32(mad + 12) == 45);

	int needed = length;

	length--;
	check("a byte less is not enough", umad_recv(port, umad, &length, 0) == -ENOSPC);
	length = needed;
	check("then it is there in one piece",
	      umad_recv(port, umad, &length, 0) == agent && length == needed);
	umad_release_port(&own);
	umad_unregister(port, agent);
	umad_free(umad);
}

static void *ask_often(void *argument)
{
	int port = umad_open_port(NULL, 0);
	int agent = umad_register(port, CLASS_SMP_DIRECTED, 1, 0, NULL);
	void *umad = make_umad(MAD_BYTES);
	intptr_t wrong = 0;

	(void)argument;
	for (uint32_t id = 1; id <= 200; id++) {
		int length = MAD_BYTES;

		make_own_smp(umad, id);
		wrong += umad_send(port, agent, umad, MAD_BYTES, 5000, 3) != 0;
		wrong += umad_recv(port, umad, &length, RNR_HOLD_MS) != agent;
		wrong += get32((uint8_t *)umad_get_mad(umad) + 12) != id;
	}
	umad_free(umad);
	umad_close_port(port);
	return (void *)wrong;
}

static void check_threads(void)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];
	bool all_right = true;

	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, ask_often, NULL);
	for (unsigned i = 0; i < THREADS; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		all_right &= wrong == NULL;
	}
	check("threads with a port each don't meet", all_right);
}

static void check_issm(int port)
{
	char path[256];
	umad_port_t own;
	bool was_set = false, was_cleared = false;

	(void)port;
	check("umad_get_issm_path tells a path",
	      umad_get_issm_path(NULL, 0, path, sizeof(path)) == 0);

	int file = open(path, O_RDONLY | O_NONBLOCK);

	check("it opens at once", file >= 0);
	for (unsigned i = 0; i < 20000 && !was_set; i++) {
		umad_get_port(NULL, 0, &own);
		was_set = be32toh(own.capmask) & 2;
		umad_release_port(&own);
	}
	check("IsSM is set while it is open", was_set);
	close(file);
	for (unsigned i = 0; i < 20000 && !was_cleared; i++) {
		umad_get_port(NULL, 0, &own);
		was_cleared = !(be32toh(own.capmask) & 2);
		umad_release_port(&own);
	}
	check("and no longer", was_cleared);
}

/* The child has the parent's port, as it would have the parent's file. */
static void check_fork(int port)
{
	int agent = umad_register(port, CLASS_SMP_DIRECTED, 1, 0, NULL);
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		void *umad = make_umad(MAD_BYTES);
		int length = MAD_BYTES;

		make_own_smp(umad, 46);
		_exit(umad_send(port, agent, umad, MAD_BYTES, 1000, 3) != 0 ||
		      umad_recv(port, umad, &length, RNR_HOLD_MS) != agent);
	}
	waitpid(child, &status, 0);
	check("a child uses its parent's port", status == 0);
	umad_unregister(port, agent);
}

int main(void)
{
	check("umad_init succeeds", umad_init() == 0);
	check("umad_size is 64", umad_size() == 64);
	check_opening();

	int port = umad_open_port(NULL, 0);

	check_registering(port);
	check_asking_itself(port);
	check_timeouts(port);
	check_talking(port);
	check_long_answers(port);
	check_threads();
	check_issm(port);
	check_fork(port);
	umad_close_port(port);
	check("umad_done succeeds", umad_done() == 0);
	return failures > 0;
}
