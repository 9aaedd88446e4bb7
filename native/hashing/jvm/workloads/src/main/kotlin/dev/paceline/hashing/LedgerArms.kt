/**
 * The arms that digest a batch of fingerprints.
 *
 * All do equal work: they read the same messages and write every digest to memory of their own,
 * arrays for the JVM and direct memory for the library.
 */
package dev.paceline.hashing

import dev.paceline.harness.Account
import dev.paceline.harness.Arm
import dev.paceline.ledger.DirectBatch
import dev.paceline.ledger.LedgerHasher
import dev.paceline.ledger.LibrarySource
import dev.paceline.ledger.NativeDigests

private const val DIGEST_BYTES = NativeDigests.DIGEST_BYTES

/** An arm whose digests can be erased and read. */
abstract class LedgerArm(override val name: String, private val count: Int) : Arm {
    private var iterations = 0L
    private val digest = ByteArray(DIGEST_BYTES)

    /** A copy of what the last run wrote. */
    fun digests(): ByteArray = ByteArray(count * DIGEST_BYTES).also { all ->
        for (i in 0 until count) copyDigest(i, digest).also { digest.copyInto(all, i * DIGEST_BYTES) }
    }

    /** Copies digest [i] of the last run. */
    protected abstract fun copyDigest(i: Int, to: ByteArray)

    abstract fun erase()

    /** Called by `run`, which every arm implements itself, so that the compiler knows the loop's target. */
    protected fun ran(iterations: Int) {
        this.iterations = iterations.toLong()
    }

    /**
     * Counts the digests after the region and erases them for the next one, so that an arm that skips
     * messages is noticed. Only the last iteration is counted, because counting in between would be
     * timed.
     */
    override fun account(account: Account) {
        val written = written()
        account.work("items", iterations * written)
        account.work("kept", iterations * written)
        erase()
    }

    /** No digest is all zeros, which is what [erase] leaves. */
    private fun written(): Long {
        var written = 0L
        for (i in 0 until count) {
            copyDigest(i, digest)
            if (!isErased(digest)) written++
        }
        return written
    }

    private fun isErased(digest: ByteArray): Boolean {
        for (byte in digest) if (byte != ZERO) return false
        return true
    }

    private companion object {
        const val ZERO: Byte = 0
    }
}

/** An arm that writes to an array. */
abstract class ArrayArm(name: String, count: Int) : LedgerArm(name, count) {
    protected val digests: ByteArray = ByteArray(count * DIGEST_BYTES)

    override fun copyDigest(i: Int, to: ByteArray) {
        System.arraycopy(digests, i * DIGEST_BYTES, to, 0, DIGEST_BYTES)
    }

    override fun erase() = digests.fill(0)
}

/** `native_each`: one JNI call per message, as in the original product. */
class NativeEachArm(private val input: LedgerInput, name: String = "native_each") :
    ArrayArm(name, input.count) {
    override fun run(iterations: Int) {
        repeat(iterations) { once() }
        ran(iterations)
    }

    private fun once() {
        val offsets = input.offsets
        for (i in 0 until input.count) {
            val bytes = offsets[i + 1] - offsets[i]
            NativeDigests.digestOne(input.bytes, offsets[i], bytes, digests, i * DIGEST_BYTES)
        }
    }
}

/** `native_array`: one call per batch over the JVM's own arrays, held in place. */
class NativeArrayArm(private val input: LedgerInput) : ArrayArm("native_array", input.count) {
    override fun run(iterations: Int) {
        repeat(iterations) { NativeDigests.digestArray(input.bytes, input.offsets, input.count, digests) }
        ran(iterations)
    }
}

/** `native_list`, `policy`: a [LedgerHasher] over messages anywhere, the drop-in. */
class HasherArm(name: String, private val input: LedgerInput, private val hasher: LedgerHasher) :
    ArrayArm(name, input.count) {
    override fun run(iterations: Int) {
        repeat(iterations) { hasher.digestMessages(input.messages, digests) }
        ran(iterations)
    }
}

/** `fallback`: a product without the library, with the platform's SHA-256 reused per thread. */
fun fallbackArm(input: LedgerInput): LedgerArm =
    HasherArm("fallback", input, LedgerHasher.open(LibrarySource.None))

/** An arm over direct memory. */
abstract class DirectArm(name: String, protected val batch: DirectBatch) : LedgerArm(name, batch.count) {
    override fun copyDigest(i: Int, to: ByteArray) = batch.digest(i, to)

    override fun erase() = batch.eraseDigests()
}

/** `native`, `native_sha_ni`: one call per batch over contiguous direct memory. */
class NativeArm(name: String, input: LedgerInput, private val engine: Int) : DirectArm(name, input.direct()) {
    override fun run(iterations: Int) {
        repeat(iterations) { batch.digestNatively(engine) }
        ran(iterations)
    }
}
