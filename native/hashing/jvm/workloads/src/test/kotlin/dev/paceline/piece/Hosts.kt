/**
 * What the tests of this package share: the library, hosts, and the platform's digest to compare
 * with.
 */
package dev.paceline.piece

import org.junit.jupiter.api.Assertions.assertThrows
import java.security.MessageDigest

internal val PATHS = listOf("seed", "noslice", "reuse", "direct", "native", "nativeCrew")

private val library = lazy { PieceLibrary.load() }

internal fun platform() = MessageDigestHasher(DigestMeter.None, System.err::println)

internal fun open(hasher: PieceHasher = platform(), workers: Int = 2): PieceHost {
    library.value
    return PieceHost(hasher, crew = 2, workers = workers)
}

internal fun <T> host(hasher: PieceHasher = platform(), workers: Int = 2, work: (PieceHost) -> T): T =
    open(hasher, workers).use(work)

internal fun hex(bytes: ByteArray): String = bytes.joinToString("") { "%02x".format(it) }

internal fun sha1(bytes: ByteArray): String = hex(MessageDigest.getInstance("SHA-1").digest(bytes))

/** As a script writes a digest. */
internal const val HEX = "const hex = d => Array.from(d, b => b.toString(16).padStart(2, '0')).join('');\n"

/** The exception of a script that must throw. */
internal fun thrown(host: PieceHost, script: String): PieceScriptException =
    assertThrows(PieceScriptException::class.java, { host.eval(script) }, script)
