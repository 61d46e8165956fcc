/* SPDX-License-Identifier: Apache-2.0 */
/* Which program files can load the drop-in libraries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/program_file.h"

static char path[] = "/tmp/softib-reach-XXXXXX";

static void write_program(const void *bytes, size_t byte_count)
{
	int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, byte_count), byte_count);
	close(file);
}

/* A program with one segment of this type. */
static void write_elf(unsigned char word_class, Elf64_Word segment_type)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
	} image = {0};

	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = word_class;
	image.header.e_phoff = sizeof(image.header);
	image.header.e_phentsize = sizeof(image.segment);
	image.header.e_phnum = 1;
	image.segment.p_type = segment_type;
	write_program(&image, sizeof(image));
}

static int set_up(void **state)
{
	int file = mkstemp(path);

	(void)state;
	return file < 0 ? -1 : close(file) + chmod(path, 0700);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static void test_dynamic_programs_and_scripts_are_within_reach(void **state)
{
	(void)state;
	write_elf(ELFCLASS64, PT_INTERP);
	assert_null(program_file_obstacle(path));
	write_program("#!/bin/sh\n", 10);
	assert_null(program_file_obstacle(path));
	write_program("", 0);
	assert_null(program_file_obstacle(path));
}

static void test_static_and_foreign_programs_are_not(void **state)
{
	(void)state;
	write_elf(ELFCLASS64, PT_LOAD);
	assert_non_null(strstr(program_file_obstacle(path), "statically linked"));
	write_elf(ELFCLASS32, PT_INTERP);
	assert_non_null(strstr(program_file_obstacle(path), "32-bit"));
}

static void test_set_id_programs_of_others_are_not(void **state)
{
	(void)state;
	write_elf(ELFCLASS64, PT_INTERP);
	if (geteuid() != 0 || chown(path, 1, 1) != 0)
		skip();
	assert_int_equal(chmod(path, 04755), 0);
	assert_non_null(strstr(program_file_obstacle(path), "setuid"));
	assert_int_equal(chown(path, 0, 0) + chmod(path, 04755), 0);
	assert_null(program_file_obstacle(path));
	assert_int_equal(chmod(path, 0700), 0);
}

static void test_programs_are_found_as_a_shell_finds_them(void **state)
{
	char found[PATH_MAX];

	(void)state;
	setenv("PATH", "/no/such/folder:/usr/bin:/bin", 1);
	assert_int_equal(program_file_find("sh", found, sizeof(found)), 0);
	assert_true(strcmp(found, "/usr/bin/sh") == 0 || strcmp(found, "/bin/sh") == 0);
	assert_int_equal(program_file_find("no-such-program", found, sizeof(found)), -ENOENT);
	assert_int_equal(program_file_find("/etc/passwd", found, sizeof(found)), -EACCES);
	assert_int_equal(program_file_find("/etc", found, sizeof(found)), -EACCES);
	assert_int_equal(program_file_find("./no/such", found, sizeof(found)), -ENOENT);
	setenv("PATH", "/usr/bin", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dynamic_programs_and_scripts_are_within_reach),
		cmocka_unit_test(test_static_and_foreign_programs_are_not),
		cmocka_unit_test(test_set_id_programs_of_others_are_not),
		cmocka_unit_test(test_programs_are_found_as_a_shell_finds_them),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
