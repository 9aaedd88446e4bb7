/**
 * The fallback: the platform's SHA-256, with one reused instance and no allocation per message.
 *
 * Use an instance from one thread at a time, because [java.security.MessageDigest] is not thread-
 * safe.
 */
package dev.paceline.ledger

import java.nio.Buffer
import java.nio.ByteBuffer
import java.security.MessageDigest

class PlatformDigests {
    private val sha256 = MessageDigest.getInstance("SHA-256")

    /** Name and version of the provider. */
    val provider: String get() = sha256.provider.toString()

    /** Writes the digest of [bytes] bytes of [messages] from [from] on to `digests[to..to + 32]`. */
    fun digest(messages: ByteArray, from: Int, bytes: Int, digests: ByteArray, to: Int) {
        sha256.update(messages, from, bytes)
        sha256.digest(digests, to, NativeDigests.DIGEST_BYTES)
    }

    /** As above for the bytes between [from] and [until] of a buffer; its position and limit are moved. */
    internal fun digest(messages: ByteBuffer, from: Int, until: Int, digests: ByteArray, to: Int) {
        // As Buffer: since Java 9 ByteBuffer overrides both, with a return type that Android < 9 lacks.
        val place: Buffer = messages
        place.limit(until)
        place.position(from)
        sha256.update(messages)
        sha256.digest(digests, to, NativeDigests.DIGEST_BYTES)
    }
}
