/* Lines from and to the workload. Invariant: no allocation, no stdio. */
#include "subject.h"

#include <string.h>
#include <unistd.h>

static char out[4096];
static size_t out_used;

bool read_line(char *line, size_t room) {
    size_t used = 0;
    while (used + 1 < room) {
        if (read(STDIN_FILENO, line + used, 1) != 1)
            return false;
        if (line[used] == '\n') {
            line[used] = 0;
            return true;
        }
        used++;
    }
    return false;
}

bool word_is(const char **line, const char *word) {
    size_t length = strlen(word);
    if (strncmp(*line, word, length) != 0 ||
        ((*line)[length] != 0 && (*line)[length] != ' '))
        return false;
    *line += length;
    return true;
}

uint64_t take_number(const char **line) {
    uint64_t number = 0;
    while (**line == ' ')
        ++*line;
    for (; **line >= '0' && **line <= '9'; ++*line)
        number = number * 10 + (uint64_t)(**line - '0');
    return number;
}

void say(const char *text) {
    size_t length = strlen(text);
    if (length > sizeof out - 1 - out_used)
        length = sizeof out - 1 - out_used;
    memcpy(out + out_used, text, length);
    out_used += length;
}

void say_number(uint64_t number) {
    char digits[21];
    char *at = digits + sizeof digits - 1;
    *at = 0;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    say(" ");
    say(at);
}

static void send_all(int file) {
    for (size_t sent = 0; sent < out_used;) {
        ssize_t now = write(file, out + sent, out_used - sent);
        if (now <= 0)
            _exit(1);
        sent += (size_t)now;
    }
    out_used = 0;
}

void say_end(void) {
    out[out_used++] = '\n';
    send_all(STDOUT_FILENO);
}

_Noreturn void give_up(const char *why, const char *what) {
    out_used = 0;
    say("subject: ");
    say(why);
    say(what);
    out[out_used++] = '\n';
    send_all(STDERR_FILENO);
    _exit(1);
}
