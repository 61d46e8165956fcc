/* SPDX-License-Identifier: Apache-2.0 */
/* The port counters of performance management (vol 1, chapter 16; management 6.1). */
#include "wire/performance.h"

#define ATTRIBUTE_SUBJECT struct port_counters
ATTRIBUTE_DEFINE(port_counters, PORT_COUNTERS_FIELDS, PORT_COUNTERS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_counters_extended
ATTRIBUTE_DEFINE(port_counters_extended, PORT_COUNTERS_EXTENDED_FIELDS,
		 PORT_COUNTERS_EXTENDED_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_rcv_error_details
ATTRIBUTE_DEFINE(port_rcv_error_details, PORT_RCV_ERROR_DETAILS_FIELDS,
		 PORT_RCV_ERROR_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_xmit_discard_details
ATTRIBUTE_DEFINE(port_xmit_discard_details, PORT_XMIT_DISCARD_DETAILS_FIELDS,
		 PORT_XMIT_DISCARD_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_data_by_sl
ATTRIBUTE_DEFINE(port_data_by_sl, PORT_DATA_BY_SL_FIELDS, PORT_DATA_BY_SL_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_samples_control
ATTRIBUTE_DEFINE(port_samples_control, PORT_SAMPLES_CONTROL_FIELDS, PORT_SAMPLES_CONTROL_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_samples_result
ATTRIBUTE_DEFINE(port_samples_result, PORT_SAMPLES_RESULT_FIELDS, PORT_SAMPLES_RESULT_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_samples_result_extended
ATTRIBUTE_DEFINE(port_samples_result_extended, PORT_SAMPLES_RESULT_EXTENDED_FIELDS,
		 PORT_SAMPLES_RESULT_EXTENDED_BYTES)
#undef ATTRIBUTE_SUBJECT
