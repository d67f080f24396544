/* A model that takes another's place while packets are decided, for C99 and C++ with gcc or clang.
 *
 * Each thread that decides asks uses() once for each packet and decides the whole packet with what it returns: a
 * struct of functions of one model. Another thread calls replaces(): every packet from then on meets the new model,
 * and what it returns may be closed or freed. Before including it, define VERSION_THREADS, how many threads decide. */
#ifndef NEXT_MODEL_H
#define NEXT_MODEL_H

#include <sched.h>

struct versions {
    const void *current;                 /* set before the threads start */
    const void *in_use[VERSION_THREADS]; /* what each thread decides with, at the start current */
};

/* What the thread decides its next packet with. A thread that waits for packets must ask now and then, too. */
static inline const void *uses(struct versions *versions, unsigned int thread)
{
    const void *current = __atomic_load_n(&versions->current, __ATOMIC_ACQUIRE);

    if (current != __atomic_load_n(&versions->in_use[thread], __ATOMIC_RELAXED))
        __atomic_store_n(&versions->in_use[thread], current, __ATOMIC_RELEASE);
    return current;
}

/* Lets next decide, waits until no thread decides with the one before, and returns that. One thread at a time. */
static inline const void *replaces(struct versions *versions, const void *next)
{
    const void *before = __atomic_exchange_n(&versions->current, next, __ATOMIC_ACQ_REL);
    unsigned int thread;

    for (thread = 0; thread < VERSION_THREADS; thread++)
        while (__atomic_load_n(&versions->in_use[thread], __ATOMIC_ACQUIRE) != next)
            sched_yield();
    return before;
}

#endif /* NEXT_MODEL_H */
