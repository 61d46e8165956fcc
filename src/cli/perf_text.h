/* SPDX-License-Identifier: Apache-2.0 */
/* The report of softib perf as tables. */
#ifndef SOFTIB_CLI_PERF_TEXT_H
#define SOFTIB_CLI_PERF_TEXT_H

#include <jansson.h>
#include <stddef.h>

/* "1.25 GB" */
void perf_text_bytes(double bytes, char *ret_text, size_t text_bytes);

void perf_text_print_summary(const json_t *report);
void perf_text_print_links(const json_t *report);
void perf_text_print_errors(const json_t *report);
void perf_text_print_events(const json_t *report);
void perf_text_print_ports(const json_t *report);
void perf_text_print_details(const json_t *report);

#endif
