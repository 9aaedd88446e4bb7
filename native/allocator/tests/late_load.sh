#!/bin/sh
# The library in a program that loads it while it runs: its thread-local storage must fit what loaders keep for
# that, in the first thread and in later ones.
#
#   late_load.sh BUILD       the folder with libpaceline_alloc.so
set -eu
build=$(CDPATH='' cd -- "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/host.c" <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static void *(*allocate)(size_t);
static void (*release)(void *);
static void *use(void *unused) {
    char *text = allocate(100);
    snprintf(text, 100, "works");
    release(text);
    return unused;
}
int main(int count, char **arguments) {
    pthread_t thread;
    void *library = dlopen(arguments[count - 1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&allocate = dlsym(library, "paceline_malloc");
    *(void **)&release = dlsym(library, "paceline_free");
    use(NULL);
    return pthread_create(&thread, NULL, use, NULL) != 0 || pthread_join(thread, NULL) != 0;
}
C
# shellcheck disable=SC2086
${CC:-cc} -pthread -o "$work/host" "$work/host.c" -ldl
if "$work/host" "$build/libpaceline_alloc.so"; then
    echo "ok   a program loads the library while it runs"
else
    echo "FAIL a program loads the library while it runs"
    exit 1
fi
