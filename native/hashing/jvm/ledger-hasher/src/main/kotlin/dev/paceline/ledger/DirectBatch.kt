/**
 * Messages in one block of direct memory, where the native library digests them without a copy.
 *
 *     messages, one after the other │ offsets, n + 1 ints │ digests, n × 32 bytes
 *
 * Only [add] writes offsets, so they ascend and stay within the messages. Use an instance from one
 * thread at a time.
 */
package dev.paceline.ledger

import java.nio.Buffer
import java.nio.ByteBuffer
import java.nio.ByteOrder

/** Alignment of the offsets: a cache line, so that messages and offsets do not share one. */
private const val ALIGNMENT = 64
private const val RAGGED = -1

/** Holds up to [mostMessages] messages with [mostBytes] bytes in total; made once, filled and digested often. */
class DirectBatch(private val mostBytes: Int, private val mostMessages: Int) {
    private val offsetsFrom: Int
    private val digestsFrom: Int
    private val memory: ByteBuffer

    /** The address of the memory; 0 until the native library was asked for it. */
    private var address = 0L

    /** Length of every message while all are equal, else -1. */
    private var equalBytes = 0

    /** The number of messages. */
    var count: Int = 0
        private set

    init {
        require(mostBytes >= 0) { "mostBytes: $mostBytes is negative" }
        require(mostMessages >= 0) { "mostMessages: $mostMessages is negative" }
        val offsets = (mostBytes.toLong() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT
        val digests = offsets + (mostMessages + 1L) * Int.SIZE_BYTES
        val total = digests + mostMessages.toLong() * NativeDigests.DIGEST_BYTES
        require(total <= Int.MAX_VALUE) { "$mostMessages messages of $mostBytes bytes need $total bytes" }
        offsetsFrom = offsets.toInt()
        digestsFrom = digests.toInt()
        memory = ByteBuffer.allocateDirect(total.toInt()).order(ByteOrder.nativeOrder())
    }

    private fun end(): Int = memory.getInt(offsetsFrom + count * Int.SIZE_BYTES)

    /** Empties it. */
    fun clear() {
        count = 0
    }

    /**
     * Copies a message to the end.
     *
     * @return false if it does not fit; then nothing is changed
     * @throws IndexOutOfBoundsException when the range is not inside [message]
     */
    fun add(message: ByteArray, from: Int = 0, bytes: Int = message.size - from): Boolean {
        val at = end()
        if (count == mostMessages || bytes > mostBytes - at) return false
        (memory as Buffer).position(at)
        memory.put(message, from, bytes)
        equalBytes = if (count == 0 || equalBytes == bytes) bytes else RAGGED
        count++
        memory.putInt(offsetsFrom + count * Int.SIZE_BYTES, at + bytes)
        return true
    }

    /** Copies the last computed digest of message [i] to `digests[to..to + 32]`. */
    fun digest(i: Int, digests: ByteArray, to: Int = 0) = digests(i, 1, digests, to)

    /** Copies all digests to `digests[to…]`. */
    fun digests(digests: ByteArray, to: Int = 0) = digests(0, count, digests, to)

    private fun digests(first: Int, number: Int, digests: ByteArray, to: Int) {
        if (first < 0 || first + number > count) throw IndexOutOfBoundsException("message $first of $count")
        (memory as Buffer).position(digestsFrom + first * NativeDigests.DIGEST_BYTES)
        memory.get(digests, to, number * NativeDigests.DIGEST_BYTES)
    }

    /** Overwrites all digests with zeros, so that a check can see that they were written. */
    fun eraseDigests() {
        for (i in digestsFrom until digestsFrom + count * NativeDigests.DIGEST_BYTES) memory.put(i, 0)
    }

    /** One native call; returns the number of the engine. The library must be loaded. */
    fun digestNatively(engine: Int = NativeDigests.BEST): Int {
        if (address == 0L) address = NativeDigests.address0(memory)
        val ragged = equalBytes == RAGGED
        val offsets = if (ragged) offsetsFrom else -1
        val bytes = if (ragged) 0 else equalBytes
        return NativeDigests.digestAt0(memory, address, end(), offsets, bytes, digestsFrom, count, engine)
    }

    /** Digests message by message by the platform; [digest] is a buffer for one digest. */
    internal fun digestOnPlatform(platform: PlatformDigests, digest: ByteArray) {
        val view: Buffer = memory
        for (i in 0 until count) {
            val from = memory.getInt(offsetsFrom + i * Int.SIZE_BYTES)
            val until = memory.getInt(offsetsFrom + (i + 1) * Int.SIZE_BYTES)
            platform.digest(memory, from, until, digest, 0)
            view.limit(view.capacity())
            view.position(digestsFrom + i * NativeDigests.DIGEST_BYTES)
            memory.put(digest, 0, NativeDigests.DIGEST_BYTES)
        }
    }
}
