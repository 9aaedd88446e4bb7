/**
 * `piece_instrumentation`: what the original product's counters cost, on both sides of the
 * crossing.
 *
 *     off      the path without counters
 *     on       with counters, and a log line of each side (stderr) every five seconds
 *     lines    both sides make a log line for every call; Kotlin drops them
 *
 * A timed region takes about 16 ms, so one in 300 holds a log line: `on` measures the counting. A
 * pair of lines costs (`lines` - `on`) / 16; a pair every five seconds costs that share of five
 * seconds. Each arm has its own host and hasher, so arms differ in counters and lines alone.
 */
package dev.paceline.piece

import dev.paceline.harness.Benchmark
import dev.paceline.harness.Context
import dev.paceline.harness.IntKnob
import dev.paceline.harness.IntParam
import dev.paceline.harness.Prepared

private val PIECE_INSTRUMENTATION_ARMS = listOf("off", "on", "lines")

internal val PIECE_INSTRUMENTATION = Benchmark(
    name = "piece_instrumentation",
    arms = PIECE_INSTRUMENTATION_ARMS,
    params = listOf(IntParam("piece_bytes", listOf(PIECE_BYTES.toLong()), 1L..MOST_PIECE_BYTES)),
    metrics = listOf(JS_THREAD, CALL_TIME),
    prepare = { context ->
        val everyMs = context.knobs.getValue(LOG_EVERY_MS.name).toInt()
        prepareInstrumentation(context, everyMs, System.err::println)
    },
)

/** How often each side prints its line: the original's five seconds, unless a person wants to see one sooner. */
internal val LOG_EVERY_MS = IntKnob(
    name = "log_every_ms",
    range = 1L..60_000L,
    default = 5_000,
    demonstration = false,
    what = "the counters of piece_instrumentation print a line this often",
)

private const val NS_PER_MS = 1_000_000L

/** With the period between two lines, and where they go. */
internal fun prepareInstrumentation(context: Context, everyMs: Int, log: (String) -> Unit): Prepared {
    val pieces = pieces(context.seed, PIECES, context.int("piece_bytes"))
    val plain = MessageDigestHasher(DigestMeter.None, log)
    val dropped: (String) -> Unit = {}
    val every = mapOf("on" to everyMs, "lines" to 0)
    val hashers = listOf(
        plain,
        MessageDigestHasher(HashCounters(everyMs * NS_PER_MS, log), log),
        MessageDigestHasher(HashCounters(0, dropped), dropped),
    )
    val hosts = hashers.map { PieceHost(it) }
    for (host in hosts) pieces.forEach { host.give("piece_add", it) }
    // No digest times: reading the clock around a digest is part of what is measured.
    val arms = PIECE_INSTRUMENTATION_ARMS.zip(hosts) { name, host ->
        every[name]?.let { host.call("piece_instrument", it) }
        ScriptArm(name, host, digestNs = null)
    }
    val raw = RawArm(pieces, plain, DigestTime())
    return Prepared(
        arms = arms,
        itemsPerIteration = pieces.size.toLong(),
        bytesPerIteration = pieces.sumOf { it.size.toLong() },
        protocol = ONE_ITERATION,
        close = { hosts.forEach { it.close() } },
        verify = { listOf(armsAgree(raw, arms)) },
    )
}
