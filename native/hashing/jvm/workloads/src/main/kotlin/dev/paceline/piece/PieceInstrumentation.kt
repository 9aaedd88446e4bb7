/**
 * `piece_instrumentation`: what the seed's counters cost, on both sides of the crossing.
 *
 * Place in the journey: the arm `on` is the seed's path as the seed measured it, with a line of each side
 * in the log (stderr) every five seconds; `off` is the same path without. Invariant: the two differ in
 * counters and lines alone, so they have a host and a hasher each.
 */
package dev.paceline.piece

import dev.paceline.harness.Benchmark
import dev.paceline.harness.Context
import dev.paceline.harness.IntKnob
import dev.paceline.harness.IntParam
import dev.paceline.harness.Prepared

internal val PIECE_INSTRUMENTATION = Benchmark(
    name = "piece_instrumentation",
    arms = listOf("off", "on"),
    params = listOf(IntParam("piece_bytes", listOf(PIECE_BYTES.toLong()), 1L..MOST_PIECE_BYTES)),
    metrics = listOf(JS_THREAD, CALL_TIME),
    prepare = { context ->
        val everyMs = context.knobs.getValue(LOG_EVERY_MS.name).toInt()
        prepareInstrumentation(context, everyMs, System.err::println)
    },
)

/** How often each side prints its line: the seed's five seconds, unless a person wants to see one sooner. */
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
    val counting = MessageDigestHasher(HashCounters(everyMs * NS_PER_MS, log), log)
    val hosts = listOf(PieceHost(plain), PieceHost(counting))
    for (host in hosts) pieces.forEach { host.give("piece_add", it) }
    hosts[1].call("piece_instrument", everyMs)
    // No digest times: reading the clock around a digest is part of what is measured.
    val off = ScriptArm("off", hosts[0], pieces.size, digestNs = null)
    val on = ScriptArm("on", hosts[1], pieces.size, digestNs = null)
    val raw = RawArm(pieces, plain, DigestTime())
    return Prepared(
        arms = listOf(off, on),
        itemsPerIteration = pieces.size.toLong(),
        bytesPerIteration = pieces.sumOf { it.size.toLong() },
        protocol = ONE_ITERATION,
        close = { hosts.forEach { it.close() } },
        verify = { listOf(armsAgree(raw, listOf(off, on))) },
    )
}
