/**
 * A process in which a host's workers cannot start; it prints how each wait for a piece ends.
 *
 * PieceProcessTest runs it with limits that make starting them fail.
 */
package dev.paceline.piece

fun main() {
    PieceLibrary.load()
    PieceHost(platform(), crew = 1, workers = 2).use { host ->
        val booking = "globalThis.landing = NativeHasher.paths.native.sha1Async(new Uint8Array(9))"
        // The second waits for the piece of the first and books none.
        for (script in listOf(booking, "landing")) {
            println(runCatching { host.eval(script) }.exceptionOrNull()?.message)
        }
    }
    println("closed")
}
