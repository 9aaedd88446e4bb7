/**
 * Finds and tests the Rust library with QuickJS in it.
 *
 * Nothing native is called before [load] returned.
 */
package dev.paceline.piece

import dev.paceline.harness.WorkloadError
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths

object PieceLibrary {
    /** The meaning of the native methods these classes were written for (`ABI_VERSION` in Rust). */
    private const val ABI_VERSION = 1
    private const val FILE_NAME = "libpaceline_piece.so"
    private const val PATH_PROPERTY = "paceline.piece.library"

    /**
     * Loads the library from the path in the system property `paceline.piece.library`, else from beside the
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

    /** The engine that digests [lanes] pieces at once. */
    external fun engine(lanes: Int): String

    external fun quickjsVersion(): String

    /** CPU time the calling thread has used, in nanoseconds: waiting does not count. */
    external fun threadCpuNs(): Long

    private external fun abiVersion(): Int

    private fun defaultPath(): Path {
        System.getProperty(PATH_PROPERTY)?.let { return Paths.get(it) }
        val jar = Paths.get(PieceLibrary::class.java.protectionDomain.codeSource.location.toURI())
        return jar.resolveSibling(FILE_NAME)
    }

    private fun refused(text: String) = WorkloadError("native_library", text)
}
