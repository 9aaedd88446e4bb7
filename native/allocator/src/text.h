/* Builds text without allocating, for last messages and statistics.
 *
 * `length` counts everything added, even what did not fit; the text always ends
 * with a NUL. */
#ifndef PACELINE_TEXT_H
#define PACELINE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
    char *bytes;
    size_t capacity; /* with room for the NUL */
    size_t length;
};

static inline void text_add_char(struct text *text, char c) {
    if (text->length + 1 < text->capacity) {
        text->bytes[text->length] = c;
        text->bytes[text->length + 1] = '\0';
    }
    text->length++;
}

static inline void text_add(struct text *text, const char *s) {
    while (*s != '\0') {
        text_add_char(text, *s++);
    }
}

static inline void text_add_number(struct text *text, uint64_t value,
                                   unsigned base) {
    char digits[24];
    unsigned count = 0;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (count > 0) {
        text_add_char(text, digits[--count]);
    }
}

#endif
