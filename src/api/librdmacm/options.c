/* SPDX-License-Identifier: Apache-2.0 */
/* Options of ids. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "api/librdmacm/identifier.h"
#include "base/bytes.h"

static int set_number(struct rdma_cm_id *id, enum cm_option option, uint32_t value)
{
	struct cm_command command;
	struct cm_answer answer;

	identifier_command(identifier_of(id), CM_SET_OPTION, &command);
	command.option = option;
	command.value = value;
	return rdma_result(identifier_ask(identifier_of(id), &command, &answer));
}

static const struct {
	int name;
	size_t byte_count;
	enum cm_option option;
} id_options[] = {
	{RDMA_OPTION_ID_TOS, sizeof(uint8_t), CM_OPTION_TOS},
	{RDMA_OPTION_ID_REUSEADDR, sizeof(int), CM_OPTION_REUSE_ADDRESS},
	{RDMA_OPTION_ID_AFONLY, sizeof(int), CM_OPTION_ONE_FAMILY},
	{RDMA_OPTION_ID_ACK_TIMEOUT, sizeof(uint8_t), CM_OPTION_ACK_TIMEOUT},
};

static int set_id_option(struct rdma_cm_id *id, int name, const void *value, size_t byte_count)
{
	for (unsigned index = 0; index < ARRAY_COUNT(id_options); index++) {
		int number = 0;
		uint8_t byte;

		if (id_options[index].name != name)
			continue;
		if (id_options[index].byte_count != byte_count)
			return rdma_result(-EINVAL);
		if (byte_count == sizeof(byte)) {
			memcpy(&byte, value, sizeof(byte));
			number = byte;
		} else {
			memcpy(&number, value, sizeof(number));
		}
		return set_number(id, id_options[index].option, (uint32_t)number);
	}
	return rdma_result(-ENOSYS);
}

static void read_path(const struct ibv_path_record *wire, struct path_record *ret_path)
{
	uint8_t bytes[PATH_RECORD_BYTES];

	/* ibv_path_record has the layout of the PathRecord on the wire. */
	static_assert(sizeof(*wire) == sizeof(bytes), "a path record is one");
	memcpy(bytes, wire, sizeof(bytes));
	path_record_decode(bytes, ret_path);
}

static int set_path(struct rdma_cm_id *id, const void *value, size_t byte_count)
{
	struct cm_command command;
	struct cm_answer answer;
	struct ibv_path_data data;

	if (byte_count < sizeof(data) || byte_count % sizeof(data))
		return rdma_result(-EINVAL);
	memcpy(&data, value, sizeof(data));
	identifier_command(identifier_of(id), CM_SET_PATH, &command);
	read_path(&data.path, &command.path);
	/* In other phases softibd decides whether a route can be resolved. */
	if (identifier_of(id)->phase == PHASE_ADDRESS_FOUND)
		identifier_of(id)->phase = PHASE_UNKNOWN;
	return rdma_result(identifier_ask(identifier_of(id), &command, &answer));
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
	if (!optval)
		return rdma_result(-EINVAL);
	if (level == RDMA_OPTION_ID)
		return set_id_option(id, optname, optval, optlen);
	if (level == RDMA_OPTION_IB && optname == RDMA_OPTION_IB_PATH)
		return set_path(id, optval, optlen);
	return rdma_result(-ENOSYS);
}
