/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine itself can do, to compare softib with: memcpy (on one core, or on two at once),
 * TCP over loopback (busy-polled), waking another process by a futex, the system calls that access
 * another process's memory, and the way of a cache line from core to core. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "samples.h"

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* MB/s of repeated copies of byte_count bytes, on one core. */
static double memcpy_rate(size_t byte_count)
{
	/* The same amount as the programs that it is compared with move (MANY_BYTES of
	 * figures/targets.py). */
	size_t rounds = ((size_t)1 << 33) / byte_count;
	char *from = malloc(byte_count), *to = malloc(byte_count);

	if (!from || !to)
		fail("malloc");
	memset(from, 1, byte_count);
	memset(to, 2, byte_count);
	if (rounds > 2000000)
		rounds = 2000000;

	double start = seconds();

	for (size_t round = 0; round < rounds; round++) {
		memcpy(to, from, byte_count);
		__asm__ volatile("" : : "r"(to), "r"(from) : "memory");
	}

	double rate = (double)byte_count * (double)rounds / (seconds() - start) / 1e6;

	free(from);
	free(to);
	return rate;
}

/* MB/s of two processes that copy at the same time, added up. */
static double memcpy_pair_rate(size_t byte_count)
{
	int pipes[2];
	double other = 0;

	if (pipe(pipes))
		fail("pipe");
	pid_t child = fork();

	if (child == 0) {
		double rate = memcpy_rate(byte_count);

		_exit(write(pipes[1], &rate, sizeof(rate)) != sizeof(rate));
	}

	double own = memcpy_rate(byte_count);

	if (read(pipes[0], &other, sizeof(other)) != sizeof(other))
		fail("read");
	waitpid(child, NULL, 0);
	return own + other;
}

static void hand_over(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void sleep_until(uint32_t *word, uint32_t value)
{
	for (;;) {
		uint32_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);

		if (seen == value)
			return;
		syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
	}
}

/* Microseconds from a wake to the other process running: half a round trip, both asleep in between.
 */
static double futex_wake(unsigned rounds)
{
	uint32_t *word = mmap(NULL, sizeof(*word), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (word == MAP_FAILED)
		fail("mmap");
	pid_t child = fork();

	if (child == 0) {
		for (uint32_t round = 0; round < rounds; round++) {
			sleep_until(word, 2 * round + 1);
			hand_over(word, 2 * round + 2);
		}
		_exit(0);
	}

	double start = seconds();

	for (uint32_t round = 0; round < rounds; round++) {
		hand_over(word, 2 * round + 1);
		sleep_until(word, 2 * round + 2);
	}

	double latency = (seconds() - start) / rounds / 2 * 1e6;

	waitpid(child, NULL, 0);
	return latency;
}

/* Non-blocking calls in a loop: the busy-polled way. */
static void move_all(int socket, char *bytes, size_t byte_count, int is_send)
{
	while (byte_count) {
		ssize_t moved = is_send ? send(socket, bytes, byte_count, MSG_DONTWAIT)
					: recv(socket, bytes, byte_count, MSG_DONTWAIT);

		if (moved < 0 && errno != EAGAIN)
			fail("socket");
		if (moved == 0)
			exit(1);
		if (moved > 0) {
			bytes += moved;
			byte_count -= (size_t)moved;
		}
	}
}

static void tcp_pair(int ret_sockets[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (bind(listener, (void *)&address, sizeof(address)) || listen(listener, 1) ||
	    getsockname(listener, (void *)&address, &length))
		fail("listen");
	ret_sockets[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(ret_sockets[0], (void *)&address, sizeof(address)))
		fail("connect");
	ret_sockets[1] = accept(listener, NULL, NULL);
	close(listener);
	for (int side = 0; side < 2; side++)
		setsockopt(ret_sockets[side], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Half a round trip in microseconds. */
static double tcp_latency(size_t byte_count, unsigned rounds)
{
	char *bytes = calloc(1, byte_count);
	int sockets[2];

	tcp_pair(sockets);
	pid_t child = fork();

	if (child == 0) {
		for (unsigned round = 0; round < rounds; round++) {
			move_all(sockets[1], bytes, byte_count, 0);
			move_all(sockets[1], bytes, byte_count, 1);
		}
		_exit(0);
	}

	double start = seconds();

	for (unsigned round = 0; round < rounds; round++) {
		move_all(sockets[0], bytes, byte_count, 1);
		move_all(sockets[0], bytes, byte_count, 0);
	}

	double latency = (seconds() - start) / rounds / 2 * 1e6;

	waitpid(child, NULL, 0);
	free(bytes);
	return latency;
}

/* MB/s one way. */
static double tcp_rate(size_t byte_count)
{
	size_t rounds = ((size_t)1 << 31) / byte_count;
	char *bytes = calloc(1, byte_count);
	int sockets[2];

	if (rounds > 500000)
		rounds = 500000;
	tcp_pair(sockets);
	pid_t child = fork();

	if (child == 0) {
		for (size_t round = 0; round < rounds; round++)
			move_all(sockets[1], bytes, byte_count, 0);
		move_all(sockets[1], bytes, 1, 1);
		_exit(0);
	}

	double start = seconds();

	for (size_t round = 0; round < rounds; round++)
		move_all(sockets[0], bytes, byte_count, 1);
	move_all(sockets[0], bytes, 1, 0);

	double rate = (double)byte_count * (double)rounds / (seconds() - start) / 1e6;

	waitpid(child, NULL, 0);
	free(bytes);
	return rate;
}

/* Two processes that write to each other's private memory and watch their own. */
struct side {
	pid_t pid;
	uint64_t address;
	int is_ready;
};

enum way { BY_FILE, BY_CALL };

static void write_there(enum way way, int file, const struct side *peer, uint64_t value)
{
	struct iovec here = {&value, sizeof(value)},
		     there = {(void *)(uintptr_t)peer->address, sizeof(value)};
	ssize_t moved = way == BY_FILE ? pwrite(file, &value, sizeof(value), (off_t)peer->address)
				       : process_vm_writev(peer->pid, &here, 1, &there, 1, 0);

	if (moved != (ssize_t)sizeof(value))
		fail("write to another process");
}

/* Half a round trip in microseconds, median, of 8 bytes: by /proc/<pid>/mem, or by
 * process_vm_writev. */
static double memory_latency(enum way way, unsigned rounds)
{
	struct side *sides = mmap(NULL, 2 * sizeof(*sides), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double *samples = malloc(rounds * sizeof(*samples));
	char path[32];

	if (sides == MAP_FAILED || !samples)
		fail("mmap");
	pid_t child = fork();
	int me = child == 0;
	volatile uint64_t *word = aligned_alloc(4096, 4096);

	*word = 0;
	sides[me].pid = getpid();
	sides[me].address = (uintptr_t)word;
	__atomic_store_n(&sides[me].is_ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&sides[!me].is_ready, __ATOMIC_ACQUIRE))
		;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)sides[!me].pid);

	int file = open(path, O_RDWR);

	if (file < 0)
		fail(path);
	for (unsigned round = 0; round < rounds; round++) {
		double start = seconds();

		while (me && *word != round + 1)
			;
		write_there(way, file, &sides[!me], round + 1);
		while (!me && *word != round + 1)
			;
		samples[round] = seconds() - start;
	}
	if (me)
		_exit(0);
	waitpid(child, NULL, 0);
	return median(samples, rounds) / 2 * 1e6;
}

enum { CROSSINGS = 1000, CROSSING_SAMPLES = 101 };

/* Microseconds that a word takes from one process to the other, by plain stores. The median of
 * samples: at first both may run on one core. */
static double line_latency(void)
{
	uint64_t *words =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double samples[CROSSING_SAMPLES];

	if (words == MAP_FAILED)
		fail("mmap");
	uint64_t *there = words, *back = words + 4096 / sizeof(*words);
	pid_t child = fork();

	if (child == 0) {
		for (uint64_t round = 1; round <= (uint64_t)CROSSINGS * CROSSING_SAMPLES; round++) {
			while (__atomic_load_n(there, __ATOMIC_ACQUIRE) != round)
				;
			__atomic_store_n(back, round, __ATOMIC_RELEASE);
		}
		_exit(0);
	}
	for (unsigned sample = 0; sample < CROSSING_SAMPLES; sample++) {
		double start = seconds();

		for (unsigned i = 0; i < CROSSINGS; i++) {
			uint64_t round = (uint64_t)sample * CROSSINGS + i + 1;

			__atomic_store_n(there, round, __ATOMIC_RELEASE);
			while (__atomic_load_n(back, __ATOMIC_ACQUIRE) != round)
				;
		}
		samples[sample] = (seconds() - start) / CROSSINGS / 2 * 1e6;
	}
	waitpid(child, NULL, 0);
	return median(samples, CROSSING_SAMPLES);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr,
			"usage: bench-peer memcpy|memcpy-pair|tcp-lat|tcp-bw|futex-wake|mem-file-lat|mem-call-lat|line-lat BYTES\n");
		return 2;
	}

	size_t byte_count = strtoul(argv[2], NULL, 0);

	if (byte_count == 0)
		return 2;
	if (!strcmp(argv[1], "memcpy"))
		printf("%.3f\n", memcpy_rate(byte_count));
	else if (!strcmp(argv[1], "memcpy-pair"))
		printf("%.3f\n", memcpy_pair_rate(byte_count));
	else if (!strcmp(argv[1], "futex-wake"))
		printf("%.3f\n", futex_wake(20000));
	else if (!strcmp(argv[1], "mem-file-lat") && byte_count == 8)
		printf("%.3f\n", memory_latency(BY_FILE, 50000));
	else if (!strcmp(argv[1], "mem-call-lat") && byte_count == 8)
		printf("%.3f\n", memory_latency(BY_CALL, 50000));
	else if (!strcmp(argv[1], "line-lat") && byte_count == 8)
		printf("%.3f\n", line_latency());
	else if (!strcmp(argv[1], "tcp-lat"))
		printf("%.3f\n", tcp_latency(byte_count, 50000));
	else if (!strcmp(argv[1], "tcp-bw"))
		printf("%.3f\n", tcp_rate(byte_count));
	else
		return 2;
	return 0;
}
