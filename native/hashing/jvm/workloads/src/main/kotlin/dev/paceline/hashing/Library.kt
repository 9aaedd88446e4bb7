/** Where the workload finds the native library, and what it says when it cannot use it. */
package dev.paceline.hashing

import dev.paceline.harness.WorkloadError
import dev.paceline.ledger.LibrarySource
import dev.paceline.ledger.NativeLibrary
import java.nio.file.Path
import java.nio.file.Paths

internal const val PATH_PROPERTY = "paceline.hashing.library"
private const val FILE_NAME = "libpaceline_hashing.so"

/** The system property `paceline.hashing.library`, else beside the jar. */
internal fun libraryPath(): Path {
    System.getProperty(PATH_PROPERTY)?.let { return Paths.get(it) }
    val jar = Paths.get(LedgerArm::class.java.protectionDomain.codeSource.location.toURI())
    return jar.resolveSibling(FILE_NAME)
}

internal fun librarySource(): LibrarySource = LibrarySource.AtPath(libraryPath().toString())

/**
 * Loads and tries the library.
 *
 * @throws WorkloadError `native_library`, saying what is wrong and what to do: a benchmark has no fallback
 */
internal fun loadLibrary() {
    val refusal = NativeLibrary.load(librarySource()) ?: return
    throw WorkloadError("native_library", "$refusal Build it on this machine with native/hashing/build.sh.")
}
