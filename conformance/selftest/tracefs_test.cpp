// SPDX-License-Identifier: Apache-2.0
// Format files of tracepoints are parsed completely or not at all.
#include "system/tracefs.h"

#include <gtest/gtest.h>

namespace pmuconf {
namespace {

constexpr const char* kFormat = R"(name: sys_enter_getpgid
ID: 123
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char * name;	offset:8;	size:8;	signed:0;
	field:char comm[16];	offset:16;	size:16;	signed:0;

print fmt: "pid: 0x%08lx", ((unsigned long)(REC->pid))
)";

TEST(TraceFormat, IsRead) {
  const auto fields = ParseTraceFormat(kFormat);
  ASSERT_TRUE(fields);
  ASSERT_EQ(fields->size(), 4u);
  EXPECT_EQ((*fields)[0].name, "common_type");
  EXPECT_EQ((*fields)[1].offset, 4u);
  EXPECT_TRUE((*fields)[1].is_signed);
  EXPECT_EQ((*fields)[2].name, "name");
  EXPECT_EQ((*fields)[3].name, "comm");
  EXPECT_EQ((*fields)[3].size, 16u);
}

TEST(TraceFormat, RejectsInvalidFormat) {
  EXPECT_FALSE(ParseTraceFormat(""));
  EXPECT_FALSE(ParseTraceFormat("field:int a"));
  EXPECT_FALSE(ParseTraceFormat("field:int a; size:4; offset:0; signed:0;"));
  EXPECT_FALSE(ParseTraceFormat("field:int ; offset:0; size:4; signed:1;"));
}

}  // namespace
}  // namespace pmuconf
