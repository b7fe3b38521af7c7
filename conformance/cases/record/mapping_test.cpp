// SPDX-License-Identifier: Apache-2.0
// MMAP and MMAP2 records: the mappings of a task, their files, and the build ids of these files.
#include <elf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdlib>

#include "cases/record/side_band.h"
#include "perf/ring.h"

namespace pmuconf {
namespace {

const std::size_t kPageSize = PageSize();
constexpr std::size_t kName = 32;   // offset of the name in MMAP
constexpr std::size_t kName2 = 64;  // offset of the name in MMAP2

// A temporary file. The destructor removes it.
class TempFile {
 public:
  explicit TempFile(const std::string& content) : fd_(mkstemp(path_.data())) {
    if (write(fd_.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
        fstat(fd_.get(), &stat_) != 0) {
      throw BrokenErrno("writing " + path_, errno);
    }
  }
  TempFile(const TempFile&) = delete;
  ~TempFile() { unlink(path_.c_str()); }

  const std::string& path() const { return path_; }
  const struct stat& stat() const { return stat_; }
  int fd() const { return fd_.get(); }

 private:
  std::string path_ = "/tmp/pmuconf-XXXXXX";
  Fd fd_;
  struct stat stat_ = {};
};

// A mapping of two pages of `file`, from its second page on. The destructor unmaps them.
class Mapped {
 public:
  Mapped(const TempFile& file, int protection, int flags = MAP_PRIVATE)
      : base_(mmap(nullptr, 2 * kPageSize, protection, flags, file.fd(),
                   static_cast<off_t>(kPageSize))) {
    if (base_ == MAP_FAILED) throw BrokenErrno("mmap of " + file.path(), errno);
  }
  Mapped(const Mapped&) = delete;
  ~Mapped() { munmap(base_, 2 * kPageSize); }

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(base_); }

 private:
  void* base_;
};

// The records about `mapped`. Others are about memory that the program itself maps.
std::vector<Record> RecordsOf(const Mapped& mapped, const std::vector<Record>& records) {
  std::vector<Record> about;
  for (const Record& record : records) {
    if (pmuconf::At<std::uint64_t>(record, 8) == mapped.address()) about.push_back(record);
  }
  return about;
}

// Checks the fields that MMAP and MMAP2 have in common.
void ExpectMapping(const Record& record, const Mapped& mapped, const Rule& rule) {
  EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 0), Unsigned(getpid())) << rule;
  EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 4), Unsigned(gettid())) << rule;
  EXPECT_EQ(pmuconf::At<std::uint64_t>(record, 8), mapped.address()) << rule;
  EXPECT_EQ(pmuconf::At<std::uint64_t>(record, 16), 2 * kPageSize) << rule;
  EXPECT_EQ(pmuconf::At<std::uint64_t>(record, 24), kPageSize) << rule;
  EXPECT_EQ(record.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER) << rule;
}

// An ELF file of three pages with nothing but a build id.
std::string ElfFile(const std::string& build_id) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_version = EV_CURRENT;
  header.e_phoff = header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Nhdr note = {.n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID};
  note.n_descsz = static_cast<Elf64_Word>(build_id.size());
  Elf64_Phdr segment = {};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof(header) + sizeof(segment);
  segment.p_filesz = segment.p_memsz = sizeof(note) + 4 + build_id.size();
  std::string file(reinterpret_cast<const char*>(&header), sizeof(header));
  file.append(reinterpret_cast<const char*>(&segment), sizeof(segment));
  file.append(reinterpret_cast<const char*>(&note), sizeof(note));
  file.append("GNU", 4).append(build_id);
  file.resize(3 * kPageSize);
  return file;
}

CONFORMANCE_CASE(Record, MmapReportsExecutableMappings, .rules = {rule::REC_101, rule::REC_024},
                 .needs = {Cap::kTasks}) {
  const TempFile file(std::string(3 * kPageSize, 'x'));
  SideBand side_band([](perf_event_attr& attr) { attr.mmap = 1; });
  const Mapped data(file, PROT_READ);
  const Mapped code(file, PROT_READ | PROT_EXEC);
  const std::vector<Record> records = side_band.DrainRaw(PERF_RECORD_MMAP);
  EXPECT_THAT(RecordsOf(data, records), testing::IsEmpty()) << rule::REC_101;
  ASSERT_EQ(RecordsOf(code, records).size(), 1u) << rule::REC_101;
  const Record record = RecordsOf(code, records).front();
  ExpectMapping(record, code, rule::REC_101);
  EXPECT_EQ(NameAt(record, kName), file.path()) << rule::REC_101;
  EXPECT_EQ(record.misc & PERF_RECORD_MISC_MMAP_DATA, 0) << rule::REC_101;
  ExpectTrailer(record, side_band.event(), gettid());
}

CONFORMANCE_CASE(Record, MmapDataReportsOtherMappings, .rules = {rule::REC_101, rule::REC_024},
                 .needs = {Cap::kTasks}) {
  const TempFile file(std::string(3 * kPageSize, 'x'));
  SideBand side_band([](perf_event_attr& attr) { attr.mmap_data = 1; });
  const Mapped data(file, PROT_READ | PROT_WRITE);
  const Mapped code(file, PROT_READ | PROT_EXEC);
  const std::vector<Record> records = side_band.DrainRaw(PERF_RECORD_MMAP);
  EXPECT_THAT(RecordsOf(code, records), testing::IsEmpty()) << rule::REC_101;
  ASSERT_EQ(RecordsOf(data, records).size(), 1u) << rule::REC_101;
  const Record record = RecordsOf(data, records).front();
  ExpectMapping(record, data, rule::REC_101);
  EXPECT_EQ(NameAt(record, kName), file.path()) << rule::REC_101;
  EXPECT_NE(record.misc & PERF_RECORD_MISC_MMAP_DATA, 0) << rule::REC_101;
  ExpectTrailer(record, side_band.event(), gettid());
}

CONFORMANCE_CASE(Record, MemoryWithoutAFileHasAName, .rules = {rule::REC_101},
                 .needs = {Cap::kTasks}) {
  SideBand side_band([](perf_event_attr& attr) { attr.mmap = 1; });
  void* const base =
      mmap(nullptr, kPageSize, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(base, MAP_FAILED);
  munmap(base, kPageSize);
  const std::vector<Record> records = side_band.DrainRaw(PERF_RECORD_MMAP);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(pmuconf::At<std::uint64_t>(records[0], 8), reinterpret_cast<std::uint64_t>(base));
  EXPECT_EQ(NameAt(records[0], kName), "//anon");
}

CONFORMANCE_CASE(Record, Mmap2ReportsFile, .rules = {rule::REC_102, rule::REC_024},
                 .needs = {Cap::kTasks}) {
  const TempFile file(std::string(3 * kPageSize, 'x'));
  SideBand side_band([](perf_event_attr& attr) { attr.mmap = attr.mmap2 = attr.mmap_data = 1; });
  const Mapped code(file, PROT_READ | PROT_EXEC);
  const Mapped shared(file, PROT_READ | PROT_WRITE, MAP_SHARED);
  const std::vector<Record> records = side_band.DrainRaw(PERF_RECORD_MMAP2);
  for (const Mapped* mapped : {&code, &shared}) {
    ASSERT_EQ(RecordsOf(*mapped, records).size(), 1u) << rule::REC_102;
    const Record record = RecordsOf(*mapped, records).front();
    ExpectMapping(record, *mapped, rule::REC_102);
    EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 32), major(file.stat().st_dev)) << rule::REC_102;
    EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 36), minor(file.stat().st_dev)) << rule::REC_102;
    EXPECT_EQ(pmuconf::At<std::uint64_t>(record, 40), file.stat().st_ino) << rule::REC_102;
    EXPECT_EQ(record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID, 0) << rule::REC_102;
    EXPECT_EQ(NameAt(record, kName2), file.path()) << rule::REC_102;
    ExpectTrailer(record, side_band.event(), gettid());
  }
  const auto of = [&](const Mapped& mapped, std::size_t offset) {
    return pmuconf::At<std::uint32_t>(RecordsOf(mapped, records).front(), offset);
  };
  EXPECT_EQ(of(code, 56), std::uint32_t{PROT_READ | PROT_EXEC}) << rule::REC_102;
  EXPECT_EQ(of(code, 60), std::uint32_t{MAP_PRIVATE}) << rule::REC_102;
  EXPECT_EQ(of(shared, 56), std::uint32_t{PROT_READ | PROT_WRITE}) << rule::REC_102;
  EXPECT_EQ(of(shared, 60), std::uint32_t{MAP_SHARED}) << rule::REC_102;
}

CONFORMANCE_CASE(Record, Mmap2ReportsProtectionWithoutFile, .rules = {rule::REC_102},
                 .needs = {Cap::kTasks}) {
  SideBand side_band([](perf_event_attr& attr) { attr.mmap = attr.mmap2 = 1; });
  for (const int protection :
       {PROT_EXEC, PROT_READ | PROT_EXEC, PROT_READ | PROT_WRITE | PROT_EXEC}) {
    void* const base = mmap(nullptr, kPageSize, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(base, MAP_FAILED);
    munmap(base, kPageSize);
    const std::vector<Record> records = side_band.DrainRaw(PERF_RECORD_MMAP2);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(pmuconf::At<std::uint64_t>(records[0], 8), reinterpret_cast<std::uint64_t>(base));
    EXPECT_EQ(pmuconf::At<std::uint32_t>(records[0], 56), Unsigned(protection));
    EXPECT_EQ(pmuconf::At<std::uint32_t>(records[0], 60), std::uint32_t{MAP_PRIVATE});
  }
}

CONFORMANCE_CASE(Record, Mmap2ReportsBuildId, .rules = {rule::REC_102}, .needs = {Cap::kTasks}) {
  const AttrEdit edit = [](perf_event_attr& attr) { attr.mmap = attr.mmap2 = attr.build_id = 1; };
  for (const std::size_t size : {std::size_t{20}, std::size_t{16}, std::size_t{8}}) {
    std::string build_id;
    for (std::size_t i = 0; i < size; ++i) build_id.push_back(static_cast<char>(0xa0 + i));
    const TempFile file(ElfFile(build_id));
    SideBand side_band(edit);
    const Mapped code(file, PROT_READ | PROT_EXEC);
    const std::vector<Record> records = side_band.DrainRaw(PERF_RECORD_MMAP2);
    ASSERT_EQ(records.size(), 1u);
    ExpectMapping(records[0], code, rule::REC_102);
    EXPECT_NE(records[0].misc & PERF_RECORD_MISC_MMAP_BUILD_ID, 0);
    EXPECT_EQ(pmuconf::At<std::uint32_t>(records[0], 32), size);
    const auto* bytes = reinterpret_cast<const char*>(records[0].body.data()) + 36;
    build_id.resize(20);
    EXPECT_EQ(std::string(bytes, 20), build_id);
    EXPECT_EQ(pmuconf::At<std::uint32_t>(records[0], 56), std::uint32_t{PROT_READ | PROT_EXEC});
    EXPECT_EQ(NameAt(records[0], kName2), file.path());
  }
}

CONFORMANCE_CASE(Record, FileWithoutBuildIdReportsInode, .rules = {rule::REC_102},
                 .needs = {Cap::kTasks}) {
  const TempFile file(std::string(3 * kPageSize, 'x'));
  SideBand side_band([](perf_event_attr& attr) { attr.mmap = attr.mmap2 = attr.build_id = 1; });
  const Mapped code(file, PROT_READ | PROT_EXEC);
  const std::vector<Record> records = side_band.DrainRaw(PERF_RECORD_MMAP2);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].misc & PERF_RECORD_MISC_MMAP_BUILD_ID, 0);
  EXPECT_EQ(pmuconf::At<std::uint64_t>(records[0], 40), file.stat().st_ino);
}

}  // namespace
}  // namespace pmuconf
