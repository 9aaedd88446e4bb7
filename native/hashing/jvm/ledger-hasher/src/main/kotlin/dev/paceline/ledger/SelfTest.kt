/**
 * The smoke check of a library that was just loaded: published digests through every call.
 *
 * Invariants: it needs no other implementation of SHA-256 and no lambda, and runs well uncompiled, since
 * every cold start pays for it; it fills more than two rounds of every engine's lanes, with messages of
 * different lengths and, for the kernels that digest equal numbers of blocks, with equally long ones.
 */
package dev.paceline.ledger

import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.Arrays

internal class SelfTest {
    private val messages: ByteArray
    private val offsets = IntArray(COUNT + 1)
    private val expected = ByteArray(COUNT * DIGEST_BYTES)

    /** The engine that the library chose. */
    var engine: Int = NativeDigests.BEST
        private set

    init {
        val texts = arrayOfNulls<ByteArray>(TEXTS.size)
        var bytes = 0
        for (i in TEXTS.indices) {
            val text = TEXTS[i].toByteArray()
            texts[i] = text
            bytes += text.size
            unhex(DIGESTS[i], expected, i * DIGEST_BYTES)
        }
        messages = ByteArray(bytes * COPIES)
        for (i in 0 until COUNT) {
            val text = texts[i % TEXTS.size]!!
            System.arraycopy(text, 0, messages, offsets[i], text.size)
            offsets[i + 1] = offsets[i] + text.size
        }
        val period = TEXTS.size * DIGEST_BYTES
        for (copy in 1 until COPIES) System.arraycopy(expected, 0, expected, copy * period, period)
    }

    /** Null when every call gave every digest, else the first that did not. */
    fun failure(): String? = array() ?: direct() ?: oneByOne() ?: batch() ?: equal()

    private fun array(): String? {
        val digests = ByteArray(expected.size)
        engine = NativeDigests.digestArray(messages, offsets, COUNT, digests)
        return difference("digestArray", digests)
    }

    private fun direct(): String? {
        val places = ByteBuffer.allocateDirect(offsets.size * Int.SIZE_BYTES).order(ByteOrder.nativeOrder())
        places.asIntBuffer().put(offsets)
        val input = ByteBuffer.allocateDirect(messages.size)
        input.put(messages)
        val output = ByteBuffer.allocateDirect(expected.size)
        NativeDigests.digestRagged(input, places, output)
        val digests = ByteArray(expected.size)
        output.get(digests)
        return difference("digestRagged", digests)
    }

    /** Once through the texts: this call knows no lanes. */
    private fun oneByOne(): String? {
        val digests = expected.copyOf()
        for (i in TEXTS.indices) {
            Arrays.fill(digests, i * DIGEST_BYTES, (i + 1) * DIGEST_BYTES, 0)
            val bytes = offsets[i + 1] - offsets[i]
            NativeDigests.digestOne(messages, offsets[i], bytes, digests, i * DIGEST_BYTES)
        }
        return difference("digestOne", digests)
    }

    /** The same messages by [DirectBatch]'s own call. */
    private fun batch(): String? {
        val batch = DirectBatch(messages.size, COUNT)
        for (i in 0 until COUNT) batch.add(messages, offsets[i], offsets[i + 1] - offsets[i])
        batch.digestNatively()
        val digests = ByteArray(expected.size)
        batch.digests(digests)
        return difference("digestAt", digests)
    }

    /** Equally long messages of three blocks, two by turns so that exchanged lanes are seen. */
    private fun equal(): String? {
        val long = arrayOf((TEXTS[2] + TEXTS[3]).toByteArray(), (TEXTS[3] + TEXTS[2]).toByteArray())
        val bytes = long[0].size
        val input = ByteBuffer.allocateDirect(COUNT * bytes)
        val batch = DirectBatch(COUNT * bytes, COUNT)
        for (i in 0 until COUNT) {
            batch.add(long[i % 2])
            input.put(long[i % 2])
            unhex(LONG_DIGESTS[i % 2], expected, i * DIGEST_BYTES)
        }
        val digests = ByteArray(expected.size)
        batch.digestNatively()
        batch.digests(digests)
        val difference = difference("digestAt, equally long,", digests)
        if (difference != null) return difference
        val output = ByteBuffer.allocateDirect(expected.size)
        NativeDigests.digestEqual(input, bytes, output)
        output.get(digests)
        return difference("digestEqual", digests)
    }

    private fun difference(call: String, digests: ByteArray): String? {
        if (Arrays.equals(digests, expected)) return null
        var at = 0
        while (digests[at] == expected[at]) at++
        return "$call gave a wrong digest of message ${at / DIGEST_BYTES}"
    }

    private fun unhex(hex: String, to: ByteArray, at: Int) {
        for (i in 0 until DIGEST_BYTES) {
            val high = Character.digit(hex[2 * i], 16)
            to[at + i] = (high shl 4 or Character.digit(hex[2 * i + 1], 16)).toByte()
        }
    }

    private companion object {
        const val DIGEST_BYTES = NativeDigests.DIGEST_BYTES

        /** FIPS 180-4 examples (NIST "SHA256.pdf", "SHA2_Additional.pdf") and CAVP's empty message. */
        val TEXTS = arrayOf(
            "",
            "abc",
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn" +
                "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
        )
        val DIGESTS = arrayOf(
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
        )

        /** Of the last two texts, one after the other, in either order: computed once with `sha256sum`. */
        val LONG_DIGESTS = arrayOf(
            "431ce2cd7a73aaba43d26b03a389fc7c24647cefb4d4d5380b8d2e114dafdcf0",
            "7244ee390e7a4d2ea58670d37e5dfb27d707ea903eed5f2a8b8af8812e495159",
        )

        /** Each text that often: 36 messages, two full rounds of 16 lanes and a rest. */
        const val COPIES = 9
        const val COUNT = 4 * COPIES
    }
}
