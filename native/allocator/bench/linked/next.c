/* Gives rpmalloc the real pthread_create in a static program, which has no
 * loader to ask.
 *
 * rpmalloc wraps pthread_create to give each thread a heap, and finds the real
 * one by dlsym (here: next_of). In musl that is __pthread_create, whose weak
 * name a static program keeps beside rpmalloc's. */
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
