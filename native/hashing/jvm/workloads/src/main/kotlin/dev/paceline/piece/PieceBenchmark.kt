/**
 * `piece`: SHA-1 of 16 pieces, by every way from JavaScript to a digest.
 *
 * It shows what each copy, crossing and thread costs. Every arm hashes the same pieces and keeps
 * every digest; `arms_agree` erases them, runs every arm and compares with Kotlin alone. Loops are
 * not calibrated: one iteration is 16 pieces, milliseconds at best, and so the values of
 * `call_time` are single calls.
 */
package dev.paceline.piece

import dev.paceline.harness.Benchmark
import dev.paceline.harness.Check
import dev.paceline.harness.Context
import dev.paceline.harness.IntParam
import dev.paceline.harness.Prepared
import dev.paceline.harness.Protocol

/** Pieces of one iteration: what one call of `batch_16` takes. */
internal const val PIECES: Int = 16

/** The piece length of the original's download, in bytes. */
internal const val PIECE_BYTES: Int = 1024 * 1024

private val SCRIPT_ARMS = listOf(
    "seed", "noslice", "reuse", "direct", "batch_8", "batch_16", "async",
    "native", "native_multi_8", "native_multi_16", "native_multi", "async_native",
)

internal val PIECE = Benchmark(
    name = "piece",
    arms = listOf("raw") + SCRIPT_ARMS,
    params = listOf(IntParam("piece_bytes", listOf(PIECE_BYTES.toLong()), 1L..MOST_PIECE_BYTES)),
    metrics = listOf(JS_THREAD, DIGEST, CALL_TIME),
    prepare = ::prepare,
)

/** 16 of them, as Java arrays, as buffers of the script and as copies of both, must fit. */
internal const val MOST_PIECE_BYTES: Long = 4L * 1024 * 1024

/** One iteration per sample; see the head of this file. */
internal val ONE_ITERATION = Protocol(iterations = 1)

private fun prepare(context: Context): Prepared {
    val pieces = pieces(context.seed, PIECES, context.int("piece_bytes"))
    val time = DigestTime()
    val hasher = MessageDigestHasher(time, System.err::println)
    val threads = Runtime.getRuntime().availableProcessors()
    val host = PieceHost(hasher, crew = threads, workers = threads)
    pieces.forEach { host.give("piece_add", it) }
    val raw = RawArm(pieces, hasher, time)
    val scripts = SCRIPT_ARMS.map { ScriptArm(it, host) { time.totalNs + host.digestNs } }
    return Prepared(
        arms = listOf(raw) + scripts,
        itemsPerIteration = pieces.size.toLong(),
        bytesPerIteration = pieces.sumOf { it.size.toLong() },
        protocol = ONE_ITERATION,
        close = host::close,
        verify = { listOf(armsAgree(raw, scripts)) },
    )
}

internal fun armsAgree(raw: RawArm, scripts: List<ScriptArm>): Check {
    raw.run(1)
    val expected = raw.digests
    val differing = scripts.filterNot { arm ->
        arm.forget()
        arm.run(1)
        arm.digests.contentEquals(expected)
    }
    val detail = "${scripts.size} arms, ${expected.size / DIGEST_BYTES} pieces each, against Kotlin alone"
    val names = differing.map { it.name }
    return Check("arms_agree", names.isEmpty(), if (names.isEmpty()) detail else "$names differ: $detail")
}
