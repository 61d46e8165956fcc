/* SPDX-License-Identifier: Apache-2.0 */
/* The right to a port's raw queue pair: asked for by the control socket, returned by the ring. */
#include "runtime/raw_claims.h"

#include <errno.h>
#include <stdio.h>
#include "runtime/adapter.h"
#include "runtime/runtime_state.h"
#include "runtime/softibd_connection.h"
#include "runtime/xrc/leased_targets.h"

static int ask(struct adapter *adapter, const char *text)
{
	json_t *answer;

	if (!runtime_is_usable(adapter->runtime))
		return -ENODEV;

	int error = session_ask_plain(adapter->runtime->session, text, &answer);

	if (!error)
		json_decref(answer);
	return error;
}

int adapter_raw_claim(struct adapter *adapter, uint8_t port_number, enum raw_kind kind)
{
	char text[96];
	int error;

	snprintf(text, sizeof(text), "{\"command\":\"raw\",\"adapter\":%u,\"port\":%u,\"kind\":%d}",
		 adapter->description->index, port_number, (int)kind);
	error = ask(adapter, text);
	if (error != -EBUSY)
		return error;
	/* The record of an earlier release may still be in the up ring. */
	adapter_raw_settle(adapter);
	return ask(adapter, text);
}

void adapter_raw_release(struct adapter *adapter, uint8_t port_number, enum raw_kind kind)
{
	xrc_leases_say(adapter, RECORD_RAW_RELEASED, (uint32_t)port_number << 8 | kind);
}

void adapter_raw_settle(struct adapter *adapter)
{
	(void)!ask(adapter, "{\"command\":\"catch-up\"}");
}
