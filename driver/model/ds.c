// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Records in memory: PEBS and BTS.
 * Source: Intel SDM vol. 3, "Debug Store (DS) Mechanism", "Adaptive PEBS", "Branch Trace Store".
 */
#include "ds.h"
#include "lbr.h"

static void *memory(const struct refpmu_change *c, u64 address, u64 size)
{
	const struct refpmu_model_params *params = &c->m->params;

	return params->memory ? params->memory(params->context, address, size) : NULL;
}

void refpmu_fill_begin(struct refpmu_fill *fill, const struct refpmu_change *c)
{
	const u64 area = refpmu_recording(c)->ds_area;
	unsigned int i;

	fill->ds = area ? memory(c, area, sizeof(*fill->ds)) : NULL;
	if (!fill->ds)
		return;
	fill->word = NULL;
	fill->marked = false;
	fill->outer = READ_ONCE(c->m->filling);
	WRITE_ONCE(c->m->filling, fill);
	for (i = 0; i < REFPMU_BUFFERS; i++) {
		fill->old[i] = READ_ONCE(*refpmu_index_of(fill->ds, i));
		fill->index[i] = fill->old[i];
	}
}

/*
 * Return a pointer to @size bytes at @address, in a buffer that ends at @maximum; NULL if the
 * buffer is too small.
 */
static u64 *room(const struct refpmu_change *c, u64 address, u64 maximum, u64 size)
{
	/* The device does not support unaligned buffers. */
	if (address & REFPMU_INDEX_MARK || address > maximum || maximum - address < size)
		return NULL;
	return memory(c, address, size);
}

static void store(struct refpmu_fill *fill, const struct refpmu_change *c, u64 *word, u64 value)
{
	struct refpmu_fill *outer;

	WRITE_ONCE(fill->word, NULL);
	WRITE_ONCE(fill->storing, false);
	WRITE_ONCE(fill->value, value);
	WRITE_ONCE(fill->word, word);
	/* The commit will fail, and another record may already be here, so do not store. */
	if (READ_ONCE(c->m->head) != c->head)
		return;
	WRITE_ONCE(fill->storing, true);
	for (outer = fill->outer; outer; outer = outer->outer)
		if (outer->word == word)
			WRITE_ONCE(outer->value, value);
	refpmu_settle_word(fill);
}

/* Position of a record that is being written. */
struct writer {
	struct refpmu_fill *fill;
	const struct refpmu_change *c;
	u64 *to;
};

static void write_words(struct writer *writer, const u64 *from, unsigned int count)
{
	for (; count; count--)
		store(writer->fill, writer->c, writer->to++, *from++);
}

#define WRITE_GROUP(writer, group) \
	write_words(writer, (const u64 *)&(group), sizeof(group) / sizeof(u64))

/* Return the number of entries of the LBR group. */
static unsigned int lbr_entries(u64 config)
{
	if (!(config & REFPMU_PEBS_DATA_LBRS))
		return 0;
	return (unsigned int)((config & REFPMU_PEBS_DATA_LBR_COUNT) >> REFPMU_PEBS_DATA_LBR_SHIFT) +
	       1;
}

static u64 record_size(u64 config)
{
	u64 size = sizeof(struct refpmu_pebs_basic);

	if (config & REFPMU_PEBS_DATA_MEMORY)
		size += sizeof(struct refpmu_pebs_memory);
	if (config & REFPMU_PEBS_DATA_GPRS)
		size += sizeof(struct refpmu_pebs_gprs);
	return size + lbr_entries(config) * sizeof(struct refpmu_pebs_lbr);
}

static void write_record(struct writer *writer, u64 config, const struct refpmu_origin *origin,
			 u64 counters)
{
	const struct refpmu_pebs_basic basic = {
		.format = config | record_size(config) << REFPMU_PEBS_SIZE_SHIFT,
		.ip = origin->ip,
		.counters = counters,
		.time = origin->time,
	};
	unsigned int i;

	WRITE_GROUP(writer, basic);
	if (config & REFPMU_PEBS_DATA_MEMORY) {
		const struct refpmu_pebs_memory mem = {
			.address = origin->addr,
			.source = origin->source,
			.latency = origin->latency,
		};

		WRITE_GROUP(writer, mem);
	}
	if (config & REFPMU_PEBS_DATA_GPRS) {
		WRITE_GROUP(writer, origin->flags);
		WRITE_GROUP(writer, origin->ip);
		WRITE_GROUP(writer, origin->gpr);
	}
	for (i = 0; i < lbr_entries(config); i++) {
		const struct refpmu_pebs_lbr entry = refpmu_lbr_recent(writer->c, i);

		WRITE_GROUP(writer, entry);
	}
}

static void write_format3_record(struct writer *writer, const struct refpmu_origin *origin,
				 u64 counters)
{
	static const u8 order[] = {
		REFPMU_RAX, REFPMU_RBX, REFPMU_RCX, REFPMU_RDX,
		REFPMU_RSI, REFPMU_RDI, REFPMU_RBP, REFPMU_RSP,
	};
	struct refpmu_pebs_format3 whole = {
		.flags = origin->flags,
		.ip = origin->ip,
		.counters = counters,
		.address = origin->addr,
		.source = origin->source,
		.latency = origin->latency,
		.eventing_ip = origin->ip,
		.time = origin->time,
	};
	unsigned int i;

	for (i = 0; i < REFPMU_GPRS; i++)
		whole.gpr[i] = origin->gpr[i < ARRAY_SIZE(order) ? order[i] : i];
	WRITE_GROUP(writer, whole);
}

enum refpmu_store_result refpmu_pebs_store(struct refpmu_fill *fill, const struct refpmu_change *c,
					   const struct refpmu_origin *origin, u64 counters)
{
	const u64 config = READ_ONCE(refpmu_recording(c)->pebs_data_cfg);
	const bool whole = refpmu_has_pebs_format3(c->m);
	const u64 size = whole ? sizeof(struct refpmu_pebs_format3) : record_size(config);
	u64 *index = &fill->index[REFPMU_BUFFER_PEBS];
	u64 *to = fill->ds ? room(c, *index, READ_ONCE(fill->ds->pebs_maximum), size) : NULL;
	struct writer writer = { .fill = fill, .c = c, .to = to };

	if (!to)
		return REFPMU_LOST;
	if (whole)
		write_format3_record(&writer, origin, counters);
	else
		write_record(&writer, config, origin, counters);
	*index += size;
	return *index >= READ_ONCE(fill->ds->pebs_threshold) ? REFPMU_STORED_AT_THRESHOLD :
							       REFPMU_STORED;
}

enum refpmu_store_result refpmu_bts_store(struct refpmu_fill *fill, const struct refpmu_change *c,
					  const struct refpmu_branch *b)
{
	const struct refpmu_bts_record record = {
		.from = b->from,
		.to = b->to,
		.flags = b->mispredicted ? 0 : REFPMU_BTS_PREDICTED,
	};
	const bool wraps = !(refpmu_recording(c)->debugctl & REFPMU_DEBUGCTL_BTINT);
	u64 *index = &fill->index[REFPMU_BUFFER_BTS];
	u64 maximum, *to;

	if (!fill->ds)
		return REFPMU_LOST;
	maximum = READ_ONCE(fill->ds->bts_maximum);
	to = room(c, *index, maximum, sizeof(record));
	if (!to && wraps) {
		*index = READ_ONCE(fill->ds->bts_base);
		to = room(c, *index, maximum, sizeof(record));
	}
	if (!to) {
		*index = fill->old[REFPMU_BUFFER_BTS];
		return REFPMU_LOST;
	}
	WRITE_GROUP((&(struct writer){ .fill = fill, .c = c, .to = to }), record);
	*index += sizeof(record);
	if (wraps) {
		if (maximum - *index < sizeof(record))
			*index = READ_ONCE(fill->ds->bts_base);
		return REFPMU_STORED;
	}
	return *index >= READ_ONCE(fill->ds->bts_threshold) ? REFPMU_STORED_AT_THRESHOLD :
							      REFPMU_STORED;
}

/* Replace the indexes that @fill moves, if they still equal @from. Return false if one does not. */
static bool replace_indexes(struct refpmu_fill *fill, const u64 *from, u64 from_mark, const u64 *to,
			    u64 to_mark)
{
	bool all = true;
	unsigned int i;

	for (i = 0; i < REFPMU_BUFFERS; i++) {
		u64 *word = refpmu_index_of(fill->ds, i);
		const u64 expected = from[i] | from_mark;

		if (fill->index[i] == fill->old[i])
			continue;
		if (cmpxchg64_local(word, expected, to[i] | to_mark) != expected)
			all = false;
	}
	return all;
}

bool refpmu_fill_commit(struct refpmu_fill *fill, struct refpmu_change *c)
{
	const u64 mark = refpmu_version_of(c->next, REFPMU_BLOCK_RECORDING) + 1;
	unsigned int i;
	bool done;

	if (!fill->ds)
		return refpmu_change_commit(c);
	for (i = 0; i < REFPMU_BUFFERS; i++)
		refpmu_recording(c)->next[i] = fill->index[i];
	WRITE_ONCE(fill->marked, true);
	/* If an index has changed, software has moved it. The change then starts again. */
	if (replace_indexes(fill, fill->old, 0, fill->old, mark)) {
		done = refpmu_change_commit(c);
	} else {
		refpmu_change_cancel(c);
		done = false;
	}
	replace_indexes(fill, fill->old, mark, done ? fill->index : fill->old, 0);
	WRITE_ONCE(c->m->filling, fill->outer);
	return done;
}
