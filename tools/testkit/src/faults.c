/*
 * Makes one call of a program fail: preloaded into it by `evalcurve-testkit faults` (Linux).
 *
 * EVALCURVE_FAULT        WHAT:N:HOW, for example write:3:half. WHAT is create, open, read, write, flush, rename,
 *                        truncate, folder or nothing; N counts such calls from 1.
 *   HOW is once          the N-th call fails, later ones do not
 *          on            the N-th call and all later ones fail, as on a full disk
 *          half          the N-th call writes half of its bytes, and later ones fail
 *                        (with `on` and `half`, standard output and files do not fail together)
 *          kill          the program is killed at the N-th call; a write writes half of its bytes before
 * EVALCURVE_FAULT_UNDER  the folder whose files count; standard output counts as well, other files do not
 * EVALCURVE_FAULT_REPORT the file for `fault WHAT PATH` of every call that fails, and `calls WHAT COUNT` at the end
 *
 * The programs that the program starts are left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { CREATE, OPEN, READ, WRITE, FLUSH, RENAME, TRUNCATE, FOLDER, KINDS };
static const char *const NAMES[KINDS] = {"create", "open", "read", "write", "flush", "rename", "truncate", "folder"};
static const int ERRORS[KINDS] = {ENOSPC, EACCES, EIO, ENOSPC, EIO, EACCES, EIO, ENOSPC};
enum how { ONCE, ON, HALF, KILL };

static atomic_long calls[KINDS];
static int wanted = KINDS;
static long number;
static atomic_int first_was_output = -1;
static enum how how;
static char under[PATH_MAX], report[PATH_MAX];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void tell(const char *word, const char *what, const char *detail) {
    char line[PATH_MAX + 100];
    int length = snprintf(line, sizeof line, "%s %s %s\n", word, what, detail);
    int file = (int)syscall(SYS_openat, AT_FDCWD, report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file >= 0) {
        syscall(SYS_write, file, line, (size_t)length);
        syscall(SYS_close, file);
    }
}

__attribute__((constructor)) static void begin(void) {
    const char *fault = getenv("EVALCURVE_FAULT"), *folder = getenv("EVALCURVE_FAULT_UNDER");
    const char *file = getenv("EVALCURVE_FAULT_REPORT");
    char what[20] = "", way[20] = "";
    if (fault && folder && file && sscanf(fault, "%19[a-z]:%ld:%19[a-z]", what, &number, way) == 3) {
        snprintf(under, sizeof under, "%s/", folder);
        snprintf(report, sizeof report, "%s", file);
        for (wanted = 0; wanted < KINDS && strcmp(what, NAMES[wanted]) != 0; wanted++) {}
        how = !strcmp(way, "on") ? ON : !strcmp(way, "half") ? HALF : !strcmp(way, "kill") ? KILL : ONCE;
    }
    unsetenv("LD_PRELOAD");
    unsetenv("EVALCURVE_FAULT");
}

__attribute__((destructor)) static void end(void) {
    for (int kind = 0; report[0] && kind < KINDS; kind++) {
        char count[30];
        snprintf(count, sizeof count, "%ld", atomic_load(&calls[kind]));
        tell("calls", NAMES[kind], count);
    }
}

/* Whether this call fails; `path` is absolute. */
static int fails(enum kind kind, const char *path) {
    size_t length = strlen(under);
    if (length == 0 || (strncmp(path, under, length) != 0 && strcmp(path, "standard output") != 0)) {
        return 0;
    }
    long count = atomic_fetch_add(&calls[kind], 1) + 1;
    if ((int)kind != wanted || count < number || (how == ONCE && count > number)) {
        return 0;
    }
    int is_output = path[0] != '/';
    if (count == number) {
        atomic_store(&first_was_output, is_output);
    }
    if (atomic_load(&first_was_output) != is_output) {
        return 0;
    }
    tell("fault", NAMES[kind], path);
    if (how == KILL && kind != WRITE) {
        raise(SIGKILL);
    }
    errno = ERRORS[kind];
    return 1;
}

static int fails_at(enum kind kind, int folder, const char *path) {
    char whole[2 * PATH_MAX] = "";
    if (path[0] == '/') {
        snprintf(whole, sizeof whole, "%s", path);
    } else if (folder == AT_FDCWD && getcwd(whole, PATH_MAX)) {
        size_t length = strlen(whole);
        snprintf(whole + length, sizeof whole - length, "/%s", path);
    }
    return fails(kind, whole);
}

static int fails_file(enum kind kind, int file) {
    char link[50], path[PATH_MAX] = "";
    if (kind == WRITE && file == 1) {
        return fails(kind, "standard output");
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    return fails(kind, path);
}

/* Half of a write that fails, if it is to be half done; -1 without it. */
static ssize_t half(int file, const void *bytes, size_t length) {
    int error = errno, first = atomic_load(&calls[WRITE]) == number;
    ssize_t written = -1;
    if (first && (how == HALF || how == KILL) && length > 1) {
        written = syscall(SYS_write, file, bytes, length / 2);
    }
    if (first && how == KILL) {
        raise(SIGKILL);
    }
    errno = error;
    return written;
}

ssize_t read(int file, void *bytes, size_t length) {
    return fails_file(READ, file) ? -1 : REAL(read)(file, bytes, length);
}
ssize_t pread64(int file, void *bytes, size_t length, off64_t offset) {
    return fails_file(READ, file) ? -1 : REAL(pread64)(file, bytes, length, offset);
}
ssize_t readv(int file, const struct iovec *parts, int count) {
    return fails_file(READ, file) ? -1 : REAL(readv)(file, parts, count);
}
ssize_t write(int file, const void *bytes, size_t length) {
    return fails_file(WRITE, file) ? half(file, bytes, length) : REAL(write)(file, bytes, length);
}
ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
    return fails_file(WRITE, file) ? -1 : REAL(pwrite64)(file, bytes, length, offset);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
    return fails_file(WRITE, file) ? half(file, parts->iov_base, parts->iov_len) : REAL(writev)(file, parts, count);
}
int fsync(int file) { return fails_file(FLUSH, file) ? -1 : REAL(fsync)(file); }
int fdatasync(int file) { return fails_file(FLUSH, file) ? -1 : REAL(fdatasync)(file); }
int ftruncate64(int file, off64_t length) {
    return fails_file(TRUNCATE, file) ? -1 : REAL(ftruncate64)(file, length);
}
int rename(const char *from, const char *to) { return fails_at(RENAME, AT_FDCWD, to) ? -1 : REAL(rename)(from, to); }
int mkdir(const char *path, mode_t mode) { return fails_at(FOLDER, AT_FDCWD, path) ? -1 : REAL(mkdir)(path, mode); }

#define OPEN_BODY(folder, name, ...)                                                   \
    mode_t mode = 0;                                                                   \
    if (flags & (O_CREAT | O_TMPFILE)) {                                               \
        va_list more;                                                                  \
        va_start(more, flags);                                                         \
        mode = va_arg(more, mode_t);                                                   \
        va_end(more);                                                                  \
    }                                                                                  \
    return fails_at(flags & O_CREAT ? CREATE : OPEN, folder, path) ? -1 : REAL(name)(__VA_ARGS__, flags, mode)

int open(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD, open, path); }
int open64(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD, open64, path); }
int openat(int folder, const char *path, int flags, ...) { OPEN_BODY(folder, openat, folder, path); }
int openat64(int folder, const char *path, int flags, ...) { OPEN_BODY(folder, openat64, folder, path); }
