/**
 * The smoke check of a library that was just loaded: published digests through every call.
 *
 * Invariants: it needs no other implementation of SHA-256 and no lambda, and runs well uncompiled, since
 * every cold start pays for it; it fills more than two rounds of every engine's lanes with messages of
 * different lengths.
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
    fun failure(): String? = array() ?: direct() ?: oneByOne()

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

        /** Each text that often: 36 messages, two full rounds of 16 lanes and a rest. */
        const val COPIES = 9
        const val COUNT = 4 * COPIES
    }
}
