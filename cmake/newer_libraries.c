/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that static libraries call and that neither they nor the C library have. Static programs link it. */
#define _GNU_SOURCE
#include <search.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* glibc 2.38 and later: the names of these functions for C23, which also read numbers such as 0b11. */
#if !__GLIBC_PREREQ(2, 38)
long __isoc23_strtol(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);
int __isoc23_sscanf(const char *text, const char *format, ...);
int __isoc23_fscanf(FILE *file, const char *format, ...);

long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }

long long __isoc23_strtoll(const char *text, char **end, int base) {
  return strtoll(text, end, base);
}

unsigned long long __isoc23_strtoull(const char *text, char **end, int base) {
  return strtoull(text, end, base);
}

int __isoc23_sscanf(const char *text, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  const int read = vsscanf(text, format, rest);
  va_end(rest);
  return read;
}

int __isoc23_fscanf(FILE *file, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  const int read = vfscanf(file, format, rest);
  va_end(rest);
  return read;
}

#endif

/* elfutils 0.192: libelf.a and libdw.a call the functions of its lib/eu-search.c, but lack them. */
typedef struct {
  void *root; /* a lock follows that the distribution's build does not have */
} search_tree;
typedef int (*comparer)(const void *, const void *);

/* A library that has them is preferred. */
#define WEAK __attribute__((weak))

WEAK void *eu_tsearch(const void *key, search_tree *tree, comparer compare);
WEAK void *eu_tfind(const void *key, search_tree *tree, comparer compare);
WEAK void *eu_tdelete(const void *key, search_tree *tree, comparer compare);
WEAK void eu_tdestroy(search_tree *tree, void (*free_node)(void *));
WEAK void eu_search_tree_init(search_tree *tree);
WEAK void eu_search_tree_fini(search_tree *tree, void (*free_node)(void *));

void *eu_tsearch(const void *key, search_tree *tree, comparer compare) {
  return tsearch(key, &tree->root, compare);
}

void *eu_tfind(const void *key, search_tree *tree, comparer compare) {
  return tfind(key, &tree->root, compare);
}

void *eu_tdelete(const void *key, search_tree *tree, comparer compare) {
  return tdelete(key, &tree->root, compare);
}

void eu_tdestroy(search_tree *tree, void (*free_node)(void *)) {
  tdestroy(tree->root, free_node);
  tree->root = NULL;
}

void eu_search_tree_init(search_tree *tree) { tree->root = NULL; }

void eu_search_tree_fini(search_tree *tree, void (*free_node)(void *)) {
  eu_tdestroy(tree, free_node);
}
