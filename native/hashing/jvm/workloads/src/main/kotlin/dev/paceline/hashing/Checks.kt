/**
 * The checks before any timing (I1): vectors through every arm's code, misuse that throws, a smoke
 * test of JNI.
 *
 * A check reports; it never throws.
 */
package dev.paceline.hashing

import dev.paceline.harness.Check
import dev.paceline.ledger.DirectBatch
import dev.paceline.ledger.LedgerPolicy
import dev.paceline.ledger.NativeDigests
import java.nio.ByteBuffer
import java.security.MessageDigest

private const val DIGEST_BYTES = NativeDigests.DIGEST_BYTES

/** FIPS 180-4 examples (NIST "SHA256.pdf"), CAVP's empty message, one as long as two digests. */
private val VECTORS = listOf(
    "" to "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "abc" to "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq" to
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    "a".repeat(64) to "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
    "a".repeat(1_000_000) to "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
)

/** Each vector is this often in one batch, so that every lane of every engine digests each. */
private const val COPIES = 17

internal fun checks(): List<Check> = listOf(sha256Vectors(), jniSmoke(), misuse())

/** More messages than two rounds of the widest lanes, each different and of as many blocks as real fingerprints. */
private val THREE_BLOCKS = List(2 * 16 + 4) { i -> "%03d".format(i).repeat(50) }
    .map { it to MessageDigest.getInstance("SHA-256").digest(it.toByteArray()).toHex() }

private fun sha256Vectors(): Check {
    // The longest alone, so that batches stay small.
    val wrong = wrongDigests(VECTORS.last().let(::listOf)) + wrongDigests(VECTORS.dropLast(1).let { all ->
        List(all.size * COPIES) { all[it % all.size] }
    }) + wrongDigests(THREE_BLOCKS) + wrongEqual(THREE_BLOCKS)
    val engines = NativeDigests.engines()
    val summary = "${VECTORS.size} vectors, every arm, engines ${engines.joinToString(" ")}"
    return Check("sha256_vectors", wrong.isEmpty(), if (wrong.isEmpty()) summary else "wrong: $wrong")
}

/** The arms, and engines forced one by one, whose digests of these vectors are not the published ones. */
private fun wrongDigests(vectors: List<Pair<String, String>>): List<String> {
    val input = LedgerInput(vectors.map { it.first.toByteArray() })
    val arms = listOfNotNull(
        fallbackArm(input),
        NativeEachArm(input),
        NativeArm("native", input, NativeDigests.BEST),
        NativeArrayArm(input),
        HasherArm("native_list", input, hasher(LedgerPolicy(minimumBatch = 1, warmupRounds = 0))),
        HasherArm("policy", input, hasher(LedgerPolicy.MEASURED)),
        if (whyFfmUnavailable() == null) FfmArm(input) else null,
    ) + NativeDigests.engines().map { name ->
        NativeArm(name, input, NativeDigests.engineNumber(name) ?: NativeDigests.BEST)
    }
    val expected = vectors.joinToString("") { it.second }
    return arms.filter { it.apply { run(1) }.digests().toHex() != expected }.map { it.name }
}

/** The only call that no arm uses: equally long messages in separate buffers. */
private fun wrongEqual(vectors: List<Pair<String, String>>): List<String> {
    val input = LedgerInput(vectors.map { it.first.toByteArray() })
    val messages = ByteBuffer.allocateDirect(input.bytes.size).put(0, input.bytes)
    val digests = ByteBuffer.allocateDirect(input.digestBytes)
    NativeDigests.digestEqual(messages, input.bytes.size / input.count, digests)
    val hex = ByteArray(input.digestBytes).also { digests.get(0, it) }.toHex()
    return if (hex == vectors.joinToString("") { it.second }) emptyList() else listOf("digestEqual")
}

/** The library is loaded and its symbols resolve, or this code would not run; every call works once. */
private fun jniSmoke(): Check {
    val batch = DirectBatch(1, 1).apply { add(ByteArray(1)) }
    val engine = NativeDigests.engineName(batch.digestNatively())
    return Check("jni_smoke", engine in NativeDigests.engines(), "one message: engine $engine")
}

/** Sizes and buffers that do not fit must throw, through each call. */
private fun misuse(): Check {
    val direct = ByteBuffer.allocateDirect(640)
    val digests = ByteBuffer.allocateDirect(320)
    val (messages, offsets, array) = Triple(ByteArray(64), intArrayOf(0, 32, 65), ByteArray(64))
    val calls = mapOf<String, () -> Unit>(
        "digests too short" to { NativeDigests.digestEqual(direct, 64, ByteBuffer.allocateDirect(288)) },
        "digests ragged" to { NativeDigests.digestEqual(direct, 64, ByteBuffer.allocateDirect(31)) },
        "heap buffer" to { NativeDigests.digestEqual(direct, 64, ByteBuffer.allocate(320)) },
        "read-only" to { NativeDigests.digestEqual(direct, 64, digests.asReadOnlyBuffer()) },
        "negative length" to { NativeDigests.digestEqual(direct, -1, digests) },
        "overlap" to { NativeDigests.digestEqual(direct, 64, direct) },
        "no such engine" to { NativeDigests.digestEqual(direct, 64, digests, 99) },
        "offset beyond" to { NativeDigests.digestArray(messages, offsets, 2, array) },
        "same array" to { NativeDigests.digestArray(messages, intArrayOf(0, 32), 1, messages) },
        "range beyond" to { NativeDigests.digestOne(messages, 33, 32, array, 0) },
        "place beyond" to { NativeDigests.digestOne(messages, 0, 32, array, 64 - DIGEST_BYTES + 1) },
    )
    val accepted = calls.filterValues { !throws(it) }.keys
    val summary = "${calls.size} wrong calls throw"
    return Check("jni_misuse", accepted.isEmpty(), if (accepted.isEmpty()) summary else "accepted: $accepted")
}

private fun throws(call: () -> Unit): Boolean = try {
    call()
    false
} catch (_: IllegalArgumentException) {
    true
} catch (_: IndexOutOfBoundsException) {
    true
}

private fun ByteArray.toHex(): String = joinToString("") { "%02x".format(it) }
