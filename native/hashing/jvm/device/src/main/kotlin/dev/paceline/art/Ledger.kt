/**
 * The `ledger` workload on Android's own runtime (ART), started by `app_process`; an experiment
 * until a phone has run it (../../../../../../../art.toml).
 *
 * Absent: what starts a second JVM (`ledger_cold`, `seed_protocol`). There is one `zygote` and no
 * `java`.
 */
package dev.paceline.art

import dev.paceline.harness.Workload
import dev.paceline.harness.measure
import dev.paceline.hashing.LEDGER_BATCH
import dev.paceline.hashing.LEDGER_CROSSOVER
import dev.paceline.hashing.LEDGER_PRODUCT
import dev.paceline.hashing.checks
import dev.paceline.hashing.facts
import dev.paceline.hashing.loadLibrary

fun main(args: Array<String>): Unit = measure(
    Workload(
        suite = "hashing_art",
        name = "ledger",
        benchmarks = listOf(LEDGER_BATCH, LEDGER_CROSSOVER, LEDGER_PRODUCT),
        knobs = emptyList(),
        open = {
            loadLibrary()
            facts()
        },
        checks = ::checks,
    ),
    args,
)
