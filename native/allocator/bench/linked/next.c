/* What rpmalloc asks the loader for, in a program that has none: the
   pthread_create its own stands before.

   It makes threads itself to give each a heap, and finds the real function by
   dlsym (here: next_of). In musl that is the weak name of __pthread_create,
   which a static program has beside rpmalloc's. */
#include <pthread.h>
#include <string.h>

int __pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                     void *);
void *next_of(void *handle, const char *name);

void *next_of(void *handle, const char *name) {
    int (*found)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                 void *) = __pthread_create;
    void *address = NULL;
    (void)handle;
    if (strcmp(name, "pthread_create") == 0)
        memcpy(&address, &found, sizeof address);
    return address;
}
