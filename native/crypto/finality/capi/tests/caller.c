/* Calls every function of the header from C, and provokes every status that a
 * caller can. The exit status is 0 if all is as expected; otherwise the first
 * surprise is on stderr, with its line. */
#include "paceline_finality.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(got, wanted)                                               \
    do {                                                                  \
        long long got_ = (long long)(got), wanted_ = (long long)(wanted); \
        if (got_ != wanted_) {                                            \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__,    \
                    __LINE__, #got, got_, wanted_);                       \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

static uint8_t ids[32][PACELINE_ID_BYTES];

static void blocks_become_final(paceline_graph *graph) {
    uint64_t height = 0, sum = 0, finalised = 0, abandoned = 0;
    EXPECT(paceline_graph_insert(graph, ids[1], ids[0], 1, &height),
           PACELINE_OK);
    EXPECT(height, 1);
    EXPECT(paceline_graph_insert(graph, ids[2], ids[0], 1, NULL), PACELINE_OK);
    EXPECT(paceline_graph_insert(graph, ids[3], ids[1], 2, &height),
           PACELINE_OK); /* a merge of 1 and 2 */
    EXPECT(height, 2);
    EXPECT(paceline_graph_insert(graph, ids[4], ids[0], 1, NULL), PACELINE_OK);
    EXPECT(paceline_graph_attest(graph, ids[1], 9, &sum), PACELINE_OK);
    EXPECT(sum, 9);
    EXPECT(paceline_graph_finalise(graph, ids[1], NULL, NULL),
           PACELINE_UNDERWEIGHT);
    EXPECT(paceline_graph_is_final(graph, ids[1]), 0);
    EXPECT(paceline_graph_attest(graph, ids[1], 1, NULL), PACELINE_OK);
    EXPECT(paceline_graph_finalise(graph, ids[1], &finalised, &abandoned),
           PACELINE_OK);
    EXPECT(finalised, 1);
    EXPECT(abandoned, 1); /* block 4 */
    EXPECT(paceline_graph_is_final(graph, ids[0]), 1);
    EXPECT(paceline_graph_is_final(graph, ids[1]), 1);
    EXPECT(paceline_graph_is_final(graph, ids[2]), 0);
    EXPECT(paceline_graph_nothing(graph, ids[1]), 0);
}

static void wrong_calls_are_refused(paceline_graph *graph) {
    EXPECT(paceline_graph_insert(graph, ids[1], ids[0], 1, NULL),
           PACELINE_DUPLICATE);
    EXPECT(paceline_graph_insert(graph, ids[9], ids[0], 0, NULL),
           PACELINE_PARENTS);
    EXPECT(paceline_graph_insert(graph, ids[9], ids[0], SIZE_MAX, NULL),
           PACELINE_PARENTS);
    EXPECT(paceline_graph_insert(graph, ids[9], ids[8], 1, NULL),
           PACELINE_UNKNOWN_PARENT);
    EXPECT(paceline_graph_insert(graph, ids[9], ids[0], 1, NULL),
           PACELINE_BELOW_FINALITY);
    EXPECT(paceline_graph_attest(graph, ids[4], 1, NULL), PACELINE_UNKNOWN);
    EXPECT(paceline_graph_attest(graph, ids[1], 1, NULL),
           PACELINE_ALREADY_FINAL);
    EXPECT(paceline_graph_attest(graph, ids[2], 1, NULL), PACELINE_CONFLICTS);
    EXPECT(paceline_graph_attest(graph, ids[3], UINT64_MAX, NULL), PACELINE_OK);
    EXPECT(paceline_graph_attest(graph, ids[3], 1, NULL),
           PACELINE_WEIGHT_OVERFLOW);
    EXPECT(paceline_graph_new(NULL, 1) == NULL, 1);
    EXPECT(paceline_graph_is_final(NULL, ids[0]), PACELINE_ARGUMENT);
    EXPECT(paceline_graph_is_final(graph, NULL), PACELINE_ARGUMENT);
    EXPECT(paceline_graph_insert(NULL, ids[9], ids[1], 1, NULL),
           PACELINE_ARGUMENT);
    EXPECT(paceline_graph_insert(graph, NULL, ids[1], 1, NULL),
           PACELINE_ARGUMENT);
    EXPECT(paceline_graph_insert(graph, ids[9], NULL, 1, NULL),
           PACELINE_ARGUMENT);
    EXPECT(paceline_graph_attest(NULL, ids[1], 1, NULL), PACELINE_ARGUMENT);
    EXPECT(paceline_graph_finalise(graph, NULL, NULL, NULL), PACELINE_ARGUMENT);
    EXPECT(paceline_graph_prune(NULL, 1, NULL), PACELINE_ARGUMENT);
    EXPECT(paceline_graph_snapshot(NULL, NULL, 0, NULL), PACELINE_ARGUMENT);
    EXPECT(paceline_graph_restore(ids[0], 32, NULL), PACELINE_ARGUMENT);
    paceline_graph_free(NULL);
}

static void a_snapshot_comes_back(paceline_graph *graph) {
    uint64_t forgotten = 0;
    size_t size = 0, again = 0;
    paceline_graph *restored = NULL;
    EXPECT(paceline_graph_prune(graph, 100, &forgotten), PACELINE_OK);
    EXPECT(forgotten, 1);
    EXPECT(paceline_graph_snapshot(graph, NULL, 0, &size), PACELINE_TOO_SMALL);
    uint8_t *bytes = malloc(size);
    EXPECT(bytes != NULL, 1);
    EXPECT(paceline_graph_snapshot(graph, bytes, size - 1, NULL),
           PACELINE_TOO_SMALL);
    EXPECT(paceline_graph_snapshot(graph, bytes, size, &again), PACELINE_OK);
    EXPECT(again, size);
    EXPECT(paceline_graph_restore(bytes, size, &restored), PACELINE_OK);
    EXPECT(paceline_graph_is_final(restored, ids[0]), 1);
    EXPECT(paceline_graph_finalise(restored, ids[3], NULL, NULL), PACELINE_OK);
    EXPECT(paceline_graph_is_final(restored, ids[2]), 1);
    EXPECT(paceline_graph_is_final(graph, ids[2]), 0);
    paceline_graph_free(restored);
    bytes[size / 2] ^= 1;
    EXPECT(paceline_graph_restore(bytes, size, &restored), PACELINE_SNAPSHOT);
    EXPECT(restored == NULL, 1);
    EXPECT(paceline_graph_restore(bytes, 0, &restored), PACELINE_SNAPSHOT);
    free(bytes);
}

int main(void) {
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        for (size_t j = 0; j < PACELINE_ID_BYTES; j++)
            ids[i][j] = (uint8_t)(37 * i + 11 * j + 1);
    EXPECT(paceline_finality_abi(), PACELINE_FINALITY_ABI);
    for (int32_t status = PACELINE_PANICKED; status <= PACELINE_OK; status++)
        EXPECT(strstr(paceline_status_text(status), "no status") == NULL, 1);
    EXPECT(strstr(paceline_status_text(1), "no status") != NULL, 1);
    paceline_graph *graph = paceline_graph_new(ids[0], 10);
    EXPECT(graph != NULL, 1);
    blocks_become_final(graph);
    wrong_calls_are_refused(graph);
    a_snapshot_comes_back(graph);
    paceline_graph_free(graph);
    return 0;
}
