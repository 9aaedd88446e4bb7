/**
 * Digests many fingerprints, by the native library where it is faster and passed its tests, else by
 * the platform.
 *
 * Digests are the same on every path. A library that is missing, wrong or broken costs speed, never
 * correctness, and [LedgerHasher.status] says why. Any number of threads may share an instance, and
 * nothing is allocated per fingerprint.
 */
package dev.paceline.ledger

/**
 * When the native library is used.
 *
 * @param minimumBatch smaller batches go to the platform
 * @param warmupRounds native batches digested once, when the library is opened, before the first real one
 */
class LedgerPolicy(val minimumBatch: Int, val warmupRounds: Int) {
    init {
        require(minimumBatch >= 1) { "minimumBatch: $minimumBatch is less than 1" }
        require(warmupRounds >= 0) { "warmupRounds: $warmupRounds is negative" }
    }

    companion object {
        /**
         * Measured by `ledger_batch` on the CPUs it ran on: from this size on the library wins at every message
         * length, also as the drop-in; for fewer messages a slow crossing into it may cost more. One round
         * warms it up: native code is compiled already, only memory and caches are cold.
         */
        @JvmField
        val MEASURED = LedgerPolicy(minimumBatch = 8, warmupRounds = 1)

        /** The original product's policy: "2 000 odcisków" (fingerprints), "1 runda" (round). */
        @JvmField
        val SEED = LedgerPolicy(minimumBatch = 2_000, warmupRounds = 1)
    }
}

/**
 * What a [LedgerHasher] digests with, and why.
 *
 * @param native whether the library does, from [LedgerPolicy.minimumBatch] on
 * @param engine the library's engine for a batch that fills its lanes, or the platform's provider
 * @param reason why the library does not; empty when it does
 */
class LedgerStatus(val native: Boolean, val engine: String, val reason: String) {
    override fun toString() = if (native) "native, $engine" else "fallback, $engine: $reason"
}

class LedgerHasher private constructor(val policy: LedgerPolicy, val status: LedgerStatus) {
    private val smallest = if (status.native) policy.minimumBatch else Int.MAX_VALUE
    private val turns = object : ThreadLocal<Turn>() {
        override fun initialValue() = Turn()
    }

    /**
     * Writes the digest of message i to `digests[from + 32 * i…]`. The drop-in: messages may be anywhere
     * and are copied for the library.
     *
     * @throws IllegalArgumentException when [digests] is too small; then nothing is written
     */
    fun digestMessages(messages: List<ByteArray>, digests: ByteArray, from: Int = 0) {
        requireRoom(messages.size, digests, from)
        val turn = turns.get()
        if (messages.size < smallest) {
            turn.onPlatform(messages, digests, from)
        } else {
            turn.natively(messages, digests, from)
        }
    }

    /** Writes the digests of the [fingerprints]' canonical encodings, placed as by [digestMessages]. */
    fun digestFingerprints(fingerprints: List<Fingerprint>, digests: ByteArray, from: Int = 0) {
        requireRoom(fingerprints.size, digests, from)
        val turn = turns.get()
        if (fingerprints.size < smallest) {
            turn.encodedOnPlatform(fingerprints, digests, from)
        } else {
            turn.encodedNatively(fingerprints, digests, from)
        }
    }

    /** Digests a batch in place; [DirectBatch.digest] then returns the digests. */
    fun digest(batch: DirectBatch) {
        if (batch.count < smallest) turns.get().onPlatform(batch) else batch.digestNatively()
    }

    private fun requireRoom(count: Int, digests: ByteArray, from: Int) {
        val needed = count.toLong() * NativeDigests.DIGEST_BYTES
        require(from >= 0 && digests.size - from >= needed) {
            "digests: ${digests.size} bytes, where $count digests from $from need $needed"
        }
    }

    companion object {
        /** One warm-up round. */
        private const val WARM_UP_MESSAGES = 256
        private const val WARM_UP_BYTES = 150

        /**
         * Opens the library, tests it, and decides what digests from now on. Never fails: without a library
         * that passed, the platform digests, and [status] says why.
         */
        @JvmStatic
        @JvmOverloads
        fun open(source: LibrarySource, policy: LedgerPolicy = LedgerPolicy.MEASURED): LedgerHasher {
            val refusal = NativeLibrary.load(source)
            if (refusal != null) {
                return LedgerHasher(policy, LedgerStatus(false, PlatformDigests().provider, refusal))
            }
            if (policy.warmupRounds > 0) warmUp(policy.warmupRounds)
            return LedgerHasher(policy, LedgerStatus(true, NativeLibrary.engine, ""))
        }

        private fun warmUp(rounds: Int) {
            // Arrays, not a DirectBatch: a fresh JVM has neither loaded nor compiled that class.
            val messages = ByteArray(WARM_UP_MESSAGES * WARM_UP_BYTES)
            val digests = ByteArray(WARM_UP_MESSAGES * NativeDigests.DIGEST_BYTES)
            val offsets = IntArray(WARM_UP_MESSAGES + 1)
            for (i in offsets.indices) offsets[i] = i * WARM_UP_BYTES
            for (round in 0 until rounds) {
                NativeDigests.digestArray(messages, offsets, WARM_UP_MESSAGES, digests)
            }
        }
    }
}
