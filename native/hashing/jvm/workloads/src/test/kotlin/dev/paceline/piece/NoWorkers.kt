/**
 * A process in which a host's workers cannot start; it prints how each wait for a piece ends.
 *
 * Run by PieceProcessTest, which sees to it that they cannot.
 */
package dev.paceline.piece

fun main() {
    PieceLibrary.load()
    PieceHost(platform(), crew = 1, workers = 2).use { host ->
        repeat(2) {
            val outcome = runCatching { host.eval("NativeHasher.paths.native.sha1Async(new Uint8Array(9))") }
            println(outcome.exceptionOrNull()?.message)
        }
    }
    println("closed")
}
