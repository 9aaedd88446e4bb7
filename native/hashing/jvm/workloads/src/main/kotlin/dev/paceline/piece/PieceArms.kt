/**
 * The arms of the piece benchmarks: Kotlin alone, and a function of a script.
 *
 * Both hash the same pieces, keep every digest, and read the JS thread's CPU time and the time
 * inside digests at the same places.
 */
package dev.paceline.piece

import dev.paceline.harness.Account
import dev.paceline.harness.Arm
import dev.paceline.harness.Metric
import dev.paceline.harness.SplitMix64
import java.nio.ByteBuffer
import java.nio.ByteOrder

internal const val DIGEST_BYTES: Int = 20

internal val JS_THREAD = Metric("js_thread", "ns", "lower")
internal val DIGEST = Metric("digest", "ns", "lower")
internal val CALL_TIME = Metric("call_time", "ns", "lower")

/** [count] pieces that depend on the seed alone. */
internal fun pieces(seed: Long, count: Int, bytes: Int): List<ByteArray> {
    val random = SplitMix64(seed)
    return List(count) {
        val whole = ByteBuffer.allocate((bytes + Long.SIZE_BYTES - 1) / Long.SIZE_BYTES * Long.SIZE_BYTES)
        while (whole.hasRemaining()) whole.putLong(random.next())
        whole.array().copyOf(bytes)
    }
}

/** CPU time that work took on its thread, and the part of it inside digests if that is known. */
internal class Costs(private val digestNs: (() -> Long)?) {
    var threadNs = 0L
        private set
    var digestsNs = 0L
        private set

    fun of(work: () -> Unit) {
        val digests = digestNs?.invoke() ?: 0
        val thread = PieceLibrary.threadCpuNs()
        work()
        threadNs = PieceLibrary.threadCpuNs() - thread
        digestsNs = (digestNs?.invoke() ?: 0) - digests
    }

    fun report(account: Account) {
        account.total(JS_THREAD.name, threadNs)
        if (digestNs != null) account.total(DIGEST.name, digestsNs)
    }
}

/** Kotlin alone: no script, no native library, bytes in heap arrays. */
internal class RawArm(
    private val pieces: List<ByteArray>,
    private val hasher: PieceHasher,
    time: DigestTime,
) : Arm {
    override val name = "raw"
    private val costs = Costs { time.totalNs }
    private val callNs = LongArray(pieces.size)
    private var items = 0L
    private var kept: List<ByteArray> = emptyList()

    /** One after the other, of the last iteration. */
    val digests: ByteArray get() = kept.fold(ByteArray(0)) { joined, digest -> joined + digest }

    override fun run(iterations: Int) = costs.of {
        items = 0
        repeat(iterations) { hashAll() }
    }

    private fun hashAll() {
        kept = pieces.mapIndexed { index, piece ->
            val begun = System.nanoTime()
            hasher.sha1(piece, piece.size).also { callNs[index] = System.nanoTime() - begun }
        }
        items += kept.size
    }

    override fun account(account: Account) {
        account.work("items", items)
        account.work("kept", kept.size.toLong())
        costs.report(account)
        account.calls(CALL_TIME.name, callNs.clone())
    }
}

/** The function `piece_NAME` of `native/hashing/quickjs/js/pieces.js`. */
internal class ScriptArm(
    override val name: String,
    private val host: PieceHost,
    digestNs: (() -> Long)?,
) : Arm {
    private val costs = Costs(digestNs)

    val digests: ByteArray get() = host.call("piece_${name}_digests") ?: ByteArray(0)

    /** Deletes the script's digests, so that those read later were made later. */
    fun forget() {
        host.call("piece_${name}_forget")
    }

    override fun run(iterations: Int) = costs.of {
        host.call("piece_$name", iterations)
    }

    override fun account(account: Account) {
        account.work("items", host.call("piece_${name}_hashed")?.decodeToString()?.toLong() ?: 0)
        account.work("kept", (digests.size / DIGEST_BYTES).toLong())
        costs.report(account)
        account.calls(CALL_TIME.name, durations(host.call("piece_${name}_calls")))
    }

    /** A script's numbers are doubles; a duration in whole nanoseconds fits. */
    private fun durations(bytes: ByteArray?): LongArray {
        val doubles = ByteBuffer.wrap(bytes ?: ByteArray(0)).order(ByteOrder.nativeOrder()).asDoubleBuffer()
        return LongArray(doubles.remaining()) { doubles.get(it).toLong() }
    }
}
