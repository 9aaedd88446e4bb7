/**
 * The Rust library behind JNI, and how it is found and refused.
 *
 * Invariants: nothing native is called before [load] returned; [digestBatch] throws on any size or buffer
 * that does not fit and never crashes the JVM. The native side checks again (`native/hashing/jni`). Absent on
 * purpose: a fallback. The arm `fallback` is measured beside this one, never instead of it.
 */
package dev.paceline.hashing

import dev.paceline.harness.WorkloadError
import java.nio.ByteBuffer
import java.nio.file.Files
import java.nio.file.Path

object NativeLibrary {
    const val DIGEST_BYTES: Int = 32

    /** The meaning of the native methods this class was written for (`ABI_VERSION` in Rust). */
    private const val ABI_VERSION = 1
    private const val FILE_NAME = "libpaceline_hashing.so"
    private const val PATH_PROPERTY = "paceline.hashing.library"

    /**
     * Loads the library from the path in the system property `paceline.hashing.library`, else from beside the
     * jar.
     *
     * @throws WorkloadError `native_library`, saying what is wrong and what to do
     */
    fun load(path: Path = defaultPath()) {
        if (!Files.isRegularFile(path)) {
            throw refused("There is no native library at $path. Build it with native/hashing/build.sh.")
        }
        try {
            System.load(path.toAbsolutePath().toString())
            val found = abiVersion()
            if (found != ABI_VERSION) {
                throw refused(
                    "The native library at $path has ABI version $found, this jar needs $ABI_VERSION. " +
                        "Build both from one revision with native/hashing/build.sh.",
                )
            }
        } catch (error: UnsatisfiedLinkError) {
            throw refused(
                "The native library at $path cannot be loaded by this " +
                    "${System.getProperty("os.arch")} JVM: ${error.message}. " +
                    "Build it on this machine with native/hashing/build.sh.",
            )
        }
    }

    /**
     * Digests the messages that lie one after the other in [messages] into [digests], in one native call.
     *
     * Whole capacities count: `messages.capacity() = n * messageBytes`, `digests.capacity() = n * 32`.
     * Positions and limits are neither used nor moved. No other thread may write either buffer during the
     * call.
     *
     * @throws IllegalArgumentException when sizes do not fit, a buffer is not direct, `digests` is
     * read-only, or the buffers overlap; nothing is written then
     */
    fun digestBatch(messages: ByteBuffer, messageBytes: Int, digests: ByteBuffer) {
        require(!digests.isReadOnly) { "digests: read-only" } // JNI would write to it all the same
        digestBatch0(messages, messageBytes, digests)
    }

    @JvmStatic
    external fun engine(): String

    @JvmStatic
    private external fun abiVersion(): Int

    @JvmStatic
    private external fun digestBatch0(messages: ByteBuffer, messageBytes: Int, digests: ByteBuffer)

    /** Panics in native code; for the test that shows a panic arrives as an exception. */
    @JvmStatic
    @JvmName("provokePanic") // internal names are mangled, native symbols are not
    internal external fun provokePanic()

    private fun defaultPath(): Path {
        System.getProperty(PATH_PROPERTY)?.let { return Path.of(it) }
        val jar = Path.of(NativeLibrary::class.java.protectionDomain.codeSource.location.toURI())
        return jar.resolveSibling(FILE_NAME)
    }

    private fun refused(text: String) = WorkloadError("native_library", text)
}
