/**
 * `ledger_batch`: SHA-256 of a batch of fingerprints, by the JVM and by the Rust library.
 *
 * Invariant: equal work. Both arms read the same bytes from one contiguous buffer each and write every digest
 * to an equally long output buffer: heap arrays for the JVM, direct buffers for JNI, each side's natural
 * home.
 */
package dev.paceline.hashing

import dev.paceline.harness.Arm
import dev.paceline.harness.Benchmark
import dev.paceline.harness.Check
import dev.paceline.harness.Context
import dev.paceline.harness.IntKnob
import dev.paceline.harness.IntParam
import dev.paceline.harness.Prepared
import dev.paceline.harness.SplitMix64
import java.nio.ByteBuffer
import java.security.MessageDigest
import java.util.Arrays

/** A fingerprint of the ledger: two SHA-256 digests. */
const val MESSAGE_BYTES: Int = 64
private const val DIGEST_BYTES = NativeLibrary.DIGEST_BYTES

val SLOWDOWN = IntKnob(
    name = "native_slowdown_percent",
    range = 0L..400L,
    default = 0,
    demonstration = true,
    what = "the native arm repeats this share of its work. Its times are not those of the library.",
)

val LEDGER_BATCH = Benchmark(
    name = "ledger_batch",
    arms = listOf("fallback", "native"),
    params = listOf(IntParam("batch", listOf(1_000, 2_000, 5_000, 10_000), 1L..100_000L)),
    prepare = ::prepare,
)

private fun prepare(context: Context): Prepared {
    val batch = context.int("batch")
    val input = fingerprints(context.seed, batch)
    val fallback = FallbackArm(input)
    val native = NativeArm(input, context.knobs.getValue(SLOWDOWN.name).toInt())
    return Prepared(
        arms = listOf(fallback, native),
        itemsPerIteration = batch.toLong(),
        bytesPerIteration = input.size.toLong(),
        verify = { listOf(nativeEqualsFallback(fallback, native, batch)) },
    )
}

/** [batch] messages of [MESSAGE_BYTES] that depend on the seed alone. */
internal fun fingerprints(seed: Long, batch: Int): ByteArray {
    val random = SplitMix64(seed)
    val bytes = ByteBuffer.allocate(batch * MESSAGE_BYTES)
    while (bytes.hasRemaining()) bytes.putLong(random.next())
    return bytes.array()
}

/** Erases both outputs, lets both arms work once, and compares all digests. */
private fun nativeEqualsFallback(fallback: FallbackArm, native: NativeArm, batch: Int): Check {
    fallback.erase()
    native.erase()
    fallback.run(1)
    native.run(1)
    return equalDigests(fallback.digests, native.digests(), batch)
}

internal fun equalDigests(expected: ByteArray, actual: ByteArray, batch: Int): Check {
    val differsAt = Arrays.mismatch(expected, actual)
    val detail = when {
        expected.size != batch * DIGEST_BYTES -> "the fallback wrote ${expected.size} bytes"
        differsAt >= 0 -> "message ${differsAt / DIGEST_BYTES} differs"
        else -> "all digests equal"
    }
    val ok = differsAt < 0 && expected.size == batch * DIGEST_BYTES
    return Check("native_equals_fallback", ok, "batch=$batch: $detail")
}

/** The JVM's own SHA-256, one reused instance, nothing allocated per message. */
internal class FallbackArm(private val input: ByteArray) : Arm {
    override val name = "fallback"
    val digests = ByteArray(input.size / MESSAGE_BYTES * DIGEST_BYTES)
    private val sha256 = MessageDigest.getInstance("SHA-256")

    override fun run(iterations: Int) {
        repeat(iterations) { digestAll() }
    }

    private fun digestAll() {
        var from = 0
        var to = 0
        while (from < input.size) {
            sha256.update(input, from, MESSAGE_BYTES)
            sha256.digest(digests, to, DIGEST_BYTES)
            from += MESSAGE_BYTES
            to += DIGEST_BYTES
        }
    }

    fun erase() = digests.fill(0)
}

/** One JNI call per batch. [slowdownPercent] of the batch is digested again, in as few further calls. */
internal class NativeArm(input: ByteArray, slowdownPercent: Int) : Arm {
    override val name = "native"
    private val messages: ByteBuffer = ByteBuffer.allocateDirect(input.size).put(input)
    private val digests: ByteBuffer = ByteBuffer.allocateDirect(input.size / MESSAGE_BYTES * DIGEST_BYTES)
    private val repeats = slowdownPercent / WHOLE_PERCENT
    private val partly = input.size / MESSAGE_BYTES * (slowdownPercent % WHOLE_PERCENT) / WHOLE_PERCENT
    private val partOfMessages = messages.slice(0, partly * MESSAGE_BYTES)
    private val partOfDigests = digests.slice(0, partly * DIGEST_BYTES)

    override fun run(iterations: Int) {
        repeat(iterations) {
            NativeLibrary.digestBatch(messages, MESSAGE_BYTES, digests)
            repeat(repeats) { NativeLibrary.digestBatch(messages, MESSAGE_BYTES, digests) }
            if (partly > 0) NativeLibrary.digestBatch(partOfMessages, MESSAGE_BYTES, partOfDigests)
        }
    }

    fun erase() {
        for (i in 0 until digests.capacity()) digests.put(i, 0)
    }

    /** A copy of what the library wrote. */
    fun digests(): ByteArray = ByteArray(digests.capacity()).also { digests.get(0, it) }

    private companion object {
        const val WHOLE_PERCENT = 100
    }
}
