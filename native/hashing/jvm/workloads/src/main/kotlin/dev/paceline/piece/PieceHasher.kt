/**
 * The Kotlin side of hashing a piece: what the native library calls, and MessageDigest behind it.
 *
 * Usable from any thread, with one MessageDigest per thread. Nothing keeps a reference to the bytes
 * it was given.
 */
package dev.paceline.piece

import java.nio.ByteBuffer
import java.security.MessageDigest

/**
 * What a [PieceHost] calls from native code, on the thread that runs the script or on a worker.
 *
 * A direct buffer lies over memory of the JavaScript engine: it is valid until the call returns, and keeping
 * it, or a duplicate of it, is reading freed memory.
 */
interface PieceHasher {
    /** SHA-1 of the first [length] bytes. */
    fun sha1(data: ByteArray, length: Int): ByteArray

    fun sha1(data: ByteBuffer): ByteArray

    fun sha1Batch(pieces: Array<ByteArray>): Array<ByteArray>

    /** A line a script logs. */
    fun log(line: String)
}

/** What happens around each digest; the original's instrumentation is one. */
interface DigestMeter {
    /** When a digest begins; given back to [end]. */
    fun begin(): Long

    fun end(begunNs: Long, bytes: Int)

    /** Nothing, which is what the original's counters are compared with. */
    object None : DigestMeter {
        override fun begin(): Long = 0

        override fun end(begunNs: Long, bytes: Int) {}
    }
}

/** SHA-1 by the platform's MessageDigest, one reused per thread. */
class MessageDigestHasher(private val meter: DigestMeter, private val log: (String) -> Unit) : PieceHasher {
    private class OfThread {
        val sha1: MessageDigest = MessageDigest.getInstance("SHA-1")
        val chunk = ByteArray(CHUNK_BYTES)
    }

    private val ofThread = ThreadLocal.withInitial { OfThread() }

    override fun sha1(data: ByteArray, length: Int): ByteArray {
        val sha1 = ofThread.get().sha1
        val begun = meter.begin()
        sha1.update(data, 0, length)
        return sha1.digest().also { meter.end(begun, length) }
    }

    /**
     * Not `MessageDigest.update(ByteBuffer)`: the JDK's providers copy a direct buffer through an array they
     * choose the size of, by relative reads; ours costs half as much. See native/hashing/quickjs/README.md.
     */
    override fun sha1(data: ByteBuffer): ByteArray {
        val mine = ofThread.get()
        val bytes = data.capacity()
        val begun = meter.begin()
        var from = 0
        while (from < bytes) {
            val length = minOf(CHUNK_BYTES, bytes - from)
            data.get(from, mine.chunk, 0, length)
            mine.sha1.update(mine.chunk, 0, length)
            from += length
        }
        return mine.sha1.digest().also { meter.end(begun, bytes) }
    }

    override fun sha1Batch(pieces: Array<ByteArray>): Array<ByteArray> =
        Array(pieces.size) { sha1(pieces[it], pieces[it].size) }

    override fun log(line: String) = log.invoke(line)

    private companion object {
        /** In bytes. Measured from 512 to 65,536: best for pieces near the core and far from it (README). */
        const val CHUNK_BYTES = 1024
    }
}
