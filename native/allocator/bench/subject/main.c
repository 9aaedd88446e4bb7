/* The subject's command line and its answers.
 *
 *   subject SCENARIO [--NAME NUMBER]… [--trace FILE]
 *       then a line in, a line out, until the end of input:
 *       round CHUNKS TIMES LEAD RUNS   round TOTAL P50 P99 PEAK SETTLED CHUNK…
 *       state                          state DIGEST
 *       end                            end FAULTS IDLE
 *   subject check --seed NUMBER        one line: `intact`, or what is wrong
 *
 * It begins with `ready PROVIDER`, the file that malloc came from. LEAD times are
 * worked but not timed, so that caches hold this arm's data again; then CHUNKS
 * chunks of TIMES; then RUNS short runs, each timed by itself, for percentiles.
 * Times are nanoseconds, of a run of 32 operations; memory is in bytes. */
#include "subject.h"

#include <string.h>

enum { RUNS_MAX = 4096, RUN_TIMES = 32, CHUNKS_MAX = 100 };

static const struct scenario *const scenarios[] = {
    &random_mixed,  &churn,          &server, &producer_consumer,
    &fragmentation, &realloc_growth, &replay};
static struct options options = {
    .slots = 1024, .lanes = 1, .threads = 1, .bytes = 1 << 20};
static uint64_t runs_ns[RUNS_MAX];

static uint64_t *option(const char *name) {
    const struct {
        const char *name;
        uint64_t *value;
    } known[] = {{"--seed", &options.seed},
                 {"--layout", &options.layout},
                 {"--slots", &options.slots},
                 {"--remote", &options.remote},
                 {"--lanes", &options.lanes},
                 {"--independent", &options.independent},
                 {"--order", &options.order},
                 {"--bytes", &options.bytes},
                 {"--threads", &options.threads},
                 {"--all", &options.all},
                 {"--idle-ms", &options.idle_ms}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].value;
    give_up("unknown option ", name);
}

static void read_options(int count, char **words) {
    options.scenario = count > 1 ? words[1] : "";
    for (int i = 2; i + 1 < count; i += 2) {
        const char *value = words[i + 1];
        if (strcmp(words[i], "--trace") == 0)
            options.trace = value;
        else
            *option(words[i]) = take_number(&value);
    }
    if (options.lanes < 1 || options.lanes > LANES_MAX || options.remote > 100)
        give_up("out of range: ", "--lanes 1 to 2, --remote 0 to 100");
}

static const struct scenario *scenario_named(const char *name) {
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenarios[i]->name, name) == 0)
            return scenarios[i];
    give_up("unknown scenario ", name);
}

/* Shell's sort: qsort may allocate. */
static void sort(uint64_t *values, size_t count) {
    for (size_t gap = count / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < count; i++)
            for (size_t j = i; j >= gap && values[j - gap] > values[j];
                 j -= gap) {
                uint64_t kept = values[j];
                values[j] = values[j - gap];
                values[j - gap] = kept;
            }
}

static void answer_round(const struct scenario *scenario, const char *line) {
    uint64_t chunks = take_number(&line), times = take_number(&line);
    uint64_t lead = take_number(&line), runs = take_number(&line);
    uint64_t total = 0, chunk_ns[CHUNKS_MAX];
    if (chunks > CHUNKS_MAX || runs > RUNS_MAX)
        give_up("out of range: ", "chunks or runs");
    if (scenario->idle != NULL)
        scenario->idle(first_lane()); /* before there is any work */
    if (lead != 0)
        run_lanes(lead);
    for (uint64_t i = 0; i < chunks; i++)
        total += chunk_ns[i] = run_lanes(times);
    for (uint64_t i = 0; i < runs; i++)
        runs_ns[i] = run_lanes(RUN_TIMES);
    sort(runs_ns, runs);
    say("round");
    say_number(total);
    say_number(runs == 0 ? 0 : runs_ns[runs / 2]);
    say_number(runs == 0 ? 0 : runs_ns[runs * 99 / 100]);
    say_number(peak_resident_bytes());
    say_number(scenario->settle == NULL ? 0 : scenario->settle(first_lane()));
    for (uint64_t i = 0; i < chunks; i++)
        say_number(chunk_ns[i]);
    say_end();
}

static void answer_end(const struct scenario *scenario) {
    say("end");
    say_number(page_faults());
    say_number(scenario->idle == NULL ? resident_bytes()
                                      : scenario->idle(first_lane()));
    say_end();
}

int main(int count, char **words) {
    char line[256];
    read_options(count, words);
    if (strcmp(options.scenario, "check") == 0)
        return check_intact(options.seed);
    const struct scenario *scenario = scenario_named(options.scenario);
    start_lanes(scenario, &options);
    say("ready ");
    say(malloc_provider());
    say_end();
    while (read_line(line, sizeof line)) {
        const char *rest_of_line = line;
        if (word_is(&rest_of_line, "round")) {
            answer_round(scenario, rest_of_line);
        } else if (word_is(&rest_of_line, "state")) {
            say("state");
            say_number(digest_lanes());
            say_end();
        } else if (word_is(&rest_of_line, "end")) {
            answer_end(scenario);
        } else {
            give_up("unknown command ", line);
        }
    }
    return 0;
}
