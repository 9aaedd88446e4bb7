/**
 * The `piece` workload of the hashing suite: `java -cp hashing.jar dev.paceline.piece.MainKt --list
 * | …`
 */
package dev.paceline.piece

import dev.paceline.harness.Workload
import dev.paceline.harness.measure
import java.security.MessageDigest

fun main(args: Array<String>): Unit = measure(PIECE_WORKLOAD, args)

internal val PIECE_WORKLOAD = Workload(
    suite = "hashing",
    name = "piece",
    benchmarks = listOf(PIECE, PIECE_STREAM, PIECE_UNVERIFIED, PIECE_INSTRUMENTATION),
    knobs = listOf(LOG_EVERY_MS),
    open = {
        PieceLibrary.load()
        facts()
    },
    checks = ::checks,
)

/** Facts about what runs that could explain a difference between two runs. */
private fun facts(): Map<String, String> = mapOf(
    "quickjs" to PieceLibrary.quickjsVersion(),
    "engine" to PieceLibrary.engine(1),
    "engine_8" to PieceLibrary.engine(8),
    "engine_16" to PieceLibrary.engine(16),
    "digest_provider" to MessageDigest.getInstance("SHA-1").provider.toString(),
    "processors" to Runtime.getRuntime().availableProcessors().toString(),
    "jvm" to "${System.getProperty("java.vm.name")} ${System.getProperty("java.vm.version")}",
    "jvm_vendor" to System.getProperty("java.vm.vendor"),
    "kotlin" to KotlinVersion.CURRENT.toString(),
    "os" to "${System.getProperty("os.name")} ${System.getProperty("os.arch")}",
)
