/* Threads wait for loops: for a moment awake, then asleep. A loop is a shared
 * counter from which the threads take ranges of iterations. A thread that comes
 * too late to a loop leaves it alone, and the caller waits for those only that
 * have entered. A second caller waits until the first one's loop has ended. */
#ifdef __linux__
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#elif !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "kiln/vm/c_host/kiln_host.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { kSpins = 4000, kKeptBlocks = 8, kRangesPerThread = 4 };

/* ---- Workspaces: blocks with a header of their own, the idle ones kept. ---- */

typedef struct Block {
  void* memory; /* what free() takes */
  uint64_t bytes;
} Block;

typedef struct ThreadState {
  int in_loop; /* the thread runs a part of a parallel loop */
  Block kept[kKeptBlocks];
} ThreadState;

static pthread_key_t thread_state_key;
static pthread_once_t thread_state_once = PTHREAD_ONCE_INIT;
static int thread_state_ok;

static void FreeThreadState(void* memory) {
  ThreadState* state = (ThreadState*)memory;
  int i;
  for (i = 0; i < kKeptBlocks; ++i) free(state->kept[i].memory);
  free(state);
}

static void MakeThreadStateKey(void) {
  thread_state_ok = pthread_key_create(&thread_state_key, FreeThreadState) == 0;
}

/* NULL where there is no memory. */
static ThreadState* ThisThread(void) {
  ThreadState* state;
  pthread_once(&thread_state_once, MakeThreadStateKey);
  if (!thread_state_ok) return NULL;
  state = (ThreadState*)pthread_getspecific(thread_state_key);
  if (state != NULL) return state;
  state = (ThreadState*)calloc(1, sizeof(ThreadState));
  if (state != NULL && pthread_setspecific(thread_state_key, state) != 0) {
    free(state);
    return NULL;
  }
  return state;
}

/* The header lies in front of the workspace, which starts at a multiple of
 * KILN_KERNEL_ALIGNMENT. */
static Block* HeaderOf(void* workspace) {
  return (Block*)((char*)workspace - KILN_KERNEL_ALIGNMENT);
}

static void* WorkspaceIn(Block block) {
  char* memory = (char*)block.memory;
  const uintptr_t past = (uintptr_t)memory + KILN_KERNEL_ALIGNMENT;
  const uintptr_t gap = (KILN_KERNEL_ALIGNMENT - past % KILN_KERNEL_ALIGNMENT) %
                        KILN_KERNEL_ALIGNMENT;
  void* workspace = memory + KILN_KERNEL_ALIGNMENT + gap;
  *HeaderOf(workspace) = block;
  return workspace;
}

static void* Alloc(const KilnHost* host, uint64_t bytes) {
  ThreadState* state = ThisThread();
  Block* best = NULL;
  Block block;
  int i;
  (void)host;
  if (state == NULL || bytes > SIZE_MAX - 2 * KILN_KERNEL_ALIGNMENT) {
    return NULL;
  }
  for (i = 0; i < kKeptBlocks; ++i) {
    Block* kept = &state->kept[i];
    if (kept->memory == NULL || kept->bytes < bytes) continue;
    if (best == NULL || kept->bytes < best->bytes) best = kept;
  }
  if (best != NULL) {
    block = *best;
    best->memory = NULL;
    return WorkspaceIn(block);
  }
  block.bytes = bytes;
  block.memory = malloc((size_t)(bytes + 2 * KILN_KERNEL_ALIGNMENT));
  return block.memory == NULL ? NULL : WorkspaceIn(block);
}

/* Keeps the largest ones. */
static void Free(const KilnHost* host, void* workspace) {
  ThreadState* state = ThisThread();
  Block block, *smallest;
  int i;
  (void)host;
  if (workspace == NULL) return;
  block = *HeaderOf(workspace);
  if (state == NULL) {
    free(block.memory);
    return;
  }
  smallest = &state->kept[0];
  for (i = 0; i < kKeptBlocks; ++i) {
    Block* kept = &state->kept[i];
    if (kept->memory == NULL) {
      *kept = block;
      return;
    }
    if (kept->bytes < smallest->bytes) smallest = kept;
  }
  if (smallest->bytes < block.bytes) {
    const Block dropped = *smallest;
    *smallest = block;
    block = dropped;
  }
  free(block.memory);
}

/* ---- Loops. ---- */

typedef struct Host {
  KilnHost abi; /* first: a KilnHost* is a Host* */
  int threads;
  int started;
  pthread_t* workers;
  pthread_mutex_t turn; /* held by whose loop it is */
  pthread_mutex_t lock; /* of all below */
  pthread_cond_t work, left;
  uint64_t loops; /* how many there were; read without the lock, too */
  int open;       /* the loop takes more threads */
  int inside;     /* workers in the loop; read without the lock, too */
  int stop;
  KilnParallelBody body;
  void* env;
  int64_t n, step;
  int64_t next; /* the first iteration that nobody took; atomic */
  int64_t failed_at;
  int32_t status;
} Host;

static void Pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* Runs ranges of the loop until none remains. */
static void TakePart(Host* host) {
  for (;;) {
    const int64_t begin =
        __atomic_fetch_add(&host->next, host->step, __ATOMIC_RELAXED);
    int64_t end;
    int32_t status;
    if (begin >= host->n) return;
    end = host->n - begin < host->step ? host->n : begin + host->step;
    status = host->body(host->env, begin, end);
    if (status == 0) continue;
    pthread_mutex_lock(&host->lock);
    if (host->status == 0 || begin < host->failed_at) {
      host->status = status;
      host->failed_at = begin;
    }
    pthread_mutex_unlock(&host->lock);
  }
}

/* Waits for a loop that is not the `seen`-th; enters it. 0: stop. */
static int AwaitLoop(Host* host, uint64_t* seen) {
  int spins, entered = 0;
  for (spins = 0; spins < kSpins; ++spins) {
    if (__atomic_load_n(&host->loops, __ATOMIC_ACQUIRE) != *seen) break;
    Pause();
  }
  pthread_mutex_lock(&host->lock);
  while (!entered && !host->stop) {
    if (host->loops != *seen) {
      *seen = host->loops;
      entered = host->open;
    }
    if (!entered && !host->stop) pthread_cond_wait(&host->work, &host->lock);
  }
  if (entered) {
    __atomic_store_n(&host->inside, host->inside + 1, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&host->lock);
  return entered;
}

static void* Work(void* argument) {
  Host* host = (Host*)argument;
  ThreadState* state = ThisThread();
  uint64_t seen = 0;
  if (state == NULL) return NULL; /* The others do its share. */
  state->in_loop = 1;
  while (AwaitLoop(host, &seen)) {
    TakePart(host);
    pthread_mutex_lock(&host->lock);
    __atomic_store_n(&host->inside, host->inside - 1, __ATOMIC_RELEASE);
    if (host->inside == 0) pthread_cond_signal(&host->left);
    pthread_mutex_unlock(&host->lock);
  }
  return NULL;
}

static void OpenLoop(Host* host, int64_t n, KilnParallelBody body, void* env) {
  const int64_t ranges = (int64_t)host->threads * kRangesPerThread;
  pthread_mutex_lock(&host->lock);
  host->n = n;
  host->step = n / ranges + (n % ranges != 0);
  host->next = 0;
  host->body = body;
  host->env = env;
  host->status = 0;
  host->open = 1;
  __atomic_store_n(&host->loops, host->loops + 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&host->work);
  pthread_mutex_unlock(&host->lock);
}

static int32_t CloseLoop(Host* host) {
  int32_t status;
  int spins;
  pthread_mutex_lock(&host->lock);
  host->open = 0;
  pthread_mutex_unlock(&host->lock);
  for (spins = 0; spins < kSpins; ++spins) {
    if (__atomic_load_n(&host->inside, __ATOMIC_ACQUIRE) == 0) break;
    Pause();
  }
  pthread_mutex_lock(&host->lock);
  while (host->inside > 0) pthread_cond_wait(&host->left, &host->lock);
  status = host->status;
  pthread_mutex_unlock(&host->lock);
  return status;
}

static int32_t ParallelFor(const KilnHost* abi, int64_t n,
                           KilnParallelBody body, void* env) {
  Host* host = (Host*)(uintptr_t)abi;
  ThreadState* state = ThisThread();
  int32_t status;
  if (state == NULL) return KILN_KERNEL_OUT_OF_MEMORY;
  if (state->in_loop) return KILN_KERNEL_NESTED_PARALLEL;
  if (n <= 0) return 0;
  state->in_loop = 1;
  if (host->started == 0 || n == 1) {
    status = body(env, 0, n);
  } else {
    pthread_mutex_lock(&host->turn);
    OpenLoop(host, n, body, env);
    TakePart(host);
    status = CloseLoop(host);
    pthread_mutex_unlock(&host->turn);
  }
  state->in_loop = 0;
  return status;
}

/* ---- Hosts. ---- */

static int Processors(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static int StartWorkers(Host* host) {
  host->workers =
      (pthread_t*)calloc((size_t)host->threads, sizeof(pthread_t));
  if (host->workers == NULL) return 0;
  while (host->started < host->threads - 1) {
    if (pthread_create(&host->workers[host->started], NULL, Work, host) != 0) {
      return 0;
    }
    ++host->started;
  }
  return 1;
}

const KilnHost* KilnHostCreate(int threads) {
  Host* host = (Host*)calloc(1, sizeof(Host));
  if (host == NULL) return NULL;
  host->threads = threads > 0 ? threads : Processors();
  if (host->threads < 1) host->threads = 1;
  pthread_mutex_init(&host->turn, NULL);
  pthread_mutex_init(&host->lock, NULL);
  pthread_cond_init(&host->work, NULL);
  pthread_cond_init(&host->left, NULL);
  host->abi.parallel_for = ParallelFor;
  host->abi.alloc = Alloc;
  host->abi.free = Free;
  host->abi.impl = host;
  if (StartWorkers(host)) return &host->abi;
  KilnHostDestroy(&host->abi);
  return NULL;
}

void KilnHostDestroy(const KilnHost* abi) {
  Host* host = (Host*)(uintptr_t)abi;
  int i;
  if (host == NULL) return;
  pthread_mutex_lock(&host->lock);
  host->stop = 1;
  pthread_cond_broadcast(&host->work);
  pthread_mutex_unlock(&host->lock);
  for (i = 0; i < host->started; ++i) pthread_join(host->workers[i], NULL);
  pthread_cond_destroy(&host->work);
  pthread_cond_destroy(&host->left);
  pthread_mutex_destroy(&host->lock);
  pthread_mutex_destroy(&host->turn);
  free(host->workers);
  free(host);
}

static const KilnHost* default_host;
static pthread_once_t default_host_once = PTHREAD_ONCE_INIT;

static void MakeDefaultHost(void) { default_host = KilnHostCreate(0); }

const KilnHost* KilnDefaultHost(void) {
  pthread_once(&default_host_once, MakeDefaultHost);
  return default_host;
}
