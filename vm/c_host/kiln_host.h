/* Threads and workspaces for kernels, for C programs and nothing else of Kiln.
 * With kiln_host.c it is all that a compiled kernel needs; C99 and C++. */
#ifndef KILN_VM_C_HOST_KILN_HOST_H_
#define KILN_VM_C_HOST_KILN_HOST_H_

#include "kiln/vm/library/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A host whose parallel loops use `threads` threads, the calling one included;
 * 1: none is ever started; 0 or less: one for each processor that this process
 * may use. Workspaces come from malloc, and each thread keeps a few for its
 * next call. NULL where memory or threads cannot be had. */
const KilnHost* KilnHostCreate(int threads);

/* Ends the threads. No kernel may be running on the host. NULL is no host. */
void KilnHostDestroy(const KilnHost* host);

/* The host of the process: KilnHostCreate(0), made by the first call and never
 * destroyed. Any thread may call it. */
const KilnHost* KilnDefaultHost(void);

#ifdef __cplusplus
}
#endif

#endif /* KILN_VM_C_HOST_KILN_HOST_H_ */
