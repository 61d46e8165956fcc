/* SPDX-License-Identifier: Apache-2.0 */
/* What librdmacm does where there is no softibd: channels fail, addresses that need nobody are
 * found. With one, tests/clients/rdmacm_calls.c tries all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

/* A launcher that names a socket has a fabric in mind: none is started instead. */
static int point_to_nowhere(void **state)
{
	(void)state;
	return setenv("SOFTIB_SOCKET", "/nonexistent/softib/control", 1);
}

static void test_without_softibd_there_is_no_channel(void **state)
{
	struct rdma_cm_id *id;

	(void)state;
	errno = 0;
	assert_null(rdma_create_event_channel());
	assert_int_not_equal(errno, 0);
	errno = 0;
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), -1);
	assert_int_not_equal(errno, 0);
}

static void test_calls_with_nothing_are_refused(void **state)
{
	struct rdma_cm_event *event;
	struct rdma_addrinfo *info;
	struct rdma_cm_id id = {0};

	(void)state;
	errno = 0;
	assert_int_equal(rdma_get_cm_event(NULL, &event), -1);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_int_equal(rdma_ack_cm_event(NULL), -1);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_int_equal(rdma_getaddrinfo(NULL, NULL, NULL, &info), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rdma_get_src_port(&id), 0);
	assert_int_equal(rdma_get_dst_port(&id), 0);
	rdma_freeaddrinfo(NULL);
}

static void test_addresses_in_numbers_need_nobody(void **state)
{
	struct rdma_addrinfo hints = {.ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_UDP};
	struct rdma_addrinfo *info;
	struct sockaddr_in address;

	(void)state;
	assert_int_equal(rdma_getaddrinfo("127.100.0.2", "7471", &hints, &info), 0);
	assert_int_equal(info->ai_qp_type, IBV_QPT_UD);
	assert_int_equal(info->ai_family, AF_INET);
	assert_int_equal(info->ai_dst_len, sizeof(address));
	assert_null(info->ai_src_addr);
	memcpy(&address, info->ai_dst_addr, sizeof(address));
	assert_int_equal(ntohs(address.sin_port), 7471);
	assert_int_equal(ntohl(address.sin_addr.s_addr), 0x7f640002);
	rdma_freeaddrinfo(info);
	hints.ai_flags |= RAI_PASSIVE;
	hints.ai_port_space = 0;
	assert_int_equal(rdma_getaddrinfo("127.100.0.2", NULL, &hints, &info), 0);
	assert_int_equal(info->ai_port_space, RDMA_PS_TCP);
	assert_int_equal(info->ai_qp_type, IBV_QPT_RC);
	assert_non_null(info->ai_src_addr);
	assert_null(info->ai_dst_addr);
	rdma_freeaddrinfo(info);
}

static void test_addresses_of_the_hints_are_copied(void **state)
{
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(1)};
	struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(2)};
	struct rdma_addrinfo hints = {.ai_src_addr = (struct sockaddr *)&own,
				      .ai_src_len = sizeof(own),
				      .ai_dst_addr = (struct sockaddr *)&peer,
				      .ai_dst_len = sizeof(peer)};
	struct rdma_addrinfo *info;

	(void)state;
	assert_int_equal(rdma_getaddrinfo(NULL, NULL, &hints, &info), 0);
	assert_ptr_not_equal(info->ai_src_addr, &own);
	assert_memory_equal(info->ai_src_addr, &own, sizeof(own));
	assert_memory_equal(info->ai_dst_addr, &peer, sizeof(peer));
	rdma_freeaddrinfo(info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_softibd_there_is_no_channel),
		cmocka_unit_test(test_calls_with_nothing_are_refused),
		cmocka_unit_test(test_addresses_in_numbers_need_nobody),
		cmocka_unit_test(test_addresses_of_the_hints_are_copied),
	};

	return cmocka_run_group_tests(tests, point_to_nowhere, NULL);
}
