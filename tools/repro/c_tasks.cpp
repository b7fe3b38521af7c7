// SPDX-License-Identifier: Apache-2.0
// The helper functions of programs in C that have several tasks.
#include "tools/repro/c_helpers.h"

namespace pmuconf {

const char kProgramCTaskHelpers[] = R"c(#include <pthread.h>

struct racer {
	int task;
	void (*step)(void);
};

struct {
	pthread_t thread;
	const struct racer *racers;
	unsigned long rounds;
	int begun, busy;
} tasks[TASKS];

pthread_mutex_t task_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t task_changed = PTHREAD_COND_INITIALIZER;

void do_steps(long task, const struct racer *racers, unsigned long rounds)
{
	const struct racer *racer;

	for (; rounds; rounds--)
		for (racer = racers; racer->step; racer++)
			if (racer->task == task)
				racer->step();
}

void *task_loop(void *number)
{
	const long task = (long)number;

	pthread_mutex_lock(&task_lock);
	for (;;) {
		while (!tasks[task].busy)
			pthread_cond_wait(&task_changed, &task_lock);
		pthread_mutex_unlock(&task_lock);
		do_steps(task, tasks[task].racers, tasks[task].rounds);
		pthread_mutex_lock(&task_lock);
		tasks[task].busy = 0;
		pthread_cond_broadcast(&task_changed);
	}
	return NULL;
}

void begin_task(long task, const struct racer *racers, unsigned long rounds)
{
	pthread_mutex_lock(&task_lock);
	tasks[task].racers = racers;
	tasks[task].rounds = rounds;
	tasks[task].busy = 1;
	if (!tasks[task].begun)
		tasks[task].begun = !pthread_create(&tasks[task].thread, NULL, task_loop, (void *)task);
	pthread_cond_broadcast(&task_changed);
	pthread_mutex_unlock(&task_lock);
}

void wait_for_task(long task)
{
	pthread_mutex_lock(&task_lock);
	while (tasks[task].busy)
		pthread_cond_wait(&task_changed, &task_lock);
	pthread_mutex_unlock(&task_lock);
}

/* The first task is this one. */
void in_task(long task, void (*step)(void))
{
	const struct racer racers[] = {{task, step}, {-1, NULL}};

	if (!task) {
		step();
		return;
	}
	begin_task(task, racers, 1);
	wait_for_task(task);
}

void race(const struct racer *racers, unsigned long rounds)
{
	long task;

	for (task = 1; task < TASKS; task++)
		begin_task(task, racers, rounds);
	do_steps(0, racers, rounds);
	for (task = 1; task < TASKS; task++)
		wait_for_task(task);
}
)c";

}  // namespace pmuconf
