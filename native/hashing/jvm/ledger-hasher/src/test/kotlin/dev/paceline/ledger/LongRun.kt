/**
 * A child process: many single calls and batches of every shape; prints resident bytes before and
 * after.
 */
package dev.paceline.ledger

import java.io.File
import java.nio.ByteBuffer
import kotlin.random.Random

private const val PAGE_BYTES = 4096

fun main(args: Array<String>) {
    val (singles, batches) = args[1].toInt() to args[2].toInt()
    val policy = LedgerPolicy(minimumBatch = 1, warmupRounds = 1)
    val hasher = LedgerHasher.open(LibrarySource.AtPath(args[0]), policy)
    check(hasher.status.native) { hasher.status.reason }
    val calls = Calls(hasher)
    // As many as are timed: the compiler and the collector have grown to their size by then.
    calls.singles(minOf(singles, 1_000_000))
    calls.batches(minOf(batches, 20_000))
    val before = residentBytes()
    calls.singles(singles)
    calls.batches(batches)
    println("$before ${residentBytes()}")
}

private fun residentBytes(): Long {
    System.gc()
    val statm = File("/proc/self/statm")
    return if (statm.exists()) statm.readText().split(' ')[1].toLong() * PAGE_BYTES else 0
}

private class Calls(private val hasher: LedgerHasher) {
    private val messages = List(16) { Random(it).nextBytes(100 + it) }
    private val entries = List(16) { fingerprint(Random(it)) }
    private val bytes = joined(messages)
    private val offsets = offsetsOf(messages)
    private val digests = ByteArray(16 * 32)
    private val long = ByteArray(2_000)
    private val direct = DirectBatch(2_000, 16).apply { messages.forEach { add(it) } }
    private val input = ByteBuffer.allocateDirect(640)
    private val output = ByteBuffer.allocateDirect(320)

    fun singles(number: Int) {
        for (i in 0 until number) NativeDigests.digestOne(bytes, i and 63, 40, digests, 0)
        for (i in 0 until number / 100) NativeDigests.digestOne(long, 0, long.size, digests, 0)
    }

    fun batches(number: Int) {
        for (i in 0 until number) {
            when (i % 6) {
                0 -> NativeDigests.digestArray(bytes, offsets, 16, digests)
                1 -> hasher.digestMessages(messages, digests)
                2 -> hasher.digestFingerprints(entries, digests)
                3 -> hasher.digest(direct)
                4 -> NativeDigests.digestEqual(input, 64, output)
                else -> if (i % 60 == 5) refused()
            }
        }
    }

    /** Exceptions leak nothing either. */
    private fun refused() {
        for (call in listOf(
            { NativeDigests.digestArray(bytes, offsets, 17, digests) },
            { NativeDigests.digestEqual(input, 65, output) },
            { NativeDigests.digestOne(bytes, 0, 1_000_000, digests, 0) },
            { Provoked.panic() },
        )) check(runCatching { call() }.isFailure)
    }
}
