// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Decode the records that the device writes to memory, without trusting that memory. */
#include "record.h"

#define KNOWN_DATA                                                                  \
	(REFPMU_PEBS_DATA_MEMORY | REFPMU_PEBS_DATA_GPRS | REFPMU_PEBS_DATA_LBRS | \
	 REFPMU_PEBS_DATA_LBR_COUNT)

u64 refpmu_record_filled(u64 base, u64 size, u64 index)
{
	if (index < base || index - base > size)
		return 0;
	return (index - base) & ~7ULL;
}

static unsigned int lbr_entries(u64 data_cfg)
{
	if (!(data_cfg & REFPMU_PEBS_DATA_LBRS))
		return 0;
	return ((data_cfg & REFPMU_PEBS_DATA_LBR_COUNT) >> REFPMU_PEBS_DATA_LBR_SHIFT) + 1;
}

u64 refpmu_record_size(u64 data_cfg)
{
	u64 size = sizeof(struct refpmu_pebs_basic);

	if (data_cfg & ~KNOWN_DATA)
		return 0;
	if (data_cfg & REFPMU_PEBS_DATA_MEMORY)
		size += sizeof(struct refpmu_pebs_memory);
	if (data_cfg & REFPMU_PEBS_DATA_GPRS)
		size += sizeof(struct refpmu_pebs_gprs);
	return size + lbr_entries(data_cfg) * sizeof(struct refpmu_pebs_lbr);
}

/* Return true if @offset is aligned and at least @bytes of the buffer of @size bytes follow it. */
static bool bytes_follow(u64 size, u64 offset, u64 bytes)
{
	return offset <= size && size - offset >= bytes && !(offset & 7);
}

int refpmu_record_next(const u64 *words, u64 size, u64 *offset, struct refpmu_record *record)
{
	const u64 start = *offset;
	struct refpmu_record out = { .ip = 0 };
	struct refpmu_pebs_basic basic;
	u64 data_cfg, bytes;
	const u64 *from;

	if (start == size)
		return 0;
	if (!bytes_follow(size, start, sizeof(basic)))
		return -EINVAL;
	from = words + start / sizeof(*words);
	memcpy(&basic, from, sizeof(basic));
	data_cfg = basic.format & refpmu_low_bits(REFPMU_PEBS_SIZE_SHIFT);
	bytes = refpmu_record_size(data_cfg);
	if (!bytes || basic.format >> REFPMU_PEBS_SIZE_SHIFT != bytes ||
	    !bytes_follow(size, start, bytes))
		return -EINVAL;

	from += sizeof(basic) / sizeof(*from);
	out.ip = basic.ip;
	out.counters = basic.counters;
	out.time = basic.time;
	if (data_cfg & REFPMU_PEBS_DATA_MEMORY) {
		out.has_memory = true;
		memcpy(&out.memory, from, sizeof(out.memory));
		from += sizeof(out.memory) / sizeof(*from);
	}
	if (data_cfg & REFPMU_PEBS_DATA_GPRS) {
		out.has_gprs = true;
		memcpy(&out.gprs, from, sizeof(out.gprs));
		from += sizeof(out.gprs) / sizeof(*from);
	}
	out.n_lbr = lbr_entries(data_cfg);
	if (out.n_lbr)
		out.lbr = (const struct refpmu_pebs_lbr *)from;

	*record = out;
	*offset = start + bytes;
	return 1;
}

int refpmu_record_next_branch(const u64 *words, u64 size, u64 *offset,
			      struct refpmu_record_branch *branch)
{
	struct refpmu_bts_record raw;

	if (*offset == size)
		return 0;
	if (!bytes_follow(size, *offset, sizeof(raw)))
		return -EINVAL;
	memcpy(&raw, words + *offset / sizeof(*words), sizeof(raw));
	branch->from = raw.from;
	branch->to = raw.to;
	branch->predicted = raw.flags & REFPMU_BTS_PREDICTED;
	*offset += sizeof(raw);
	return 1;
}
