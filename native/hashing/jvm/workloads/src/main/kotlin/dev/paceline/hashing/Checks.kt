/**
 * What must hold before a timing counts (I1): published vectors through both arms' code, and a smoke test of
 * JNI.
 *
 * Invariant: a check reports, it never throws.
 */
package dev.paceline.hashing

import dev.paceline.harness.Check
import java.nio.ByteBuffer
import java.security.MessageDigest

/** FIPS 180-4 examples (NIST "SHA256.pdf"), CAVP's empty message, one as long as a fingerprint. */
private val VECTORS = listOf(
    "" to "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "abc" to "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq" to
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    "a".repeat(64) to "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
    "a".repeat(1_000_000) to "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
)

internal fun checks(): List<Check> = listOf(sha256Vectors(), jniSmoke())

private fun sha256Vectors(): Check {
    val wrong = VECTORS.flatMap { (text, expected) ->
        val message = text.toByteArray()
        val digests = mapOf("fallback" to platformDigest(message), "native" to nativeDigest(message))
        digests.filterValues { it.toHex() != expected }.keys.map { "$it on ${message.size} bytes" }
    }
    val summary = "${VECTORS.size} vectors, both arms"
    return Check("sha256_vectors", wrong.isEmpty(), if (wrong.isEmpty()) summary else "wrong: $wrong")
}

/** The library is loaded and its symbols resolve (else we were not here); a wrong length must throw. */
private fun jniSmoke(): Check {
    val failures = mutableListOf<String>()
    val messages = ByteBuffer.allocateDirect(10 * MESSAGE_BYTES)
    for (bytes in listOf(0, 31, 9 * 32, 11 * 32)) {
        val digests = ByteBuffer.allocateDirect(bytes)
        if (!refuses(messages, digests)) failures += "digests of $bytes bytes accepted"
    }
    if (!refuses(messages, ByteBuffer.allocate(10 * 32))) failures += "heap buffer accepted"
    val summary = "engine ${NativeLibrary.engine()}; wrong lengths throw"
    return Check("jni_smoke", failures.isEmpty(), if (failures.isEmpty()) summary else "$failures")
}

private fun refuses(messages: ByteBuffer, digests: ByteBuffer): Boolean = try {
    NativeLibrary.digestBatch(messages, MESSAGE_BYTES, digests)
    false
} catch (_: IllegalArgumentException) {
    true
}

private fun platformDigest(message: ByteArray): ByteArray =
    MessageDigest.getInstance("SHA-256").digest(message)

private fun nativeDigest(message: ByteArray): ByteArray {
    val digest = ByteBuffer.allocateDirect(NativeLibrary.DIGEST_BYTES)
    NativeLibrary.digestBatch(ByteBuffer.allocateDirect(message.size).put(message), message.size, digest)
    return ByteArray(NativeLibrary.DIGEST_BYTES).also { digest.get(0, it) }
}

private fun ByteArray.toHex(): String = joinToString("") { "%02x".format(it) }
