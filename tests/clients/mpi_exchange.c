/* SPDX-License-Identifier: Apache-2.0 */
/* Two MPI ranks swap a mebibyte and check each byte, then agree on a sum; the client test "mpi"
 * compiles it with mpicc. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1 << 20, ROUNDS = 4 };

static unsigned char pattern(int rank, int round, int index)
{
	return (unsigned char)(rank * 101 + round * 31 + index * 7 + (index >> 8));
}

static int exchange(int rank, int round, unsigned char *mine, unsigned char *theirs)
{
	for (int i = 0; i < BYTES; i++) {
		mine[i] = pattern(rank, round, i);
		theirs[i] = (unsigned char)~pattern(1 - rank, round, i);
	}
	MPI_Sendrecv(mine, BYTES, MPI_UNSIGNED_CHAR, 1 - rank, round, theirs, BYTES,
		     MPI_UNSIGNED_CHAR, 1 - rank, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < BYTES; i++) {
		if (theirs[i] != pattern(1 - rank, round, i)) {
			fprintf(stderr, "rank %d, round %d: byte %d is wrong\n", rank, round, i);
			return 1;
		}
	}
	return 0;
}

int main(int argument_count, char **arguments)
{
	unsigned char *mine = malloc(BYTES), *theirs = malloc(BYTES);
	int rank, rank_count, faults = 0, all_faults = -1;

	MPI_Init(&argument_count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
	if (rank_count != 2 || !mine || !theirs)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int round = 0; round < ROUNDS; round++)
		faults += exchange(rank, round, mine, theirs);
	MPI_Allreduce(&faults, &all_faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d on %s: %d faults\n", rank, getenv("SOFTIB_HOST"), all_faults);
	MPI_Finalize();
	free(mine);
	free(theirs);
	return all_faults != 0;
}
