/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program where membarrier(2) is missing, as in some containers:
 *
 *   without_membarrier PROGRAM [ARGUMENT...]
 *
 * Its locks, doorbells and hazard words then need fences of their own (runtime/process_fence.h).
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argument_count, char **arguments)
{
	const struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]),
					   (struct sock_filter *)filter};

	if (argument_count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 ||
	    syscall(SYS_membarrier, 0, 0, 0) != -1) {
		perror("without_membarrier");
		return 125;
	}
	execvp(arguments[1], arguments + 1);
	perror(arguments[1]);
	return 127;
}
