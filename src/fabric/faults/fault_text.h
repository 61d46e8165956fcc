/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of a link's faults: drop=0.01 delay=1ms rate=2.5Gbit flap=1s/200ms blackhole
 * mads. */
#ifndef SOFTIB_FABRIC_FAULTS_FAULT_TEXT_H
#define SOFTIB_FABRIC_FAULTS_FAULT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "fabric/faults/fault_judge.h"

enum { FAULT_TEXT_BYTES = 320 };

/* Adds one setting to the given ones. Returns NULL, or the end of a sentence that begins with the
 * setting. */
MUST_USE const char *fault_text_parse(const char *text, struct fault_settings *settings);

/* All settings that are not default, separated by blanks; parsing the text gives the same
 * settings. */
void fault_text_write(const struct fault_settings *settings,
		      char ret_text[static FAULT_TEXT_BYTES]);

/* The decision about one packet: "drop", "corrupt bit=77 delay=20ns". */
void fault_text_write_decision(const struct fault_decision *decision,
			       char ret_text[static FAULT_TEXT_BYTES]);
/* Adds one word of that form to the decision. False if it is none. */
MUST_USE bool fault_text_parse_decision(const char *word, struct fault_decision *decision);

#endif
