// SPDX-License-Identifier: Apache-2.0
#include "tcg/x86.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pmuconf::work {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Row {
  const char* name;
  Bytes bytes;
};

Branch BranchOf(const Bytes& bytes) { return Decode(bytes).branch; }

void ExpectAll(const std::vector<Row>& rows, Branch branch) {
  for (const Row& row : rows) EXPECT_EQ(BranchOf(row.bytes), branch) << row.name;
}

TEST(X86, ConditionalBranchesAreThose) {
  ExpectAll({{"jo", {0x70, 0x00}},
             {"jg", {0x7f, 0x80}},
             {"jo near", {0x0f, 0x80, 1, 0, 0, 0}},
             {"jg near", {0x0f, 0x8f, 1, 0, 0, 0}},
             {"loopne", {0xe0, 0xfe}},
             {"loop", {0xe2, 0xfe}},
             {"jrcxz", {0xe3, 0xfe}},
             {"jecxz", {0x67, 0xe3, 0xfe}},
             {"jne with a hint", {0x2e, 0x75, 0xfe}},
             {"bnd jne", {0xf2, 0x75, 0xfe}}},
            Branch::kConditional);
}

TEST(X86, CallsJumpsAndReturnsAreThose) {
  ExpectAll({{"call", {0xe8, 0, 0, 0, 0}},
             {"call *rax", {0xff, 0xd0}},
             {"call *r8", {0x41, 0xff, 0xd0}},
             {"call *(rax)", {0xff, 0x10}},
             {"notrack call *rax", {0x3e, 0xff, 0xd0}},
             {"call *fs:0(rax)", {0x64, 0xff, 0x10}}},
            Branch::kCall);
  ExpectAll({{"jmp", {0xeb, 0xfe}},
             {"jmp near", {0xe9, 0, 0, 0, 0}},
             {"jmp *rax", {0xff, 0xe0}},
             {"jmp *(rip)", {0xff, 0x25, 0, 0, 0, 0}}},
            Branch::kJump);
  ExpectAll({{"ret", {0xc3}}, {"rep ret", {0xf3, 0xc3}}, {"ret n", {0xc2, 8, 0}}}, Branch::kReturn);
}

TEST(X86, FarTransfersAreNeitherCallsNorReturns) {
  ExpectAll({{"lcall", {0x9a, 0, 0, 0, 0, 0x10, 0}},
             {"ljmp", {0xea, 0, 0, 0, 0, 0x10, 0}},
             {"lcall *(rax)", {0xff, 0x18}},
             {"ljmp *(rax)", {0xff, 0x28}},
             {"lret", {0xcb}},
             {"lretq", {0x48, 0xcb}},
             {"lret n", {0xca, 8, 0}},
             {"syscall", {0x0f, 0x05}},
             {"sysretq", {0x48, 0x0f, 0x07}},
             {"sysenter", {0x0f, 0x34}},
             {"sysexit", {0x0f, 0x35}}},
            Branch::kFar);
  ExpectAll({{"iret", {0xcf}}, {"iretq", {0x48, 0xcf}}}, Branch::kInterruptReturn);
}

TEST(X86, OtherInstructionsAreNoBranches) {
  ExpectAll({{"inc (rax)", {0xff, 0x00}},
             {"dec (rax)", {0xff, 0x08}},
             {"push (rax)", {0xff, 0x30}},
             {"jz's byte after 0f", {0x0f, 0x74, 0xc0}},
             {"setb", {0x0f, 0x92, 0xc0}},
             {"bswap with e8's neighbour", {0x0f, 0xc8}},
             {"mov with e8 in its value", {0xb8, 0xe8, 0, 0, 0}},
             {"int3", {0xcc}},
             {"inc eax of 32-bit code", {0x40}},
             {"dec edi of 32-bit code with a prefix", {0x66, 0x4f}},
             {"0f of an incomplete instruction", {0x0f}},
             {"nothing", {}},
             {"prefixes alone", {0x66, 0xf2}}},
            Branch::kNone);
}

TEST(X86, DirectBranchesHaveASignedDisplacement) {
  EXPECT_EQ(Decode(Bytes{0x75, 0xfe}).displacement, -2);
  EXPECT_EQ(Decode(Bytes{0xeb, 0x7f}).displacement, 127);
  EXPECT_EQ(Decode(Bytes{0xe8, 0x00, 0x00, 0x00, 0x80}).displacement, -2147483648);
  EXPECT_EQ(Decode(Bytes{0x0f, 0x84, 0xff, 0xff, 0xff, 0x7f}).displacement, 2147483647);
  EXPECT_EQ(Decode(Bytes{0x66, 0xe9, 0xff, 0xff}).displacement, -1);
  EXPECT_EQ(Decode(Bytes{0x67, 0xe3, 0x05}).displacement, 5);
  EXPECT_EQ(Decode(Bytes{0xff, 0xd0}).displacement, std::nullopt);
  EXPECT_EQ(Decode(Bytes{0xff, 0x15, 1, 0, 0, 0}).displacement, std::nullopt);
  EXPECT_EQ(Decode(Bytes{0xc2, 8, 0}).displacement, std::nullopt);
  EXPECT_EQ(Decode(Bytes{0x0f, 0x05}).displacement, std::nullopt);
}

TEST(X86, DirectionOfAccessesIsThatOfTheInstruction) {
  const struct {
    const char* name;
    Bytes bytes;
    Memory memory;
  } rows[] = {
      {"mov from memory", {0x48, 0x8b, 0x02}, Memory::kLoads},
      {"movzx from memory", {0x0f, 0xb6, 0x02}, Memory::kLoads},
      {"cmov from memory", {0x48, 0x0f, 0x44, 0x02}, Memory::kLoads},
      {"add from memory", {0x03, 0x02}, Memory::kLoads},
      {"cmp to memory", {0x39, 0x02}, Memory::kLoads},
      {"cmp value to memory", {0x83, 0x3a, 1}, Memory::kLoads},
      {"test value", {0xf6, 0x02, 1}, Memory::kLoads},
      {"pop", {0x58}, Memory::kLoads},
      {"leave", {0xc9}, Memory::kLoads},
      {"ret", {0xc3}, Memory::kLoads},
      {"jmp *(rax)", {0xff, 0x20}, Memory::kLoads},
      {"mov to memory", {0x89, 0x02}, Memory::kStores},
      {"mov value to memory", {0xc7, 0x02, 0, 0, 0, 0}, Memory::kStores},
      {"push", {0x41, 0x57}, Memory::kStores},
      {"push value", {0x6a, 0}, Memory::kStores},
      {"call", {0xe8, 0, 0, 0, 0}, Memory::kStores},
      {"call *rax", {0xff, 0xd0}, Memory::kStores},
      {"mov between registers", {0x89, 0xd0}, Memory::kNone},
      {"lea", {0x8d, 0x02}, Memory::kNone},
      {"nop with an operand", {0x0f, 0x1f, 0x00}, Memory::kNone},
      {"jne", {0x75, 0xfe}, Memory::kNone},
      {"jmp *rax", {0xff, 0xe0}, Memory::kNone},
      {"add to memory", {0x01, 0x02}, Memory::kMixed},
      {"add value to memory", {0x83, 0x02, 1}, Memory::kMixed},
      {"lock add", {0xf0, 0x01, 0x02}, Memory::kMixed},
      {"xchg", {0x87, 0x02}, Memory::kMixed},
      {"call *(rax)", {0xff, 0x10}, Memory::kMixed},
      {"movs", {0xa4}, Memory::kMixed},
      {"popcnt", {0xf3, 0x0f, 0xb8, 0x02}, Memory::kMixed},
      {"iret", {0xcf}, Memory::kMixed},
      {"movaps", {0x0f, 0x28, 0x02}, Memory::kMixed},
      {"mov to a segment", {0x8e, 0x02}, Memory::kMixed},
  };
  for (const auto& row : rows) EXPECT_EQ(Decode(row.bytes).memory, row.memory) << row.name;
}

TEST(X86, OnlyPlainWorkOnRegistersAlwaysCompletes) {
  for (const Row& row : std::vector<Row>{{"dec", {0x48, 0xff, 0xcf}},
                                         {"xor", {0x31, 0xc0}},
                                         {"add value to al", {0x04, 1}},
                                         {"cmp value", {0x83, 0xf8, 1}},
                                         {"mov value", {0xb8, 0, 0, 0, 0}},
                                         {"mov", {0x89, 0xd0}},
                                         {"lea", {0x8d, 0x02}},
                                         {"shl", {0xd1, 0xe0}},
                                         {"mul", {0xf7, 0xe0}},
                                         {"setb", {0x0f, 0x92, 0xc0}},
                                         {"bswap", {0x0f, 0xc8}},
                                         {"nop", {0x90}},
                                         {"long nop", {0x0f, 0x1f, 0x00}}}) {
    EXPECT_TRUE(Decode(row.bytes).always_completes) << row.name;
  }
  for (const Row& row : std::vector<Row>{{"mov from memory", {0x8b, 0x02}},
                                         {"add to memory", {0x01, 0x02}},
                                         {"setb to memory", {0x0f, 0x92, 0x00}},
                                         {"div", {0xf7, 0xf0}},
                                         {"idiv", {0xf7, 0xf8}},
                                         {"lea of a register, which is invalid", {0x8d, 0xc0}},
                                         {"lock add, which is invalid", {0xf0, 0x01, 0xc0}},
                                         {"pause", {0xf3, 0x90}},
                                         {"jne", {0x75, 0xfe}},
                                         {"call *rax", {0xff, 0xd0}},
                                         {"hlt", {0xf4}},
                                         {"sti", {0xfb}},
                                         {"mov to a segment", {0x8e, 0xd0}},
                                         {"mov to cr3", {0x0f, 0x22, 0xd8}},
                                         {"push", {0x50}},
                                         {"pop", {0x58}},
                                         {"int3", {0xcc}},
                                         {"ud2", {0x0f, 0x0b}},
                                         {"cpuid", {0x0f, 0xa2}},
                                         {"in", {0xec}}}) {
    EXPECT_FALSE(Decode(row.bytes).always_completes) << row.name;
  }
}

}  // namespace
}  // namespace pmuconf::work
