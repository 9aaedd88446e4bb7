/**
 * How the native library is found, tried and refused.
 *
 * Invariant: after [load] returned null the library has this class's ABI version and gave published digests
 * through every call; a refusal is a reason in words, never an exception. Absent on purpose: retries. A
 * library that was refused stays refused until somebody asks again. Cold starts pay for what is here, so
 * it has no lambda and no collection.
 */
package dev.paceline.ledger

import java.io.File
import java.io.IOException

/** Where the library is. */
sealed class LibrarySource {
    /** A file, wherever it is: hosts and tests. */
    class AtPath(val path: String) : LibrarySource() {
        override fun toString() = path
    }

    /** A name the system resolves, `paceline_hashing` for `libpaceline_hashing.so`: Android. */
    class ByName(val name: String) : LibrarySource() {
        override fun toString() = name
    }

    /** None: the platform's digests are what is wanted. */
    object None : LibrarySource()
}

object NativeLibrary {
    /** The meaning of the native methods these classes were written for (`ABI` in Rust). */
    const val ABI_VERSION: Int = 2

    private var loaded = false

    /** The engine the library chose for the self-test's batch; 0 before it is loaded. */
    internal var engine: Int = 0
        private set

    /**
     * Loads and tries the library, once per process: a second call is answered from the first success.
     *
     * @return null when it can be used, else why not
     */
    @Synchronized
    fun load(source: LibrarySource): String? {
        if (source is LibrarySource.None) return "No native library was asked for."
        if (loaded) return null
        val refusal = try {
            link(source) ?: refusalOfVersion(source) ?: refusalOfDigests(source)
        } catch (error: IOException) {
            "The native library $source cannot be read: ${error.message}"
        } catch (error: LinkageError) {
            "The native library $source cannot be used on ${System.getProperty("os.arch")}: ${error.message}"
        }
        loaded = refusal == null
        return refusal
    }

    private fun link(source: LibrarySource): String? {
        when (source) {
            is LibrarySource.None -> return null
            is LibrarySource.ByName -> System.loadLibrary(source.name)
            is LibrarySource.AtPath -> {
                val file = File(source.path)
                if (!file.isFile) return "There is no native library at $file."
                if (!WholeFile.isWhole(file)) return "The native library $file is cut short."
                System.load(file.absolutePath)
            }
        }
        return null
    }

    private fun refusalOfVersion(source: LibrarySource): String? {
        val found = NativeDigests.abiVersion()
        if (found == ABI_VERSION) return null
        return "The native library $source has ABI version $found, these classes need $ABI_VERSION: " +
            "build both from one revision."
    }

    private fun refusalOfDigests(source: LibrarySource): String? {
        val test = SelfTest()
        val failure = try {
            test.failure()
        } catch (error: RuntimeException) {
            "it threw $error" // a refusal or a panic of the library, which trusted arguments do not cause
        }
        engine = test.engine
        return if (failure == null) null else "The native library $source fails its self-test: $failure."
    }
}
