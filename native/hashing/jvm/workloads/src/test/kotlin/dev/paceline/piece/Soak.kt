/**
 * A process that hashes tiny pieces by every path and prints its resident memory in KiB, warm,
 * half-way and after as many calls as its argument says.
 *
 * Linux only: /proc. Run by PieceProcessTest; for 10^7 calls by hand:
 * native/hashing/quickjs/README.md.
 */
package dev.paceline.piece

import java.nio.file.Files
import java.nio.file.Path

private const val CALLS_PER_ROUND = 2_000
private const val WARM_ROUNDS = 30

/** One argument: calls of a path's functions, counted as the script makes them. */
fun main(arguments: Array<String>) {
    val halfRounds = arguments.single().toInt() / CALLS_PER_ROUND / 2
    PieceLibrary.load()
    PieceHost(platform(), crew = 2, workers = 2).use { host ->
        host.eval(
            """
            globalThis.round = calls => {
              const data = new Uint8Array(64);
              const inTheAir = new Uint8Array(64);
              const paths = Object.values(NativeHasher.paths);
              const landed = [];
              for (let i = 0; i < calls; i++) {
                const path = paths[i % paths.length];
                if (i % 5 === 0) landed.push(path.sha1Async(inTheAir));
                else if (i % 5 === 1) path.sha1Batch([data, data]);
                else path.sha1(data);
                // Its error is garbage too.
                if (i % 7 === 0) try { path.sha1('wrong'); } catch (expected) {}
              }
              return Promise.all(landed);
            };
            """,
        )
        fun hash(rounds: Int): Long {
            repeat(rounds) { host.call("round", CALLS_PER_ROUND) }
            return residentKib()
        }
        println(listOf(hash(WARM_ROUNDS), hash(halfRounds), hash(halfRounds)).joinToString(" "))
    }
}

private fun residentKib(): Long {
    System.gc()
    val line = Files.readAllLines(Path.of("/proc/self/status")).first { it.startsWith("VmRSS:") }
    return line.filter { it.isDigit() }.toLong()
}
