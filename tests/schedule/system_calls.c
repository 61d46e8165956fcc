/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that wait, that tell other threads something, or that depend on the time or on
 * chance. A call that would wait is tried without waiting; the thread gives its turn away until
 * something may have changed.
 */
#include <errno.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "interpose.h"
#include "raw_call.h"
#include "raw_copy.h"
#include "turns.h"

#define SECOND_NS 1000000000ull
/* The virtual clock of the day begins somewhere in 2026. */
#define DAY_OFFSET_NS (1780000000ull * SECOND_NS)

static uint64_t time_after(uint64_t ns)
{
	return schedule->now + ns;
}

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * SECOND_NS + (uint64_t)time->tv_nsec;
}

static uint64_t deadline_of(const struct timespec *timeout)
{
	return timeout ? time_after(ns_of(timeout)) : NEVER;
}

static uint64_t deadline_after_ms(int timeout)
{
	return timeout < 0 ? NEVER : time_after((uint64_t)timeout * 1000000);
}

/* false: the time is up. */
static bool wait_for_kernel(uint64_t deadline, const void *code)
{
	struct wait wait = wait_until(deadline);

	wait.for_kernel = true;
	return block(wait, code);
}

static long poll_until(struct pollfd *watched, nfds_t count, uint64_t deadline, const void *code)
{
	bool has_time = true;
	long result;

	point_system_call(code);
	for (;;) {
		result = raw_call(SYS_poll, (long)watched, (long)count, 0, 0, 0, 0);
		if (result != 0 || !has_time || deadline <= schedule->now)
			return result;
		has_time = wait_for_kernel(deadline, code);
	}
}

EXPORT int poll(struct pollfd *watched, nfds_t count, int timeout)
{
	if (!own)
		return (int)RETURN(
			raw_call(SYS_poll, (long)watched, (long)count, timeout, 0, 0, 0));
	return (int)RETURN(poll_until(watched, count, deadline_after_ms(timeout), CODE));
}

EXPORT int ppoll(struct pollfd *watched, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask)
{
	(void)mask;
	if (!own) {
		int ms = timeout ? (int)(ns_of(timeout) / 1000000) : -1;

		return (int)RETURN(raw_call(SYS_poll, (long)watched, (long)count, ms, 0, 0, 0));
	}
	return (int)RETURN(poll_until(watched, count, deadline_of(timeout), CODE));
}

EXPORT int epoll_wait(int epoll, struct epoll_event *events, int events_max, int timeout)
{
	const bool is_scheduled = own != NULL;
	const uint64_t deadline = is_scheduled ? deadline_after_ms(timeout) : 0;
	bool has_time = true;
	long result;

	point_system_call(CODE);
	for (;;) {
		result = raw_call(SYS_epoll_wait, epoll, (long)events, events_max,
				  is_scheduled ? 0 : timeout, 0, 0);
		if (result != 0 || !is_scheduled || !has_time || deadline <= schedule->now)
			return (int)RETURN(result);
		has_time = wait_for_kernel(deadline, CODE);
	}
}

EXPORT int epoll_ctl(int epoll, int operation, int file, struct epoll_event *event)
{
	point_system_call(CODE);
	news_of_kernel();
	return (int)RETURN(raw_call(SYS_epoll_ctl, epoll, operation, file, (long)event, 0, 0));
}

static bool may_wait(int file)
{
	return !(raw_call(SYS_fcntl, file, 3 /* F_GETFL */, 0, 0, 0, 0) & 04000 /* O_NONBLOCK */);
}

/* Returns when a call on this descriptor will not wait. */
static void await_descriptor(int file, short events, const void *code)
{
	struct pollfd watched = {.fd = file, .events = events};

	if (own && may_wait(file))
		(void)poll_until(&watched, 1, NEVER, code);
	else
		point_system_call(code);
}

/* A call that takes something out of a descriptor, so that its sender can go on. */
#define TAKES(number, file, ...)                                                                   \
	do {                                                                                       \
		await_descriptor(file, POLLIN, CODE);                                              \
		const long taken = raw_call(number, file, __VA_ARGS__);                            \
		if (taken >= 0)                                                                    \
			news_of_kernel();                                                          \
		return RETURN(taken);                                                              \
	} while (0)

EXPORT ssize_t read(int file, void *bytes, size_t byte_count)
{
	TAKES(SYS_read, file, (long)bytes, (long)byte_count, 0, 0, 0);
}

EXPORT ssize_t readv(int file, const struct iovec *parts, int count)
{
	TAKES(SYS_readv, file, (long)parts, count, 0, 0, 0);
}

EXPORT ssize_t recv(int file, void *bytes, size_t byte_count, int flags)
{
	if (!(flags & MSG_DONTWAIT))
		TAKES(SYS_recvfrom, file, (long)bytes, (long)byte_count, flags, 0, 0);
	point_system_call(CODE);
	const long result =
		raw_call(SYS_recvfrom, file, (long)bytes, (long)byte_count, flags, 0, 0);

	if (result >= 0)
		news_of_kernel();
	return RETURN(result);
}

EXPORT ssize_t recvmsg(int file, struct msghdr *message, int flags)
{
	if (!(flags & MSG_DONTWAIT))
		TAKES(SYS_recvmsg, file, (long)message, flags, 0, 0, 0);
	point_system_call(CODE);
	const long result = raw_call(SYS_recvmsg, file, (long)message, flags, 0, 0, 0);

	if (result >= 0)
		news_of_kernel();
	return RETURN(result);
}

EXPORT int accept4(int file, struct sockaddr *address, socklen_t *address_bytes, int flags)
{
	TAKES(SYS_accept4, file, (long)address, (long)address_bytes, flags, 0, 0);
}

EXPORT int accept(int file, struct sockaddr *address, socklen_t *address_bytes)
{
	TAKES(SYS_accept4, file, (long)address, (long)address_bytes, 0, 0, 0);
}

/* A call after which another thread may find its descriptor ready. */
#define TELLS(number, ...)                                                                         \
	do {                                                                                       \
		point_system_call(CODE);                                                           \
		const long told = raw_call(number, __VA_ARGS__);                                   \
		if (told >= 0)                                                                     \
			news_of_kernel();                                                          \
		return RETURN(told);                                                               \
	} while (0)

EXPORT ssize_t write(int file, const void *bytes, size_t byte_count)
{
	await_descriptor(file, POLLOUT, CODE);
	TELLS(SYS_write, file, (long)bytes, (long)byte_count, 0, 0, 0);
}

EXPORT ssize_t writev(int file, const struct iovec *parts, int count)
{
	await_descriptor(file, POLLOUT, CODE);
	TELLS(SYS_writev, file, (long)parts, count, 0, 0, 0);
}

EXPORT ssize_t send(int file, const void *bytes, size_t byte_count, int flags)
{
	if (!(flags & MSG_DONTWAIT))
		await_descriptor(file, POLLOUT, CODE);
	TELLS(SYS_sendto, file, (long)bytes, (long)byte_count, flags, 0, 0);
}

EXPORT ssize_t sendmsg(int file, const struct msghdr *message, int flags)
{
	if (!(flags & MSG_DONTWAIT))
		await_descriptor(file, POLLOUT, CODE);
	TELLS(SYS_sendmsg, file, (long)message, flags, 0, 0, 0);
}

EXPORT int connect(int file, const struct sockaddr *address, socklen_t address_bytes)
{
	TELLS(SYS_connect, file, (long)address, address_bytes, 0, 0, 0);
}

EXPORT int listen(int file, int backlog)
{
	TELLS(SYS_listen, file, backlog, 0, 0, 0, 0);
}

EXPORT int bind(int file, const struct sockaddr *address, socklen_t address_bytes)
{
	TELLS(SYS_bind, file, (long)address, address_bytes, 0, 0, 0);
}

EXPORT int shutdown(int file, int how)
{
	TELLS(SYS_shutdown, file, how, 0, 0, 0, 0);
}

EXPORT int close(int file)
{
	TELLS(SYS_close, file, 0, 0, 0, 0, 0);
}

/* Their bytes may be in shared memory. */
EXPORT ssize_t pwrite(int file, const void *bytes, size_t byte_count, off_t offset)
{
	TELLS(SYS_pwrite64, file, (long)bytes, (long)byte_count, offset, 0, 0);
}

EXPORT ssize_t pread(int file, void *bytes, size_t byte_count, off_t offset)
{
	TELLS(SYS_pread64, file, (long)bytes, (long)byte_count, offset, 0, 0);
}

EXPORT int fallocate(int file, int mode, off_t offset, off_t byte_count)
{
	TELLS(SYS_fallocate, file, mode, offset, byte_count, 0, 0);
}

EXPORT ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_count,
				const struct iovec *from, unsigned long from_count,
				unsigned long flags)
{
	TELLS(SYS_process_vm_readv, pid, (long)to, (long)to_count, (long)from, (long)from_count,
	      (long)flags);
}

EXPORT ssize_t process_vm_writev(pid_t pid, const struct iovec *from, unsigned long from_count,
				 const struct iovec *to, unsigned long to_count,
				 unsigned long flags)
{
	TELLS(SYS_process_vm_writev, pid, (long)from, (long)from_count, (long)to, (long)to_count,
	      (long)flags);
}

/* The time. */

static struct timespec as_timespec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
}

static uint64_t clock_offset(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? DAY_OFFSET_NS : 0;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	if (!own)
		return (int)RETURN(raw_call(SYS_clock_gettime, clock, (long)ret_time, 0, 0, 0, 0));
	schedule->now += 20;
	*ret_time = as_timespec(schedule->now + clock_offset(clock));
	return 0;
}

EXPORT int gettimeofday(struct timeval *ret_time, void *zone)
{
	struct timespec now;
	int result = clock_gettime(CLOCK_REALTIME, &now);

	(void)zone;
	*ret_time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
	return result;
}

EXPORT time_t time(time_t *ret_time)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (ret_time)
		*ret_time = now.tv_sec;
	return now.tv_sec;
}

static void sleep_until(uint64_t deadline, const void *code)
{
	while (block(wait_until(deadline), code))
		;
}

EXPORT int nanosleep(const struct timespec *time, struct timespec *ret_left)
{
	(void)ret_left;
	if (!own)
		return (int)RETURN(raw_call(SYS_nanosleep, (long)time, 0, 0, 0, 0, 0));
	sleep_until(deadline_of(time), CODE);
	return 0;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *ret_left)
{
	(void)ret_left;
	if (!own)
		return (int)-raw_call(SYS_clock_nanosleep, clock, flags, (long)time, 0, 0, 0);
	sleep_until(flags & TIMER_ABSTIME ? ns_of(time) - clock_offset(clock) : deadline_of(time),
		    CODE);
	return 0;
}

EXPORT int usleep(useconds_t us)
{
	const struct timespec time = as_timespec((uint64_t)us * 1000);

	return nanosleep(&time, NULL);
}

EXPORT unsigned sleep(unsigned seconds)
{
	const struct timespec time = {.tv_sec = seconds};

	(void)nanosleep(&time, NULL);
	return 0;
}

EXPORT int sched_yield(void)
{
	if (!own)
		return (int)RETURN(raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0));
	yield_turn(CODE);
	return 0;
}

/* What a process used would differ from run to run. */
EXPORT int getrusage(__rusage_who_t who, struct rusage *ret_usage)
{
	if (!own)
		return (int)RETURN(raw_call(SYS_getrusage, who, (long)ret_usage, 0, 0, 0, 0));
	raw_fill(ret_usage, 0, sizeof(*ret_usage));
	ret_usage->ru_utime.tv_sec = (time_t)(schedule->now / SECOND_NS);
	return 0;
}

EXPORT ssize_t getrandom(void *ret_bytes, size_t byte_count, unsigned flags)
{
	uint8_t *bytes = ret_bytes;

	if (!own)
		return RETURN(
			raw_call(SYS_getrandom, (long)ret_bytes, (long)byte_count, flags, 0, 0, 0));
	for (size_t i = 0; i < byte_count; i++)
		bytes[i] = (uint8_t)turns_random(256);
	return (ssize_t)byte_count;
}

/* jansson draws the seed of its tables there. */
EXPORT int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = va_arg(arguments, mode_t);
	va_end(arguments);
	if (own && strcmp(path, "/dev/urandom") == 0)
		path = "/dev/zero";
	return (int)RETURN(raw_call(SYS_open, (long)path, flags, mode, 0, 0, 0));
}

EXPORT int open64(const char *path, int flags, ...) __attribute__((alias("open")));

static long membarrier(long command)
{
	if (schedule->mutation == MUTATE_MEMBARRIERS && command)
		return 0;
	if (command == MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)
		schedule->processes[own->process].has_registered = true;
	else if (command == MEMBARRIER_CMD_GLOBAL_EXPEDITED)
		drain_registered();
	else if (command == MEMBARRIER_CMD_PRIVATE_EXPEDITED)
		drain_process(own->process);
	return 0;
}

EXPORT long syscall(long number, ...)
{
	va_list list;
	long a[6];

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!own)
		return RETURN(raw_call(number, a[0], a[1], a[2], a[3], a[4], a[5]));
	point_system_call(CODE);
	if (number == SYS_membarrier)
		return membarrier(a[0]);
	if (number == SYS_nanosleep) {
		sleep_until(deadline_of((const struct timespec *)a[0]), CODE);
		return 0;
	}
	/* The kernel's side of such a ring runs beside all threads. */
	if (number == SYS_io_uring_setup)
		return RETURN(-ENOSYS);
	if (number == SYS_futex)
		turns_fail("a futex that is not scheduled");
	return RETURN(raw_call(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}
