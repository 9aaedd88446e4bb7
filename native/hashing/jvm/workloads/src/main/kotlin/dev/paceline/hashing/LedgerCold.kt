/**
 * `ledger_cold`: the first batch of a fresh process, including the lookup of the platform's
 * provider, or loading and testing the native library.
 *
 * Each sample is a JVM of its own that measures itself. The timed region of each arm includes
 * loading its classes and
 *
 *     fallback      finding the provider, a MessageDigest, 1,000 digests
 *     native        opening the file, loading, binding, self-test, one call over direct memory
 *     native_ffm    loading, looking up and binding by the foreign-function API, one call; no self-test
 *     policy        a LedgerHasher: as native, its warm-up round, then the drop-in over messages anywhere
 *
 * Messages are ready before the clock starts, as arrays or in direct memory that the JDK
 * allocated. Of an arm's own classes, only those that encoded the messages are loaded by then.
 */
package dev.paceline.hashing

import dev.paceline.harness.Account
import dev.paceline.harness.Arm
import dev.paceline.harness.Benchmark
import dev.paceline.harness.Check
import dev.paceline.harness.Context
import dev.paceline.harness.IntParam
import dev.paceline.harness.Prepared
import dev.paceline.harness.Protocol
import dev.paceline.harness.Unavailable
import dev.paceline.ledger.LedgerHasher
import dev.paceline.ledger.LibrarySource
import dev.paceline.ledger.NativeDigests
import dev.paceline.ledger.NativeLibrary
import dev.paceline.ledger.PlatformDigests
import java.nio.ByteBuffer
import java.nio.ByteOrder

/** A first call is not repeated, and nothing is compiled before it. One round fills the page cache. */
private val FIRST_CALLS = Protocol(settles = false, iterations = 1, warmupRounds = 1)

val LEDGER_COLD = Benchmark(
    name = "ledger_cold",
    arms = listOf("fallback", "native", "native_ffm", "policy"),
    params = listOf(
        IntParam("batch", listOf(1_000), 1L..100_000L),
        IntParam("message", listOf(FINGERPRINT_BYTES.toLong()), 0L..4_096L),
    ),
    prepare = ::prepare,
)

private fun prepare(context: Context): Prepared {
    val input = LedgerInput.of(context.seed, context.int("batch"), context.int("message"))
    val line = listOf(context.seed.toString(), context.params.getValue("batch").toString()) +
        context.params.getValue("message").toString()
    val arms = listOf(
        ColdArm("fallback", line),
        ColdArm("native", line),
        whyFfmUnavailable()?.let { Unavailable("native_ffm", it) } ?: ColdArm("native_ffm", line),
        ColdArm("policy", line),
    )
    return Prepared(
        arms = arms,
        itemsPerIteration = input.count.toLong(),
        bytesPerIteration = input.bytes.size.toLong(),
        protocol = FIRST_CALLS,
        verify = { listOf(coldEqualsFallback(expectedChecksum(input), arms.filterIsInstance<ColdArm>())) },
    )
}

/** Children that were measured gave the right digests; before the first round there is nothing to compare. */
private fun coldEqualsFallback(expected: Long, arms: List<ColdArm>): Check {
    val checksums = arms.associate { it.name to setOfNotNull(it.last?.checksum) }
    return childrenEqualFallback("cold", expected, checksums)
}

/** One child per iteration. */
private class ColdArm(override val name: String, private val line: List<String>) : Arm {
    var last: Answer? = null
    private var ns = 0L
    private var items = 0L

    override fun run(iterations: Int) {
        ns = 0
        items = 0
        repeat(iterations) {
            val child = Child("dev.paceline.hashing.LedgerColdKt", name, *line.toTypedArray())
            val answer = child.use { it.ask("") }
            ns += answer.ns
            items += answer.items
            last = answer
        }
    }

    override fun account(account: Account) {
        account.time(ns)
        account.work("items", items)
    }
}

/** The child: `ARM SEED BATCH MESSAGE`. */
fun main(args: Array<String>) {
    val input = LedgerInput.of(args[1].toLong(), args[2].toInt(), args[3].toInt())
    serve { first(args[0], input) }
}

/** No lambda between the two clock reads: bootstrapping the first one takes longer than the whole batch. */
private fun first(arm: String, input: LedgerInput): Answer {
    val digests = ByteArray(input.digestBytes)
    val ns = when (arm) {
        "native" -> firstNative(input, digests)
        "native_ffm" -> firstForeign(FfmBatch(input), digests)
        "policy" -> firstByPolicy(input, digests)
        else -> firstFallback(input, digests)
    }
    return Answer(ns, input.count.toLong(), prepared = 0, kept = 0, checksum(digests))
}

private fun firstFallback(input: LedgerInput, digests: ByteArray): Long {
    val begin = System.nanoTime()
    val platform = PlatformDigests()
    for (i in 0 until input.count) {
        val from = input.offsets[i]
        val to = i * NativeDigests.DIGEST_BYTES
        platform.digest(input.bytes, from, input.offsets[i + 1] - from, digests, to)
    }
    return System.nanoTime() - begin
}

private fun firstNative(input: LedgerInput, digests: ByteArray): Long {
    val path = libraryPath().toString()
    val messages = ByteBuffer.allocateDirect(input.bytes.size).put(input.bytes)
    val offsets = ByteBuffer.allocateDirect(input.offsets.size * Int.SIZE_BYTES)
    offsets.order(ByteOrder.nativeOrder()).asIntBuffer().put(input.offsets)
    val output = ByteBuffer.allocateDirect(digests.size)
    val begin = System.nanoTime()
    val refusal = NativeLibrary.load(LibrarySource.AtPath(path))
    if (refusal == null) NativeDigests.digestRagged(messages, offsets, output)
    val ns = System.nanoTime() - begin
    check(refusal == null) { "$refusal" }
    output.get(digests)
    return ns
}

private fun firstByPolicy(input: LedgerInput, digests: ByteArray): Long {
    val path = libraryPath().toString()
    val begin = System.nanoTime()
    val hasher = LedgerHasher.open(LibrarySource.AtPath(path))
    hasher.digestMessages(input.messages, digests)
    val ns = System.nanoTime() - begin
    check(hasher.status.native) { hasher.status.reason }
    return ns
}

private fun firstForeign(batch: FfmBatch, digests: ByteArray): Long {
    val begin = System.nanoTime()
    batch.digest()
    val ns = System.nanoTime() - begin
    batch.digests().copyInto(digests)
    return ns
}
