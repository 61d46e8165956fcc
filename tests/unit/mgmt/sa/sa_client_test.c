/* SPDX-License-Identifier: Apache-2.0 */
/* The client's side, with a real SA and with none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/sa/sa_client.h"
#include "sa_fixture.h"
#include "wire/class_port_info.h"
#include "wire/pkey.h"
#include "wire/smp.h"

enum { AGENT = 55, HOST = 2 };

static struct sa_fixture fixture;
static struct sa_client client;

static int set_up(void **state)
{
	const struct sa_client_options options = {.agent_number = AGENT, .requests_max = 4};

	(void)state;
	sa_fixture_start(&fixture);
	assert_int_equal(sa_client_init(&client, &options), 0);
	sa_client_set_sa(&client, 1, 0, PKEY_DEFAULT_FULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sa_client_release(&client);
	sa_fixture_stop(&fixture);
	return 0;
}

/* Passes MADs between both until neither has one to send. */
static void talk(void)
{
	struct mad_message message;

	for (bool is_busy = true; is_busy;) {
		is_busy = false;
		while (sa_client_transmit(&client, fixture.now, 1, &message)) {
			assert_int_equal(message.address.lid, 1);
			assert_int_equal(message.address.qpn, QPN_GSI);
			assert_int_equal(get_be32(message.bytes + 8), AGENT);
			message.address.lid = fixture_lid(&fixture, HOST);
			sa_receive(fixture.sa, fixture.now, &message);
			is_busy = true;
		}
		while (fixture_next_message(&fixture, &message)) {
			assert_int_equal(message.address.lid, fixture_lid(&fixture, HOST));
			message.address.lid = 1;
			sa_client_receive(&client, fixture.now, &message);
			is_busy = true;
		}
	}
}

static const uint64_t by_gids = SA_COMPONENT(PR_SGID) | SA_COMPONENT(PR_DGID);

static struct path_record path_to(unsigned host)
{
	return (struct path_record){.sgid_prefix = GID_PREFIX_LINK_LOCAL,
				    .sgid_guid = fixture_port(&fixture, HOST)->guid,
				    .dgid_prefix = GID_PREFIX_LINK_LOCAL,
				    .dgid_guid = fixture_port(&fixture, host)->guid};
}

static void test_path_query_gives_a_path(void **state)
{
	struct path_record wanted = path_to(3);
	const struct mad_purpose purpose = {.subject = &client, .detail = 7};
	struct sa_client_result result;
	struct path_record path;

	(void)state;
	assert_int_equal(sa_client_query_path(&client, &wanted, by_gids, purpose), 0);
	assert_int_equal(sa_client_deadline(&client), 0);
	talk();
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.outcome, SA_CLIENT_ANSWERED);
	assert_int_equal(result.purpose.detail, 7);
	assert_int_equal(result.attribute_id, SA_PATH_RECORD);
	path_record_decode(result.data, &path);
	assert_int_equal(path.dlid, 3);
	assert_false(sa_client_take_result(&client, &result));
	assert_int_equal(sa_client_deadline(&client), TIME_NEVER);
}

/* The client's next request, and the response that redirects it to this GUID. */
static struct mad_message next_request(void)
{
	struct mad_message message;

	assert_int_equal(sa_client_transmit(&client, fixture.now, 1, &message), 1);
	return message;
}

static void redirect(const struct mad_message *request, uint16_t lid, uint64_t guid)
{
	const struct class_port_info info = {.redirect_lid = lid,
					     .redirect_gid_prefix = GID_PREFIX_LINK_LOCAL,
					     .redirect_gid_guid = guid,
					     .redirect_qpn = 0x77,
					     .redirect_qkey = 0x80020000};
	struct mad_message answer = *request;

	answer.bytes[3] |= MAD_RESPONSE;
	put_be16(answer.bytes + MAD_STATUS_OFFSET, MAD_STATUS_REDIRECT);
	put_be16(answer.bytes + 16, ATTRIBUTE_CLASS_PORT_INFO);
	class_port_info_encode(&info, answer.bytes + SA_DATA_OFFSET);
	sa_client_receive(&client, fixture.now, &answer);
}

static void ask_for_service(void)
{
	assert_int_equal(sa_client_find_service(&client, 5, PKEY_DEFAULT_FULL,
						(struct mad_purpose){.detail = 3}),
			 0);
}

/* A redirected SA: by LID at once, by GID with the path that the first SA returns (management 1.6).
 */
static void test_request_follows_the_sa_to_another_lid(void **state)
{
	struct mad_message message;

	(void)state;
	ask_for_service();
	message = next_request();
	redirect(&message, 4, 0);
	message = next_request();
	assert_int_equal(message.address.lid, 4);
	assert_int_equal(message.address.qpn, 0x77);
	assert_int_equal(message.address.qkey, 0x80020000);
}

static void test_request_follows_the_sa_to_a_gid(void **state)
{
	const struct gid own = gid_from(GID_PREFIX_LINK_LOCAL, fixture_port(&fixture, HOST)->guid);
	struct sa_client_result result;
	struct mad_message message;

	(void)state;
	sa_client_set_own_gid(&client, &own);
	ask_for_service();
	message = next_request();
	redirect(&message, 0, fixture_port(&fixture, 4)->guid);
	assert_int_equal(sa_client_deadline(&client), 0);
	/* The query for the path goes to the first SA; its response is not a result. */
	message = next_request();
	assert_int_equal(message.address.lid, 1);
	assert_int_equal(get_be16(message.bytes + 16), SA_PATH_RECORD);
	message.address.lid = fixture_lid(&fixture, HOST);
	sa_receive(fixture.sa, fixture.now, &message);
	assert_true(fixture_next_message(&fixture, &message));
	sa_client_receive(&client, fixture.now, &message);
	assert_false(sa_client_take_result(&client, &result));
	message = next_request();
	assert_int_equal(get_be16(message.bytes + 16), SA_SERVICE_RECORD);
	assert_int_equal(message.address.lid, fixture_lid(&fixture, 4));
	assert_int_equal(message.address.qpn, 0x77);
	assert_int_equal(message.address.qkey, 0x80020000);
	assert_int_equal(message.address.pkey, PKEY_DEFAULT_FULL);
	message.bytes[3] |= MAD_RESPONSE;
	sa_client_receive(&client, fixture.now, &message);
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.outcome, SA_CLIENT_ANSWERED);
	assert_int_equal(result.purpose.detail, 3);
}

/* The query for the path gets no response, and the requester cancels meanwhile. */
static void test_redirected_request_may_be_cancelled(void **state)
{
	const struct gid own = gid_from(GID_PREFIX_LINK_LOCAL, fixture_port(&fixture, HOST)->guid);
	struct sa_client_result result;
	struct mad_message message;

	(void)state;
	sa_client_set_own_gid(&client, &own);
	assert_int_equal(sa_client_find_service(&client, 5, PKEY_DEFAULT_FULL,
						(struct mad_purpose){.subject = &fixture}),
			 0);
	message = next_request();
	redirect(&message, 0, fixture_port(&fixture, 4)->guid);
	sa_client_cancel(&client, &fixture);
	for (unsigned i = 0; i < 8; i++) {
		fixture.now += SECONDS(2);
		sa_client_transmit(&client, fixture.now, 1, &message);
	}
	assert_false(sa_client_take_result(&client, &result));
	assert_int_equal(sa_client_deadline(&client), TIME_NEVER);
}

/* Without its own GID the client can't query a path, and an SA that is gone returns none. */
static void test_redirection_without_a_path_ends_the_request(void **state)
{
	const struct gid own = gid_from(GID_PREFIX_LINK_LOCAL, fixture_port(&fixture, HOST)->guid);
	struct sa_client_result result;
	struct mad_message message;

	(void)state;
	ask_for_service();
	message = next_request();
	redirect(&message, 0, fixture_port(&fixture, 4)->guid);
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.status, MAD_STATUS_REDIRECT);
	sa_client_set_own_gid(&client, &own);
	ask_for_service();
	message = next_request();
	redirect(&message, 0, fixture_port(&fixture, 4)->guid);
	sa_client_set_sa(&client, 0, 0, PKEY_DEFAULT_FULL);
	assert_int_equal(sa_client_transmit(&client, fixture.now, 1, &message), 0);
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.outcome, SA_CLIENT_REFUSED);
	assert_false(sa_client_take_result(&client, &result));
}

static void test_redirection_to_an_unknown_gid_is_the_answer(void **state)
{
	const struct gid own = gid_from(GID_PREFIX_LINK_LOCAL, fixture_port(&fixture, HOST)->guid);
	struct sa_client_result result;
	struct mad_message message;

	(void)state;
	sa_client_set_own_gid(&client, &own);
	ask_for_service();
	message = next_request();
	redirect(&message, 0, 0xdead);
	talk();
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.outcome, SA_CLIENT_REFUSED);
	assert_int_equal(result.status, MAD_STATUS_REDIRECT);
	assert_int_equal(result.purpose.detail, 3);
	assert_int_equal(sa_client_deadline(&client), TIME_NEVER);
}

static void test_refusal_has_its_status(void **state)
{
	struct path_record wanted = path_to(3);
	struct sa_client_result result;

	(void)state;
	wanted.dgid_guid = 0xdead;
	assert_int_equal(sa_client_query_path(&client, &wanted, by_gids, (struct mad_purpose){0}),
			 0);
	talk();
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.outcome, SA_CLIENT_REFUSED);
	assert_int_equal(result.status, SA_STATUS_INVALID_GID);
}

static void test_join_and_leave(void **state)
{
	const struct mc_member_record wanted = {.mgid_high = 0xff12a01cfe800000,
						.mgid_low = 9,
						.port_gid_prefix = GID_PREFIX_LINK_LOCAL,
						.port_gid_guid = fixture_port(&fixture, HOST)->guid,
						.pkey = 0xffff,
						.join_state = 1};
	uint64_t components = SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
			      SA_COMPONENT(MCR_JOIN_STATE) | SA_COMPONENT(MCR_QKEY) |
			      SA_COMPONENT(MCR_TRAFFIC_CLASS) | SA_COMPONENT(MCR_PKEY) |
			      SA_COMPONENT(MCR_SL) | SA_COMPONENT(MCR_FLOW_LABEL);
	struct sa_client_result result;
	struct mc_member_record record;

	(void)state;
	assert_int_equal(sa_client_join(&client, &wanted, components, (struct mad_purpose){0}), 0);
	talk();
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.outcome, SA_CLIENT_ANSWERED);
	mc_member_record_decode(result.data, &record);
	assert_int_equal(record.mlid, 0xc000);
	assert_int_equal(sa_client_leave(&client, &record, (struct mad_purpose){0}), 0);
	talk();
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.outcome, SA_CLIENT_ANSWERED);
	assert_int_equal(result.method, MAD_DELETE);
	assert_int_equal(fixture.subnet->multicast_groups.group_count, 0);
}

static void test_service_is_found(void **state)
{
	const struct service_record announced = {.id = {.id = 0x42,
							.gid_prefix = GID_PREFIX_LINK_LOCAL,
							.gid_guid = fixture_port(&fixture, 3)->guid,
							.pkey = 0xffff}};
	uint8_t data[SERVICE_RECORD_BYTES];
	struct sa_client_result result;
	struct service_record record;

	(void)state;
	service_record_encode(&announced, data);
	assert_int_equal(sa_client_ask(&client, MAD_SET, SA_SERVICE_RECORD,
				       SA_COMPONENT(SR_ID) | SA_COMPONENT(SR_GID), data,
				       sizeof(data), (struct mad_purpose){0}),
			 0);
	assert_int_equal(
		sa_client_find_service(&client, 0x42, 0xffff, (struct mad_purpose){.detail = 1}),
		0);
	talk();
	assert_true(sa_client_take_result(&client, &result));
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.purpose.detail, 1);
	assert_int_equal(result.outcome, SA_CLIENT_ANSWERED);
	service_record_decode(result.data, &record);
	assert_int_equal(record.id.gid_guid, fixture_port(&fixture, 3)->guid);
}

static void test_silence_is_asked_again_and_then_told(void **state)
{
	struct path_record wanted = path_to(3);
	struct sa_client_result result;
	struct mad_message message;
	unsigned tries = 0;

	(void)state;
	assert_int_equal(sa_client_query_path(&client, &wanted, by_gids, (struct mad_purpose){0}),
			 0);
	for (unsigned i = 0; i < 100; i++) {
		tries += sa_client_transmit(&client, fixture.now, 1, &message);
		if (sa_client_take_result(&client, &result))
			break;
		if (sa_client_deadline(&client) > fixture.now)
			fixture.now = sa_client_deadline(&client);
	}
	assert_int_equal(tries, 3);
	assert_int_equal(result.outcome, SA_CLIENT_TIMED_OUT);
}

static void test_without_a_manager_requests_end_at_once(void **state)
{
	struct path_record wanted = path_to(3);
	struct sa_client_result result;
	struct mad_message message;

	(void)state;
	sa_client_set_sa(&client, 0, 0, PKEY_DEFAULT_FULL);
	assert_int_equal(sa_client_query_path(&client, &wanted, by_gids, (struct mad_purpose){0}),
			 0);
	assert_int_equal(sa_client_transmit(&client, fixture.now, 1, &message), 0);
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.outcome, SA_CLIENT_TIMED_OUT);
}

static void test_more_requests_than_the_window_all_end(void **state)
{
	struct path_record wanted = path_to(3);
	struct sa_client_result result;
	unsigned count = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(sa_client_query_path(&client, &wanted, by_gids,
						      (struct mad_purpose){.detail = i}),
				 0);
	talk();
	while (sa_client_take_result(&client, &result)) {
		assert_int_equal(result.outcome, SA_CLIENT_ANSWERED);
		assert_int_equal(result.purpose.detail, count);
		count++;
	}
	assert_int_equal(count, 100);
}

static void test_cancelled_requests_have_no_result(void **state)
{
	struct path_record wanted = path_to(3);
	struct sa_client_result result;
	struct mad_message message;
	int mine, other;

	(void)state;
	/* Four under way, two waiting. */
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(sa_client_query_path(
					 &client, &wanted, by_gids,
					 (struct mad_purpose){.subject = i % 2 ? &mine : &other}),
				 0);
	assert_int_equal(sa_client_transmit(&client, fixture.now, 1, &message), 1);
	sa_client_cancel(&client, &mine);
	message.address.lid = fixture_lid(&fixture, HOST);
	sa_receive(fixture.sa, fixture.now, &message);
	talk();
	for (unsigned i = 0; i < 3; i++) {
		assert_true(sa_client_take_result(&client, &result));
		assert_ptr_equal(result.purpose.subject, &other);
	}
	assert_false(sa_client_take_result(&client, &result));
}

#define CLIENT_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

static void test_table_comes_whole(void **state)
{
	const uint8_t nothing[NODE_RECORD_BYTES] = {0};
	const struct mad_purpose purpose = {.subject = &client, .detail = 9};
	struct sa_client_result result;

	(void)state;
	assert_int_equal(
		sa_client_get_table(&client, SA_NODE_RECORD, 0, nothing, sizeof(nothing), purpose),
		0);
	talk();
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.outcome, SA_CLIENT_ANSWERED);
	assert_int_equal(result.purpose.detail, 9);
	assert_int_equal(result.method, MAD_GET_TABLE);
	/* Hosts, switches and the router: more than fit one MAD. */
	assert_int_equal(result.record_count, FIXTURE_HOSTS + FIXTURE_SWITCHES + 1);
	assert_true(result.record_bytes >= NODE_RECORD_BYTES);
	assert_true(result.record_count * result.record_bytes > SA_DATA_BYTES);
	for (size_t index = 0; index < result.record_count; index++)
		assert_int_not_equal(get_be16(result.table + index * result.record_bytes), 0);
	free(result.table);
	assert_false(sa_client_take_result(&client, &result));
}

static void test_cancelled_table_is_forgotten(void **state)
{
	const uint8_t nothing[NODE_RECORD_BYTES] = {0};
	const struct mad_purpose purpose = {.subject = &client};
	struct mad_message message;
	struct sa_client_result result;

	(void)state;
	assert_int_equal(
		sa_client_get_table(&client, SA_NODE_RECORD, 0, nothing, sizeof(nothing), purpose),
		0);
	assert_int_equal(sa_client_transmit(&client, fixture.now, 1, &message), 1);
	sa_client_cancel(&client, &client);
	message.address.lid = fixture_lid(&fixture, HOST);
	sa_receive(fixture.sa, fixture.now, &message);
	talk();
	assert_false(sa_client_take_result(&client, &result));
}

static void test_ports_are_found_by_capability(void **state)
{
	struct sa_client_result result;
	struct port_record_id id;

	(void)state;
	fixture_port(&fixture, 3)->info.capability_mask =
		CAPABILITY_TRAP | CAPABILITY_DEVICE_MANAGEMENT;
	sa_subnet_changed(fixture.sa, fixture.now, fixture.subnet);
	assert_int_equal(
		sa_client_get_ports(&client, CAPABILITY_DEVICE_MANAGEMENT, (struct mad_purpose){0}),
		0);
	talk();
	assert_true(sa_client_take_result(&client, &result));
	assert_int_equal(result.outcome, SA_CLIENT_ANSWERED);
	assert_int_equal(result.record_count, 1);
	port_record_id_decode(result.table, &id);
	assert_int_equal(id.lid, fixture_lid(&fixture, 3));
	free(result.table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLIENT_TEST(test_table_comes_whole),
		CLIENT_TEST(test_cancelled_table_is_forgotten),
		CLIENT_TEST(test_path_query_gives_a_path),
		CLIENT_TEST(test_request_follows_the_sa_to_another_lid),
		CLIENT_TEST(test_request_follows_the_sa_to_a_gid),
		CLIENT_TEST(test_redirected_request_may_be_cancelled),
		CLIENT_TEST(test_redirection_without_a_path_ends_the_request),
		CLIENT_TEST(test_redirection_to_an_unknown_gid_is_the_answer),
		CLIENT_TEST(test_refusal_has_its_status),
		CLIENT_TEST(test_join_and_leave),
		CLIENT_TEST(test_service_is_found),
		CLIENT_TEST(test_ports_are_found_by_capability),
		CLIENT_TEST(test_silence_is_asked_again_and_then_told),
		CLIENT_TEST(test_without_a_manager_requests_end_at_once),
		CLIENT_TEST(test_more_requests_than_the_window_all_end),
		CLIENT_TEST(test_cancelled_requests_have_no_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
