/* operators.h under the names of the Itanium C++ ABI, in which m is size_t on
 * 64-bit systems. Built with unwind tables, since exceptions pass through.
 *
 * All forms are here: a missing one would come from the C++ library and pull two
 * others with it into a static link. */
#include "operators.h"

#include "alloc.h"
#include "names.h"
#include "paceline_alloc.h"

/* std::get_new_handler and std::__throw_bad_alloc, NULL where the process began
 * without a C++ library. */
typedef void (*handler_t)(void);
extern handler_t get_new_handler(void) __asm__("_ZSt15get_new_handlerv")
    __attribute__((weak));
extern void throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv")
    __attribute__((weak));

/* What a program that is no C++ loaded later, for a plug-in, is not seen by our
 * references. */
static void *find_loaded(const char *name) {
    static const char *const libraries[] = {"libstdc++.so.6", "libc++.so.1"};
    void *found = NULL;
    for (size_t i = 0;
         i < sizeof libraries / sizeof *libraries && found == NULL; i++) {
        found = os_find_loaded(libraries[i], name);
    }
    return found;
}

static handler_t current_handler(void) {
    handler_t (*get)(void) = get_new_handler;
    if (get == NULL) {
        *(void **)&get = find_loaded("_ZSt15get_new_handlerv");
    }
    return get != NULL ? get() : NULL;
}

static void *give_up(bool throws) {
    static const char message[] = "paceline_alloc: out of memory in operator "
                                  "new, and no C++ library to throw\n";
    if (!throws) {
        return NULL;
    }
    void (*throw)(void) = throw_bad_alloc;
    if (throw == NULL) {
        *(void **)&throw = find_loaded("_ZSt17__throw_bad_allocv");
    }
    if (throw != NULL) {
        throw();
    }
    os_abort(message, sizeof message - 1);
}

static void *try_once(size_t size, size_t alignment) {
    return alignment == 0 ? allocate(size) : paceline_memalign(alignment, size);
}

/* There was no memory. As the standard says: a handler is asked for some until
 * there is, or there is no handler; one may as well throw or not return. */
static COLD void *ask_handlers(size_t size, size_t alignment, bool throws) {
    for (handler_t handler; (handler = current_handler()) != NULL;) {
        handler();
        void *object = try_once(size, alignment);
        if (object != NULL) {
            return object;
        }
    }
    return give_up(throws);
}

static void *new_aligned(size_t size, size_t alignment, bool throws) {
    if (UNLIKELY(alignment == 0 || (alignment & (alignment - 1)) != 0)) {
        return give_up(throws);
    }
    void *object = try_once(size, alignment);
    return LIKELY(object != NULL) ? object
                                  : ask_handlers(size, alignment, throws);
}

/* Out of line, so that the usual new keeps nothing for it. */
static void *or_ask(void *object, size_t size, bool throws) {
    return LIKELY(object != NULL) ? object : ask_handlers(size, 0, throws);
}

static SLOW void *new_slowly(size_t size) {
    return or_ask(allocate_slowly(size), size, true);
}
static SLOW void *new_by_refill(size_t size) {
    return or_ask(allocate_by_refill(size), size, true);
}
static SLOW void *new_slowly_nothrow(size_t size) {
    return or_ask(allocate_slowly(size), size, false);
}
static SLOW void *new_by_refill_nothrow(size_t size) {
    return or_ask(allocate_by_refill(size), size, false);
}

void *paceline_new(size_t size) {
    return allocate_or(size, new_slowly, new_by_refill);
}

void *paceline_new_nothrow(size_t size, const void *tag) {
    (void)tag;
    return allocate_or(size, new_slowly_nothrow, new_by_refill_nothrow);
}

void *paceline_new_aligned(size_t size, size_t alignment) {
    return new_aligned(size, alignment, true);
}

void *paceline_new_aligned_nothrow(size_t size, size_t alignment,
                                   const void *tag) {
    (void)tag;
    return new_aligned(size, alignment, false);
}

/* The two forms compilers call have the path in them, the others are a jump to
 * it. */
void paceline_delete(void *object) { release(object); }

void paceline_delete_sized(void *object, size_t size) {
    release_of_size(object, size);
}

void paceline_delete_aligned(void *object, size_t alignment) {
    (void)alignment;
    paceline_delete(object);
}

void paceline_delete_nothrow(void *object, const void *tag) {
    (void)tag;
    paceline_delete(object);
}

void paceline_delete_aligned_nothrow(void *object, size_t alignment,
                                     const void *tag) {
    (void)alignment;
    (void)tag;
    paceline_delete(object);
}

void paceline_delete_sized_aligned(void *object, size_t size,
                                   size_t alignment) {
    (void)size;
    (void)alignment;
    paceline_delete(object);
}

/* Each for one object (w, l) and for an array (a). */
#define NEW(one, array, parameters, ours)        \
    PACELINE_NAME(void *, one, parameters, ours) \
    PACELINE_NAME(void *, array, parameters, ours)
#define DELETE(one, array, parameters, ours)   \
    PACELINE_NAME(void, one, parameters, ours) \
    PACELINE_NAME(void, array, parameters, ours)

NEW(_Znwm, _Znam, (size_t size), paceline_new)
NEW(_ZnwmRKSt9nothrow_t, _ZnamRKSt9nothrow_t, (size_t size, const void *tag),
    paceline_new_nothrow)
NEW(_ZnwmSt11align_val_t, _ZnamSt11align_val_t, (size_t size, size_t alignment),
    paceline_new_aligned)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, _ZnamSt11align_val_tRKSt9nothrow_t,
    (size_t size, size_t alignment, const void *tag),
    paceline_new_aligned_nothrow)

DELETE(_ZdlPv, _ZdaPv, (void *object), paceline_delete)
DELETE(_ZdlPvRKSt9nothrow_t, _ZdaPvRKSt9nothrow_t,
       (void *object, const void *tag), paceline_delete_nothrow)
DELETE(_ZdlPvm, _ZdaPvm, (void *object, size_t size), paceline_delete_sized)
DELETE(_ZdlPvSt11align_val_t, _ZdaPvSt11align_val_t,
       (void *object, size_t alignment), paceline_delete_aligned)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, _ZdaPvSt11align_val_tRKSt9nothrow_t,
       (void *object, size_t alignment, const void *tag),
       paceline_delete_aligned_nothrow)
DELETE(_ZdlPvmSt11align_val_t, _ZdaPvmSt11align_val_t,
       (void *object, size_t size, size_t alignment),
       paceline_delete_sized_aligned)
