/* operator new and delete in every form that a C++ program may replace, so that a
 * `new` is one call.
 *
 * Building and linking need neither a C++ compiler nor a C++ library. When memory
 * is out, the throwing forms use the C++ library that the process has, if any.
 */
#ifndef PACELINE_OPERATORS_H
#define PACELINE_OPERATORS_H

#include <stddef.h>

/* `tag` is the reference to std::nothrow; these answer NULL where the others
 * throw std::bad_alloc. */
void *paceline_new(size_t size);
void *paceline_new_nothrow(size_t size, const void *tag);
void *paceline_new_aligned(size_t size, size_t alignment);
void *paceline_new_aligned_nothrow(size_t size, size_t alignment,
                                   const void *tag);

/* Alignments of deleted objects are not looked at, nor sizes but in hardened mode: an
 * address is proof enough of its object. */
void paceline_delete(void *object);
void paceline_delete_nothrow(void *object, const void *tag);
void paceline_delete_sized(void *object, size_t size);
void paceline_delete_aligned(void *object, size_t alignment);
void paceline_delete_aligned_nothrow(void *object, size_t alignment,
                                     const void *tag);
void paceline_delete_sized_aligned(void *object, size_t size, size_t alignment);

#endif
