/**
 * `seed_protocol`: measures twice whether one JNI call per fingerprint is faster than the
 * platform.
 *
 * `protocol=seed` repeats the original measurement with its five defects: the native path always
 * first, three rounds without warm-up outside the timer, a warm-up pass inside it, inputs built
 * inside it, and only one path that keeps its digests. The counters report this, and the audit
 * names each defect. It runs in a fresh JVM, as the original did. `protocol=paceline` measures the
 * same code properly. A `protocol` warning in the stream marks the first as no measurement.
 */
package dev.paceline.hashing

import dev.paceline.harness.Account
import dev.paceline.harness.Arm
import dev.paceline.harness.Benchmark
import dev.paceline.harness.Context
import dev.paceline.harness.EnumParam
import dev.paceline.harness.IntParam
import dev.paceline.harness.Prepared
import dev.paceline.harness.Protocol
import dev.paceline.ledger.NativeDigests
import java.security.MessageDigest

private const val SEED = "seed"

val SEED_PROTOCOL = Benchmark(
    name = "seed_protocol",
    arms = listOf("fallback", "native"),
    params = listOf(
        EnumParam("protocol", listOf(SEED, "paceline")),
        IntParam("batch", listOf(1_000, 5_000, 10_000), 1L..100_000L),
    ),
    prepare = { if (it.text("protocol") == SEED) replayed(it) else proper(it) },
)

private val REPLAY = Protocol(
    settles = false,
    iterations = 1,
    warmupRounds = 0,
    rounds = 3,
    order = listOf("native", "fallback"),
    warning = "replays the original's protocol with its mistakes, to show that the audit names them: " +
        "no verdict rests on it",
)

private fun proper(context: Context): Prepared {
    val input = LedgerInput.of(context.seed, context.int("batch"), FINGERPRINT_BYTES)
    val fallback = fallbackArm(input)
    val arms = listOf(fallback, NativeEachArm(input, "native"))
    return Prepared(
        arms = arms,
        itemsPerIteration = input.count.toLong(),
        bytesPerIteration = input.bytes.size.toLong(),
        verify = { listOf(nativeEqualsFallback("paceline batch=${input.count}", fallback, arms)) },
    )
}

private fun replayed(context: Context): Prepared {
    val input = LedgerInput.of(context.seed, context.int("batch"), FINGERPRINT_BYTES)
    val child = lazy {
        Child("dev.paceline.hashing.SeedProtocolKt", context.seed.toString(), context.int("batch").toString())
    }
    val arms = listOf(ReplayedArm("fallback", child), ReplayedArm("native", child))
    val digests = fallbackArm(input).apply { run(1) }.digests()
    val last = checksum(digests.copyOfRange(digests.size - NativeDigests.DIGEST_BYTES, digests.size))
    return Prepared(
        arms = arms,
        itemsPerIteration = input.count.toLong(),
        bytesPerIteration = input.bytes.size.toLong(),
        protocol = REPLAY,
        close = { if (child.isInitialized()) child.value.close() },
        // The native path keeps no digest but the last (one of the mistakes), so that one is compared.
        verify = { listOf(childrenEqualFallback("seed", last, arms.associate { it.name to it.checksums })) },
    )
}

private class ReplayedArm(override val name: String, private val child: Lazy<Child>) : Arm {
    private val answers = ArrayList<Answer>()

    /** Of all answers ever, so that a wrong one among right ones is seen. */
    val checksums = HashSet<Long>()

    override fun run(iterations: Int) {
        answers.clear()
        repeat(iterations) { answers += child.value.ask(name).also { checksums += it.checksum } }
    }

    override fun account(account: Account) {
        account.time(answers.sumOf { it.ns })
        account.work("items", answers.sumOf { it.items })
        account.work("prepared", answers.sumOf { it.prepared })
        account.work("kept", answers.sumOf { it.kept })
    }
}

/** The child: `SEED BATCH`, then an arm's name per line. */
fun main(args: Array<String>) {
    val (seed, batch) = args[0].toLong() to args[1].toInt()
    loadLibrary()
    serve { arm -> if (arm == "native") nativeAsTheSeed(seed, batch) else fallbackAsTheSeed(seed, batch) }
}

private fun nativeAsTheSeed(seed: Long, batch: Int): Answer {
    val digest = ByteArray(NativeDigests.DIGEST_BYTES)
    val begin = System.nanoTime()
    val messages = fingerprints(seed, batch).map { it.encoded() }
    repeat(PASSES) {
        for (message in messages) NativeDigests.digestOne(message, 0, message.size, digest, 0)
    }
    val ns = System.nanoTime() - begin
    return Answer(ns, items = PASSES * batch.toLong(), prepared = batch.toLong(), kept = 0, checksum(digest))
}

private fun fallbackAsTheSeed(seed: Long, batch: Int): Answer {
    val kept = ArrayList<ByteArray>()
    val begin = System.nanoTime()
    val messages = fingerprints(seed, batch).map { it.encoded() }
    repeat(PASSES) {
        kept.clear()
        for (message in messages) kept += MessageDigest.getInstance("SHA-256").digest(message)
    }
    val ns = System.nanoTime() - begin
    val (items, prepared) = PASSES * batch.toLong() to batch.toLong()
    return Answer(ns, items, prepared, kept.size.toLong(), checksum(kept.last()))
}

/** A warm-up pass and the measured one, both inside the timer. */
private const val PASSES = 2
