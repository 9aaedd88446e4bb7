/**
 * Runs JavaScript in this process.
 *
 * Only the thread that opened a host may call it, and a script must not call it again. A script's
 * error is thrown as an exception. Arguments and results are text or bytes, never JavaScript values.
 */
package dev.paceline.piece

/** A script threw, or its promise was rejected; [cause] is what a [PieceHasher] threw, if it did. */
class PieceScriptException(message: String, cause: Throwable?) : RuntimeException(message, cause)

/**
 * @param hasher called on this thread, and on worker threads when a script hashes asynchronously
 * @param crew threads that hash one batch together, including this one
 * @param workers threads that hash beside this one, started when a script first needs them
 * @throws IllegalArgumentException when [crew] or [workers] is negative or more than 1,024
 * @throws IllegalStateException when the runtime or its threads cannot be made
 */
class PieceHost(hasher: PieceHasher, crew: Int = 1, workers: Int = 1) : AutoCloseable {
    private val number: Long = open0(hasher, crew, workers)
    private var open = true

    /**
     * Evaluates a script. If its value is a promise, runs jobs and callbacks until the promise has settled.
     *
     * @return the value as text
     * @throws PieceScriptException what the script threw
     * @throws IllegalStateException when the host is closed, when another thread or a running script calls
     *   this, or when nothing is left that could settle the promise
     */
    fun eval(source: String, fileName: String = "script.js"): String = eval0(number, source, fileName)

    /** Calls a global function with a number, as [eval] runs a script. Returns the bytes of a `Uint8Array`, or null. */
    fun call(function: String, count: Int = 0): ByteArray? = call0(number, function, count)

    /** Calls a global function with a copy of [bytes] as a `Uint8Array`. */
    fun give(function: String, bytes: ByteArray): ByteArray? = give0(number, function, bytes)

    /** Time the library's own digests took since the host was opened, on all threads together. */
    val digestNs: Long get() = digestNs0(number)

    /** Pieces handed to workers whose callbacks have not run yet. */
    val pending: Int get() = pending0(number)

    /** Waits for pieces that are being hashed, and drops the others with their callbacks. May be called twice. */
    override fun close() {
        if (!open) return
        close0(number)
        open = false
    }

    private external fun open0(hasher: PieceHasher, crew: Int, workers: Int): Long

    private external fun eval0(host: Long, source: String, fileName: String): String

    private external fun call0(host: Long, function: String, count: Int): ByteArray?

    private external fun give0(host: Long, function: String, bytes: ByteArray): ByteArray?

    private external fun digestNs0(host: Long): Long

    private external fun pending0(host: Long): Int

    private external fun close0(host: Long)
}
