/**
 * Finds the native library, tests it, and refuses it with a reason.
 *
 * After [load] returned null the library has this class's ABI version and gave published digests
 * through every call; a refusal is text, never an exception. Cold starts pay for this code and a
 * fresh JVM interprets it, so the test is the library's own (`opening` in Rust), and there is no
 * lambda, no collection, and no class that only this would load.
 */
package dev.paceline.ledger

import java.io.IOException

object NativeLibrary {
    /** The version of the native methods that these classes use (`ABI` in Rust). */
    const val ABI_VERSION: Int = 3

    private var loaded = false

    /** The library that the system loaded, accepted or not; it stays as long as the process. */
    private var linked: LibrarySource? = null

    /** The engine the library chooses for a batch that fills its lanes; empty before it is loaded. */
    internal var engine: String = ""
        private set

    /**
     * Loads and tests the library once per process: a second call returns the first success. After
     * a refusal another library may be tried only if the system did not load the first, because the JVM keeps
     * looking for our calls in that one.
     *
     * @return null when it can be used, else why not
     */
    @Synchronized
    fun load(source: LibrarySource): String? {
        val unwanted = source.unwanted()
        if (unwanted != null || loaded) return unwanted
        val first = linked
        if (first != null) {
            return "The native library $source is not tried: this process has loaded $first, which was " +
                "refused, and would call it."
        }
        val refusal = try {
            tried(source)
        } catch (error: IOException) {
            "The native library $source cannot be read: ${error.message}"
        } catch (error: LinkageError) {
            "The native library $source cannot be used on ${System.getProperty("os.arch")}: ${error.message}"
        }
        loaded = refusal == null
        return refusal
    }

    private fun tried(source: LibrarySource): String? {
        val absent = source.link()
        if (absent != null) return absent
        linked = source
        val found = NativeDigests.abiVersion()
        if (found != ABI_VERSION) {
            return "The native library $source has ABI version $found, these classes need $ABI_VERSION: " +
                "build both from one revision."
        }
        return try {
            engine = NativeDigests.open0()
            null
        } catch (error: RuntimeException) { // a wrong digest; or what trusted arguments do not cause
            "The native library $source fails its self-test: ${error.message}."
        }
    }
}
