/* SPDX-License-Identifier: Apache-2.0 */
/* A bandwidth test between two MPI ranks: batches of 64 sends for which the peer has posted
 * receives, an answer after each batch, and a barrier before and after each size. It prints a line
 * per size. The client test "mpi" compiles it with mpicc. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, BYTES_MIN = 8, BYTES_MAX = 1 << 20 };

/* Rank 0 sends a batch and waits for an answer; rank 1 receives the batch and answers. */
static void exchange_window(int rank, unsigned char *bytes, int byte_count)
{
	MPI_Request requests[WINDOW];
	char answer = 0;

	for (int i = 0; i < WINDOW; i++) {
		unsigned char *message = bytes + (size_t)i * (size_t)byte_count;

		if (rank == 0)
			MPI_Isend(message, byte_count, MPI_UNSIGNED_CHAR, 1, i, MPI_COMM_WORLD,
				  &requests[i]);
		else
			MPI_Irecv(message, byte_count, MPI_UNSIGNED_CHAR, 0, i, MPI_COMM_WORLD,
				  &requests[i]);
	}
	MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
	if (rank == 0)
		MPI_Recv(&answer, 1, MPI_CHAR, 1, WINDOW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Send(&answer, 1, MPI_CHAR, 0, WINDOW, MPI_COMM_WORLD);
}

/* Each message of the batch has a first and a last byte of its own. */
static void mark(unsigned char *bytes, int byte_count)
{
	for (int i = 0; i < WINDOW; i++) {
		unsigned char *message = bytes + (size_t)i * (size_t)byte_count;

		message[0] = (unsigned char)(i + 1);
		message[byte_count - 1] = (unsigned char)(i + 101);
	}
}

static int faults_of(const unsigned char *bytes, int byte_count)
{
	int faults = 0;

	for (int i = 0; i < WINDOW; i++) {
		const unsigned char *message = bytes + (size_t)i * (size_t)byte_count;

		faults += message[0] != i + 1 || message[byte_count - 1] != i + 101;
	}
	return faults;
}

static int measure(int rank, unsigned char *bytes, int byte_count, int window_count)
{
	double start, seconds;
	int faults = 0;

	memset(bytes, 0, (size_t)byte_count * WINDOW);
	if (rank == 0)
		mark(bytes, byte_count);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (int i = 0; i < window_count; i++)
		exchange_window(rank, bytes, byte_count);
	seconds = MPI_Wtime() - start;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		faults = faults_of(bytes, byte_count);
	else
		printf("%d bytes: %d messages in %.3f s, %.1f MB/s\n", byte_count,
		       window_count * WINDOW, seconds,
		       (double)byte_count * WINDOW * window_count / seconds / 1e6);
	fflush(stdout);
	return faults;
}

int main(int argument_count, char **arguments)
{
	unsigned char *bytes = malloc((size_t)WINDOW * BYTES_MAX);
	int rank, rank_count, faults = 0, all_faults = -1;
	int window_count = argument_count > 1 ? (int)strtol(arguments[1], NULL, 10) : 20;

	MPI_Init(&argument_count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
	if (rank_count != 2 || window_count < 1 || !bytes)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int byte_count = BYTES_MIN; byte_count <= BYTES_MAX; byte_count *= 2)
		faults += measure(rank, bytes, byte_count, window_count);
	MPI_Allreduce(&faults, &all_faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d on %s: %d faults\n", rank, getenv("SOFTIB_HOST"), all_faults);
	MPI_Finalize();
	free(bytes);
	return all_faults != 0;
}
