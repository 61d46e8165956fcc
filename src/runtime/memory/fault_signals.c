/* SPDX-License-Identifier: Apache-2.0 */
/* SIGSEGV and SIGBUS, shared with the program: see fault_signals.h. */
#include "runtime/memory/fault_signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include "base/attributes.h"

enum { ACTIONS_KEPT = 4 };

/* A handler may run while another thread renews. An action is written before `latest` points to it,
 * and its slot is reused only after ACTIONS_KEPT - 1 more renewals. */
struct shared_signal {
	int number;
	struct sigaction first; /* before our handler was installed */
	struct sigaction kept[ACTIONS_KEPT];
	unsigned kept_count;
	const struct sigaction *latest; /* atomic: the action that our handler has replaced last */
};

static struct shared_signal shared_signals[] = {{.number = SIGSEGV}, {.number = SIGBUS}};
static fault_resolver *resolve; /* atomic; NULL before fault_signals_handle */
static pthread_mutex_t renewing = PTHREAD_MUTEX_INITIALIZER;

/* The fault for which the program's handler was called, and the stack position at that time. That
 * handler may call ours as the one before it, or be left by a longjmp. initial-exec: a signal
 * handler must not allocate thread-local memory. */
struct passed_fault {
	const void *context;
	uintptr_t frame;
};

static __thread struct passed_fault passed __attribute__((tls_model("initial-exec")));

static void handle(int number, siginfo_t *info, void *context);

static bool is_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == handle;
}

static void remember(struct shared_signal *shared, const struct sigaction *action)
{
	struct sigaction *kept = &shared->kept[shared->kept_count++ % ACTIONS_KEPT];

	*kept = *action;
	__atomic_store_n(&shared->latest, kept, __ATOMIC_RELEASE);
}

/* A synchronous fault repeats when the handler returns. A signal that was sent stays pending until
 * then. */
static void do_default(int number, bool is_fault)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
	if (!is_fault)
		raise(number);
}

static void call(const struct sigaction *action, int number, siginfo_t *info, void *context)
{
	sigset_t one;

	pthread_sigmask(SIG_BLOCK, &action->sa_mask, NULL);
	if (action->sa_flags & SA_NODEFER) {
		sigemptyset(&one);
		sigaddset(&one, number);
		pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	}
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(number, info, context);
	else
		action->sa_handler(number);
}

static uintptr_t this_frame(void)
{
	return (uintptr_t)__builtin_frame_address(0);
}

/* Whether the program's handler has called ours. The context of the next fault may lie at the same
 * place of the signal stack, but its handler runs no deeper in the stack. */
static bool is_called_back(const void *context)
{
	return context == passed.context && this_frame() < passed.frame;
}

/* Passes the signal on to the program's handler. */
static void pass_on(struct shared_signal *shared, siginfo_t *info, void *context,
		    bool was_called_back)
{
	const bool is_fault = info->si_code > 0;
	static const struct sigaction default_action = {.sa_handler = SIG_DFL};
	const struct sigaction *latest = __atomic_load_n(&shared->latest, __ATOMIC_ACQUIRE);
	const struct sigaction action = was_called_back ? shared->first : *latest;

	if (action.sa_handler == SIG_IGN && !is_fault)
		return;
	if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
		do_default(shared->number, is_fault);
		return;
	}
	if (action.sa_flags & SA_RESETHAND && !was_called_back)
		__atomic_store_n(&shared->latest, &default_action, __ATOMIC_RELEASE);
	passed = (struct passed_fault){context, this_frame()};
	call(&action, shared->number, info, context);
	passed.context = NULL;
}

static bool kind_of(int number, const siginfo_t *info, enum fault_kind *ret_kind)
{
	if (number == SIGSEGV && info->si_code == SEGV_MAPERR)
		*ret_kind = FAULT_UNMAPPED;
	else if (number == SIGSEGV && info->si_code == SEGV_ACCERR)
		*ret_kind = FAULT_PROTECTED;
	else if (number == SIGBUS && info->si_code == BUS_ADRERR)
		*ret_kind = FAULT_TRUNCATED;
	else
		return false;
	return true;
}

static void handle(int number, siginfo_t *info, void *context)
{
	const int error = errno;
	const bool was_called_back = is_called_back(context);
	enum fault_kind kind;

	if (kind_of(number, info, &kind) && !was_called_back &&
	    __atomic_load_n(&resolve, __ATOMIC_ACQUIRE)((uintptr_t)info->si_addr, kind)) {
		errno = error;
		return;
	}
	for (size_t i = 0; i < ARRAY_COUNT(shared_signals); i++)
		if (shared_signals[i].number == number)
			pass_on(&shared_signals[i], info, context, was_called_back);
	errno = error;
}

/* Puts our handler in front of the program's, if it is not there yet. */
static void install(struct shared_signal *shared)
{
	/* SA_ONSTACK: some programs have stacks that are too small for handlers. */
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct sigaction before;

	sigaction(shared->number, NULL, &before);
	if (is_ours(&before))
		return;
	remember(shared, &before);
	sigemptyset(&action.sa_mask);
	action.sa_flags |= before.sa_flags & SA_RESTART;
	/* The program may have installed another handler between the two calls. */
	sigaction(shared->number, &action, &before);
	if (!is_ours(&before))
		remember(shared, &before);
}

void fault_signals_handle(fault_resolver *resolver)
{
	pthread_mutex_lock(&renewing);
	if (!resolve) {
		__atomic_store_n(&resolve, resolver, __ATOMIC_RELEASE);
		for (size_t i = 0; i < ARRAY_COUNT(shared_signals); i++) {
			sigaction(shared_signals[i].number, NULL, &shared_signals[i].first);
			install(&shared_signals[i]);
		}
	}
	pthread_mutex_unlock(&renewing);
}

void fault_signals_renew(void)
{
	if (!__atomic_load_n(&resolve, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&renewing);
	for (size_t i = 0; i < ARRAY_COUNT(shared_signals); i++)
		install(&shared_signals[i]);
	pthread_mutex_unlock(&renewing);
}
