/**
 * One thread's part of a [LedgerHasher]: memory that is filled with messages, digested, and filled
 * again.
 *
 * An instance belongs to one thread; after its first use nothing is allocated.
 */
package dev.paceline.ledger

// These are not in a companion object, because a cold start would have to load its class.

private const val FEW_MESSAGES = 16

/** Room for [FEW_MESSAGES] entries, or messages of 256 bytes. */
private const val FEW_BYTES = 4 * 1024

/** Many rounds of every engine's lanes, so that the call's cost per message does not matter. */
private const val MOST_MESSAGES = 256

/** Room for [MOST_MESSAGES] entries, and small enough for the CPU's nearer caches. */
private const val ROOM_BYTES = 64 * 1024

internal class Turn {
    private var made: PlatformDigests? = null

    /** Made when first needed: a native cold start does not pay for looking up a provider. */
    private val platform: PlatformDigests get() = made ?: PlatformDigests().also { made = it }
    private val encoder = FingerprintEncoder(ROOM_BYTES)
    private val offsets = IntArray(MOST_MESSAGES + 1)
    private val digest = ByteArray(NativeDigests.DIGEST_BYTES)

    /** Direct memory for few messages, because passing three arrays would cost more than digesting two messages. */
    private var madeFew: DirectBatch? = null
    private val few: DirectBatch get() = madeFew ?: DirectBatch(FEW_BYTES, FEW_MESSAGES).also { madeFew = it }

    fun onPlatform(messages: List<ByteArray>, digests: ByteArray, from: Int) {
        val platform = platform
        for (i in messages.indices) {
            val message = messages[i]
            platform.digest(message, 0, message.size, digests, from + i * NativeDigests.DIGEST_BYTES)
        }
    }

    fun natively(messages: List<ByteArray>, digests: ByteArray, from: Int) {
        if (messages.size <= FEW_MESSAGES) {
            val few = few
            if (holdsAll(few, messages)) {
                few.digestNatively()
                return few.digests(digests, from)
            }
        }
        var done = 0
        while (done < messages.size) {
            val to = from + done * NativeDigests.DIGEST_BYTES
            val count = fill(messages, done)
            if (count == 0) {
                // Longer than the memory: a single stream, for which the platform is as fast.
                val message = messages[done++]
                platform.digest(message, 0, message.size, digests, to)
            } else {
                NativeDigests.digestArray(encoder.bytes, offsets, count, digests, to)
                done += count
            }
        }
    }

    /** Copies all messages to direct memory; false if they do not fit. */
    private fun holdsAll(few: DirectBatch, messages: List<ByteArray>): Boolean {
        few.clear()
        for (i in messages.indices) {
            if (!few.add(messages[i])) return false
        }
        return true
    }

    /** Copies messages from [first] on until the memory is full; returns how many. */
    private fun fill(messages: List<ByteArray>, first: Int): Int {
        val most = minOf(messages.size - first, MOST_MESSAGES)
        var end = 0
        for (i in 0 until most) {
            val message = messages[first + i]
            if (message.size > ROOM_BYTES - end) return i
            System.arraycopy(message, 0, encoder.bytes, end, message.size)
            end += message.size
            offsets[i + 1] = end
        }
        return most
    }

    fun encodedOnPlatform(fingerprints: List<Fingerprint>, digests: ByteArray, from: Int) {
        val platform = platform
        for (i in fingerprints.indices) {
            val bytes = encoder.encode(fingerprints[i], 0)
            platform.digest(encoder.bytes, 0, bytes, digests, from + i * NativeDigests.DIGEST_BYTES)
        }
    }

    fun encodedNatively(fingerprints: List<Fingerprint>, digests: ByteArray, from: Int) {
        if (fingerprints.size <= FEW_MESSAGES) {
            val few = few
            few.clear()
            for (i in fingerprints.indices) few.add(encoder.bytes, 0, encoder.encode(fingerprints[i], 0))
            few.digestNatively()
            return few.digests(digests, from)
        }
        var done = 0
        while (done < fingerprints.size) {
            val count = minOf(fingerprints.size - done, MOST_MESSAGES)
            var end = 0
            for (i in 0 until count) {
                end = encoder.encode(fingerprints[done + i], end)
                offsets[i + 1] = end
            }
            val to = from + done * NativeDigests.DIGEST_BYTES
            NativeDigests.digestArray(encoder.bytes, offsets, count, digests, to)
            done += count
        }
    }

    fun onPlatform(batch: DirectBatch) = batch.digestOnPlatform(platform, digest)
}
