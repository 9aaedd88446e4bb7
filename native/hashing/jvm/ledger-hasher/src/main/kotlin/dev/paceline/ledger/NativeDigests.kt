/**
 * The native library's calls, one for each layout of messages; `native/hashing/jni` is the other
 * side.
 *
 * Nothing is called before [NativeLibrary] accepted the library. Sizes and buffers that do not fit
 * are exceptions, never a crash, and a refused call writes nothing. Falling back is the part of
 * [LedgerHasher].
 */
package dev.paceline.ledger

import java.nio.ByteBuffer

/**
 * Every call digests with SHA-256. No other thread may write what a call reads, or touch what it writes,
 * until it returns.
 *
 * `engine` is a number of [engineNumber]; with [BEST] the library chooses for the CPU and the batch. Batches
 * return the number of the engine that digested most of them.
 */
object NativeDigests {
    const val DIGEST_BYTES: Int = 32

    /** The library chooses the engine. */
    const val BEST: Int = 0

    /** Engines this CPU can run, by number. */
    private fun numbered(): Map<Int, String> = engines0().split(' ')
        .withIndex().associate { (i, name) -> i + 1 to name }.filterValues { !it.startsWith('-') }

    /** Engines this CPU can run. */
    fun engines(): List<String> = numbered().values.toList()

    /** The number of an engine, null when this CPU cannot run it. */
    fun engineNumber(name: String): Int? = numbered().entries.firstOrNull { it.value == name }?.key

    /** @throws IllegalArgumentException when no engine has the number */
    fun engineName(number: Int): String = engineName0(number)

    /**
     * Digests equally long messages, one after the other, over whole capacities: `messages.capacity() = n
     * * messageBytes`, `digests.capacity() = n * 32`. Positions and limits are neither used nor moved.
     *
     * @throws IllegalArgumentException when sizes do not fit, a buffer is not direct, `digests` is
     * read-only, or the buffers overlap
     */
    fun digestEqual(messages: ByteBuffer, messageBytes: Int, digests: ByteBuffer, engine: Int = BEST): Int {
        refuseReadOnly(digests)
        return digestEqual0(messages, messageBytes, digests, engine)
    }

    /**
     * Digests messages between consecutive [offsets], `n + 1` ints in the CPU's byte order; sizes
     * and refusals as in [digestEqual].
     */
    fun digestRagged(
        messages: ByteBuffer,
        offsets: ByteBuffer,
        digests: ByteBuffer,
        engine: Int = BEST,
    ): Int {
        refuseReadOnly(digests)
        return digestRagged0(messages, offsets, digests, engine)
    }

    /**
     * Digests [count] messages, `messages[offsets[i]]` up to `offsets[i + 1]`, into `digests` from
     * [digestsFrom] on, in place. The garbage collector may have to wait meanwhile: keep batches short, some
     * 100 KB.
     *
     * @throws IllegalArgumentException when sizes or offsets do not fit, or both arrays are the same
     */
    fun digestArray(
        messages: ByteArray,
        offsets: IntArray,
        count: Int,
        digests: ByteArray,
        digestsFrom: Int = 0,
        engine: Int = BEST,
    ): Int = digestArray0(messages, offsets, count, digests, digestsFrom, engine)

    /**
     * Digests one message, [bytes] of [messages] from [from] on, to `digests[to..to + 32]`: one crossing per
     * message, as the original product did. Both may be the same array.
     *
     * @throws IllegalArgumentException when a range is not inside its array
     */
    fun digestOne(
        messages: ByteArray,
        from: Int,
        bytes: Int,
        digests: ByteArray,
        to: Int,
        engine: Int = BEST,
    ): Unit = digestOne0(messages, from, bytes, digests, to, engine)

    private fun refuseReadOnly(digests: ByteBuffer) {
        require(!digests.isReadOnly) { "digests: read-only" } // JNI would write to it nevertheless
    }

    // Internal names are mangled, native symbols are not. Synthetic: Java's compiler does not see them.
    @JvmStatic
    @JvmSynthetic
    @JvmName("abiVersion")
    internal external fun abiVersion(): Int

    /**
     * Binds all calls and tests each with published digests; returns the name of the engine for large batches.
     *
     * @throws IllegalStateException when a digest is wrong, and what a call throws
     */
    @JvmStatic
    @JvmSynthetic
    @JvmName("open0")
    internal external fun open0(): String

    @JvmStatic
    @JvmSynthetic
    @JvmName("address0")
    internal external fun address0(buffer: ByteBuffer): Long

    @JvmStatic
    @JvmSynthetic
    @JvmName("digestAt0")
    internal external fun digestAt0(
        kept: ByteBuffer,
        memory: Long,
        totalBytes: Int,
        offsetsFrom: Int,
        messageBytes: Int,
        digestsFrom: Int,
        count: Int,
        engine: Int,
    ): Int

    /** Names of all engines by number, from 1; those this CPU cannot run begin with `-`. */
    @JvmStatic
    private external fun engines0(): String

    @JvmStatic
    private external fun engineName0(number: Int): String

    @JvmStatic
    private external fun digestEqual0(
        messages: ByteBuffer,
        messageBytes: Int,
        digests: ByteBuffer,
        engine: Int,
    ): Int

    @JvmStatic
    private external fun digestRagged0(
        messages: ByteBuffer,
        offsets: ByteBuffer,
        digests: ByteBuffer,
        engine: Int,
    ): Int

    @JvmStatic
    private external fun digestArray0(
        messages: ByteArray,
        offsets: IntArray,
        count: Int,
        digests: ByteArray,
        digestsFrom: Int,
        engine: Int,
    ): Int

    @JvmStatic
    private external fun digestOne0(
        messages: ByteArray,
        from: Int,
        bytes: Int,
        digests: ByteArray,
        to: Int,
        engine: Int,
    )
}
