/* SPDX-License-Identifier: Apache-2.0 */
/* The results of an experiment as text and as JSON. */
#ifndef SOFTIB_SIM_EXPERIMENT_REPORT_H
#define SOFTIB_SIM_EXPERIMENT_REPORT_H

#include <stdio.h>

struct experiment;

void experiment_report_write_text(const struct experiment *experiment, FILE *file);
void experiment_report_write_json(const struct experiment *experiment, FILE *file);

#endif
