/**
 * The two meters of a digest's duration: the benchmark's sum, and the original product's counters
 * with their log line.
 *
 * Both are safe for use by several threads.
 */
package dev.paceline.piece

import java.util.Locale
import java.util.concurrent.atomic.AtomicLong

/** The sum of all digests' durations. */
class DigestTime : DigestMeter {
    private val total = AtomicLong()

    val totalNs: Long get() = total.get()

    override fun begin(): Long = System.nanoTime()

    override fun end(begunNs: Long, bytes: Int) {
        total.addAndGet(System.nanoTime() - begunNs)
    }
}

/**
 * The original's counters (PolyfillBindings.kt), and every [everyNs] its line:
 *
 *     JSTorrent-Hash: Kotlin: 175 hashes, 175.0MB, avg 1575µs, max 4901µs, throughput 635MB/s
 *
 * One departure: the first period begins with the counters, so that the first hash prints nothing.
 */
class HashCounters(private val everyNs: Long, private val log: (String) -> Unit) : DigestMeter {
    private var hashes = 0L
    private var bytes = 0L
    private var timeNs = 0L
    private var longestNs = 0L
    private var loggedAtNs = System.nanoTime()

    override fun begin(): Long = System.nanoTime()

    @Synchronized
    override fun end(begunNs: Long, bytes: Int) {
        val now = System.nanoTime()
        val elapsed = now - begunNs
        hashes++
        this.bytes += bytes
        timeNs += elapsed
        longestNs = maxOf(longestNs, elapsed)
        if (now - loggedAtNs >= everyNs) report(now)
    }

    private fun report(now: Long) {
        val megabytes = bytes.toDouble() / BYTES_PER_MB
        val line = String.format(
            Locale.ROOT,
            "JSTorrent-Hash: Kotlin: %d hashes, %.1fMB, avg %dµs, max %dµs, throughput %.0fMB/s",
            hashes,
            megabytes,
            timeNs / hashes / NS_PER_US,
            longestNs / NS_PER_US,
            if (timeNs > 0) megabytes / (timeNs.toDouble() / NS_PER_S) else 0.0,
        )
        log(line)
        hashes = 0
        bytes = 0
        timeNs = 0
        longestNs = 0
        loggedAtNs = now
    }

    private companion object {
        /** The original's MB: 175 pieces of 1 MiB are its 175.0MB. */
        const val BYTES_PER_MB = 1024 * 1024
        const val NS_PER_US = 1_000
        const val NS_PER_S = 1_000_000_000
    }
}
