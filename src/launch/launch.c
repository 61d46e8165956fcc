/* SPDX-License-Identifier: Apache-2.0 */
/* Starts softibd, for the command line or for the first program that opens a device. */
#include "ipc/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "ipc/protocol.h"

enum { ARGUMENTS_MAX = 64, RETRY_MS = 5, ASK_MS = 1000, LOCK_ATTEMPTS_MAX = 1000 };

/* The message of the new process to its launcher before it becomes softibd. */
struct birth_notice {
	pid_t pid;
	int error; /* of exec; if exec works, the pipe ends without this message */
};

/* The lock file lies beside the fabric's folder, not in it, because softibd cleans and removes the
 * folder. The holder removes the file, so a process that waited checks whether the file it locked
 * is still there. */
static int take_launch_lock(const char *fabric, char ret_path[static CONTROL_PATH_BYTES])
{
	char runtime[CONTROL_PATH_BYTES];
	int error = runtime_directory(runtime);

	if (error)
		return error;
	if (snprintf(ret_path, CONTROL_PATH_BYTES, "%s/.%s.launch", runtime, fabric) >=
	    CONTROL_PATH_BYTES)
		return -ENAMETOOLONG;
	for (int attempt = 0; attempt < LOCK_ATTEMPTS_MAX; attempt++) {
		struct stat locked, there;
		int file = open(ret_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (file < 0)
			return -errno;
		while (flock(file, LOCK_EX) != 0 && errno == EINTR)
			;
		if (fstat(file, &locked) == 0 && lstat(ret_path, &there) == 0 &&
		    locked.st_ino == there.st_ino)
			return file;
		close(file);
	}
	return -EBUSY;
}

static void drop_launch_lock(int file, const char *path)
{
	unlink(path);
	close(file);
}

static int say_hello(const char *fabric, int timeout_ms)
{
	struct control_message answer;
	char text[96];
	int control = control_connect(fabric);

	if (control < 0)
		return control;
	snprintf(text, sizeof(text),
		 "{\"command\":\"hello\",\"version\":%d,\"kind\":\"tool\",\"pid\":%d}",
		 PROTOCOL_VERSION, (int)getpid());

	int error = control_ask(control, text, timeout_ms, &answer);

	if (!error)
		control_message_release(&answer);
	close(control);
	return error;
}

/* The launcher may have threads: only async-signal-safe calls between this and exec. No fork
 * handlers run, and a program that counts its own children gets no SIGCHLD. */
static pid_t fork_unnoticed(void)
{
	return (pid_t)syscall(SYS_clone, 0ul, NULL, NULL, NULL, 0ul);
}

static void close_beyond(int first)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0)
		return;
#endif
	long limit = sysconf(_SC_OPEN_MAX);

	for (int i = first; i < limit; i++)
		close(i);
}

_Noreturn static void become_softibd(char *const arguments[], char *const environment[], int errors,
				     int notice_pipe)
{
	struct birth_notice notice = {.pid = (pid_t)syscall(SYS_getpid)};
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t none;
	int nothing = open("/dev/null", O_RDWR);

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &standard, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (write(notice_pipe, &notice, sizeof(notice)) != sizeof(notice))
		_exit(1);
	/* Above all descriptors that dup2 is about to replace. */
	errors = fcntl(errors, F_DUPFD, 10);
	notice_pipe = fcntl(notice_pipe, F_DUPFD, 10);
	dup2(nothing, STDIN_FILENO);
	dup2(errors, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	dup2(notice_pipe, STDERR_FILENO + 1);
	close_beyond(STDERR_FILENO + 2);
	fcntl(STDERR_FILENO + 1, F_SETFD, FD_CLOEXEC);
	execve(arguments[0], arguments, environment);
	notice.error = errno;
	if (write(STDERR_FILENO + 1, &notice, sizeof(notice)) != sizeof(notice))
		_exit(126);
	_exit(127);
}

static int spawn(char *const arguments[], char *const environment[], int errors, pid_t *ret_pid)
{
	struct birth_notice notice = {.pid = 0};
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;

	pid_t middle = fork_unnoticed();

	if (middle == 0) {
		syscall(SYS_setsid);
		if (fork_unnoticed() == 0)
			become_softibd(arguments, environment, errors, ends[1]);
		_exit(0);
	}

	int error = middle < 0 ? -errno : 0;

	close(ends[1]);
	if (!error) {
		while (waitpid(middle, NULL, __WALL) < 0 && errno == EINTR)
			;
		if (read(ends[0], &notice, sizeof(notice)) != sizeof(notice))
			error = -EAGAIN;
		else
			*ret_pid = notice.pid;
		/* The second message comes only if exec failed; otherwise exec closes the pipe. */
		if (!error && read(ends[0], &notice, sizeof(notice)) == sizeof(notice))
			error = -notice.error;
	}
	close(ends[0]);
	return error;
}

/* Libraries preloaded into the program are not meant for softibd. */
static char **environment_for_softibd(void)
{
	size_t count = 0, kept = 0;

	while (environ[count])
		count++;

	char **environment = calloc(count + 1, sizeof(*environment));

	for (size_t i = 0; environment && i < count; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 &&
		    strncmp(environ[i], "LD_AUDIT=", 9) != 0)
			environment[kept++] = environ[i];
	return environment;
}

static int list_arguments(const struct launch_options *options, const char *program,
			  const char *log, const char *ret_arguments[])
{
	size_t count = 0;

	ret_arguments[count++] = program;
	ret_arguments[count++] = "--name";
	ret_arguments[count++] = options->fabric;
	ret_arguments[count++] = "--foreground";
	ret_arguments[count++] = "--log";
	ret_arguments[count++] = log;
	for (const char *const *further = options->arguments; further && *further; further++) {
		if (count == ARGUMENTS_MAX)
			return -E2BIG;
		ret_arguments[count++] = *further;
	}
	ret_arguments[count] = NULL;
	return 0;
}

static bool last_line(int file, char *ret_line, size_t byte_count)
{
	char text[1024];
	off_t size = lseek(file, 0, SEEK_END);
	off_t from = size > (off_t)sizeof(text) - 1 ? size - (off_t)sizeof(text) + 1 : 0;
	ssize_t length = pread(file, text, sizeof(text) - 1, from);

	while (length > 0 && text[length - 1] == '\n')
		length--;
	if (length <= 0)
		return false;
	text[length] = '\0';

	const char *newline = strrchr(text, '\n');

	snprintf(ret_line, byte_count, "%s", newline ? newline + 1 : text);
	return true;
}

static void explain(const struct launch_options *options, int errors, const char *log)
{
	if (!options->reason || !options->reason_bytes ||
	    last_line(errors, options->reason, options->reason_bytes))
		return;

	int file = open(log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (file < 0)
		return;
	last_line(file, options->reason, options->reason_bytes);
	close(file);
}

/* Also true for a process that ended and was not reaped, where the kernel has pidfds. */
static bool has_ended(pid_t pid)
{
	struct pollfd watched = {.fd = (int)syscall(SYS_pidfd_open, pid, 0u), .events = POLLIN};

	if (watched.fd < 0)
		return kill(pid, 0) != 0 && errno == ESRCH;

	bool ended = poll(&watched, 1, 0) == 1;

	close(watched.fd);
	return ended;
}

static int wait_until_it_answers(const struct launch_options *options, pid_t pid)
{
	struct timespec pause = {.tv_nsec = RETRY_MS * 1000000l};

	for (int waited_ms = 0; options->timeout_ms < 0 || waited_ms < options->timeout_ms;
	     waited_ms += RETRY_MS) {
		bool ended = has_ended(pid);

		/* Asks only after checking for the end: another softibd may hold the name, which is
		 * fine too. */
		if (say_hello(options->fabric, ASK_MS) == 0)
			return ended && options->must_be_new ? -EEXIST : 0;
		if (ended)
			return -EIO;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

static int launch_locked(const struct launch_options *options)
{
	const char *arguments[ARGUMENTS_MAX + 1];
	char program[CONTROL_PATH_BYTES], folder[CONTROL_PATH_BYTES], log[PATH_MAX];
	pid_t pid = 0;
	int error = fabric_directory(options->fabric, folder);

	if (!error && say_hello(options->fabric, ASK_MS) == 0)
		return options->must_be_new ? -EEXIST : 0;
	if (!error)
		error = program_path("softibd", program);
	if (error)
		return error;
	/* The log lies in the fabric's folder, and softibd opens it early. */
	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		return -errno;
	snprintf(log, sizeof(log), "%s/log", folder);
	error = list_arguments(options, program, log, arguments);
	if (error)
		return error;

	char **environment = environment_for_softibd();
	int errors = memfd_create("softib-launch", MFD_CLOEXEC);

	if (!environment || errors < 0)
		error = environment ? -errno : -ENOMEM;
	if (!error)
		error = spawn((char *const *)(uintptr_t)arguments, environment, errors, &pid);
	if (!error)
		error = wait_until_it_answers(options, pid);
	if (error && error != -EEXIST)
		explain(options, errors, log);
	/* A softibd that never started leaves nothing behind; a folder that is not empty stays. */
	if (error && error != -EEXIST && error != -ETIMEDOUT && unlink(log) == 0)
		rmdir(folder);
	free(environment);
	if (errors >= 0)
		close(errors);
	return error;
}

int fabric_launch(const struct launch_options *options)
{
	char path[CONTROL_PATH_BYTES];
	int lock;

	if (options->reason && options->reason_bytes)
		options->reason[0] = '\0';
	/* A bad name must not become the name of a lock file. */
	lock = fabric_directory(options->fabric, path);
	if (lock == 0)
		lock = take_launch_lock(options->fabric, path);
	if (lock < 0)
		return lock;

	int error = launch_locked(options);

	drop_launch_lock(lock, path);
	return error;
}
