/**
 * `piece_stream`: a download without storage. Blocks of 16 KiB are assembled to pieces of 1 MiB,
 * hashed, marked as verified and dropped.
 *
 * It measures what hashing costs the JS thread while it has other work; `suite.toml` derives its
 * share of a thread at a download's rate. `piece_unverified` skips verification to show what that
 * would gain. It counts no hashes, so the audit calls its work unequal and no arm is compared with
 * it. A stream with an unverified piece fails.
 */
package dev.paceline.piece

import dev.paceline.harness.Account
import dev.paceline.harness.Arm
import dev.paceline.harness.Benchmark
import dev.paceline.harness.Check
import dev.paceline.harness.Context
import dev.paceline.harness.IntParam
import dev.paceline.harness.Prepared

/** Pieces of a round by default. The original's download of 1 GB has 1,012, which may be asked for. */
private const val DEFAULT_PIECES = 64L
private const val MOST_PIECES = 1024L

private val STREAM_ARMS =
    listOf("seed", "direct", "native_multi", "native_multi_pool", "async_native", "async_native_pool")

internal val PIECE_STREAM = stream("piece_stream", STREAM_ARMS)
internal val PIECE_UNVERIFIED = stream("piece_unverified", listOf("seed", "skip_verification"))

private fun stream(name: String, arms: List<String>) = Benchmark(
    name = name,
    arms = arms,
    params = listOf(IntParam("pieces", listOf(DEFAULT_PIECES), 1L..MOST_PIECES)),
    metrics = listOf(JS_THREAD, DIGEST),
    prepare = { context -> prepare(context, arms) },
)

private fun prepare(context: Context, names: List<String>): Prepared {
    val count = context.int("pieces")
    val time = DigestTime()
    val hasher = MessageDigestHasher(time, System.err::println)
    val threads = Runtime.getRuntime().availableProcessors()
    val host = PieceHost(hasher, crew = threads, workers = threads)
    for (piece in pieces(context.seed, PIECES, PIECE_BYTES)) {
        host.give("stream_add", piece + hasher.sha1(piece, piece.size))
    }
    val arms = names.map { StreamArm(it, host, count) { time.totalNs + host.digestNs } }
    return Prepared(
        arms = arms,
        itemsPerIteration = count.toLong(),
        bytesPerIteration = count.toLong() * PIECE_BYTES,
        protocol = ONE_ITERATION,
        close = host::close,
        verify = { listOf(streamsVerify(arms, count)) },
    )
}

private fun streamsVerify(arms: List<StreamArm>, count: Int): Check {
    val missed = arms.filter { it.run(1); it.verified != count }.map { "${it.name} verified ${it.verified}" }
    val detail = "$count pieces: " + if (missed.isEmpty()) "all verified" else "$missed"
    return Check("stream_verifies", missed.isEmpty(), detail)
}

/** The function `stream_NAME` of `native/hashing/quickjs/js/stream.js`. */
internal class StreamArm(
    override val name: String,
    private val host: PieceHost,
    private val pieces: Int,
    digestNs: () -> Long,
) : Arm {
    private val costs = Costs(digestNs)
    private var done = Done(0, 0, 0)

    /** Pieces of the last run that were marked verified. */
    val verified: Int get() = done.verified.toInt()

    override fun run(iterations: Int) {
        costs.of { repeat(iterations) { host.call("stream_$name", pieces) } }
        // Here and not in `account`: the arms of a round share a script. Microseconds beside a stream's tens
        // of milliseconds, and the same for every arm.
        done = done()
    }

    private fun done(): Done {
        val counts = host.call("stream_done")?.decodeToString().orEmpty().split(' ').map { it.toLong() }
        return Done(assembled = counts[0], hashed = counts[1], verified = counts[2])
    }

    override fun account(account: Account) {
        account.work("items", done.assembled)
        account.work("hashed", done.hashed)
        costs.report(account)
    }

    /** As the script counted. */
    private class Done(val assembled: Long, val hashed: Long, val verified: Long)
}
