/**
 * The `ledger` workload of the hashing suite: `java -cp hashing.jar dev.paceline.hashing.MainKt …`
 */
package dev.paceline.hashing

import dev.paceline.harness.Workload
import dev.paceline.harness.measure
import dev.paceline.ledger.LedgerHasher
import dev.paceline.ledger.NativeDigests
import dev.paceline.ledger.PlatformDigests

fun main(args: Array<String>): Unit = measure(LEDGER, args)

internal val LEDGER = Workload(
    suite = "hashing",
    name = "ledger",
    benchmarks = listOf(LEDGER_BATCH, LEDGER_CROSSOVER, LEDGER_PRODUCT, LEDGER_COLD, SEED_PROTOCOL),
    knobs = emptyList(),
    open = {
        loadLibrary()
        facts()
    },
    checks = ::checks,
)

/** Facts about what runs that could explain a difference between two runs. */
internal fun facts(): Map<String, String> = mapOf(
    "engine" to LedgerHasher.open(librarySource()).status.engine,
    "engines" to NativeDigests.engines().joinToString(" "),
    "digest_provider" to PlatformDigests().provider,
    "jvm" to "${System.getProperty("java.vm.name")} ${System.getProperty("java.vm.version")}",
    "jvm_vendor" to System.getProperty("java.vm.vendor"),
    "kotlin" to KotlinVersion.CURRENT.toString(),
    "os" to "${System.getProperty("os.name")} ${System.getProperty("os.arch")}",
)
