/**
 * `ledger_batch`: SHA-256 of a batch of fingerprints, by the JVM and by each way into the Rust
 * library. `ledger_crossover`: the arms that a product can choose between, at every small batch.
 *
 * Every arm's digests are compared with the fallback's before and after timing.
 */
package dev.paceline.hashing

import dev.paceline.harness.Arm
import dev.paceline.harness.Benchmark
import dev.paceline.harness.Check
import dev.paceline.harness.Context
import dev.paceline.harness.IntParam
import dev.paceline.harness.Prepared
import dev.paceline.harness.Unavailable
import dev.paceline.ledger.LedgerHasher
import dev.paceline.ledger.LedgerPolicy
import dev.paceline.ledger.NativeDigests
import java.util.Arrays

val LEDGER_BATCH = Benchmark(
    name = "ledger_batch",
    arms = listOf(
        "fallback", "native_each", "native", "native_sha_ni", "native_array", "native_list", "native_ffm",
        "policy",
    ),
    params = listOf(
        IntParam("batch", listOf(1, 10, 100, 1_000, 2_000, 5_000, 10_000), 1L..100_000L),
        IntParam("message", listOf(32, 64, 150, 256, 1_024), 0L..4_096L),
    ),
    prepare = ::prepare,
)

val LEDGER_CROSSOVER = Benchmark(
    name = "ledger_crossover",
    arms = listOf("fallback", "native", "native_array", "native_list"),
    params = listOf(
        IntParam("batch", listOf(1, 2, 3, 4, 5, 6, 8, 10, 12), 1L..100_000L),
        IntParam("message", listOf(FINGERPRINT_BYTES.toLong()), 0L..4_096L),
    ),
    prepare = ::prepareCrossover,
)

private fun prepareCrossover(context: Context): Prepared {
    val input = LedgerInput.of(context.seed, context.int("batch"), context.int("message"))
    val fallback = fallbackArm(input)
    val arms = listOf(
        fallback,
        NativeArm("native", input, NativeDigests.BEST),
        NativeArrayArm(input),
        HasherArm("native_list", input, hasher(LedgerPolicy(minimumBatch = 1, warmupRounds = 0))),
    )
    return prepared(input, fallback, arms)
}

private fun prepare(context: Context): Prepared {
    val input = LedgerInput.of(context.seed, context.int("batch"), context.int("message"))
    val fallback = fallbackArm(input)
    val arms = listOf(
        fallback,
        NativeEachArm(input),
        NativeArm("native", input, NativeDigests.BEST),
        nativeShaNi(input),
        NativeArrayArm(input),
        HasherArm("native_list", input, hasher(LedgerPolicy(minimumBatch = 1, warmupRounds = 0))),
        whyFfmUnavailable()?.let { Unavailable("native_ffm", it) } ?: FfmArm(input),
        HasherArm("policy", input, hasher(LedgerPolicy.MEASURED)),
    )
    return prepared(input, fallback, arms)
}

private fun prepared(input: LedgerInput, fallback: LedgerArm, arms: List<Arm>) = Prepared(
    arms = arms,
    itemsPerIteration = input.count.toLong(),
    bytesPerIteration = input.bytes.size.toLong(),
    verify = { listOf(nativeEqualsFallback("batch=${input.count}", fallback, arms)) },
)

/** The best that SHA-NI alone gives: what a CPU without AVX-512 gets. */
private fun nativeShaNi(input: LedgerInput): Arm {
    val engine = NativeDigests.engineNumber("sha_ni_x2")
        ?: return Unavailable("native_sha_ni", "this CPU has no SHA extensions of x86")
    return NativeArm("native_sha_ni", input, engine)
}

/** A hasher that digests natively; the library was loaded when the workload was opened. */
internal fun hasher(policy: LedgerPolicy): LedgerHasher = LedgerHasher.open(librarySource(), policy).also {
    check(it.status.native) { it.status.reason }
}

/** Erases every output, lets every arm work once, and compares all digests with the fallback's. */
internal fun nativeEqualsFallback(group: String, fallback: LedgerArm, arms: List<Arm>): Check {
    val running = arms.filterIsInstance<LedgerArm>()
    running.forEach { it.erase() }
    running.forEach { it.run(1) }
    val expected = fallback.digests()
    return equalDigests(group, expected, running.associate { it.name to it.digests() })
}

internal fun equalDigests(group: String, expected: ByteArray, actual: Map<String, ByteArray>): Check {
    val wrong = actual.mapNotNull { (arm, digests) ->
        val at = Arrays.mismatch(expected, digests)
        if (at < 0) null else "$arm: message ${at / NativeDigests.DIGEST_BYTES} differs"
    }
    val detail = if (wrong.isEmpty()) "all digests of ${actual.size} arms equal" else wrong.joinToString()
    return Check("native_equals_fallback", wrong.isEmpty(), "$group: $detail")
}
