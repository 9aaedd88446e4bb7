/**
 * A process that hashes by every path and prints its resident memory in KiB, warm and after 120,000 more
 * calls.
 *
 * Linux only: /proc. Run by PieceProcessTest.
 */
package dev.paceline.piece

import java.nio.file.Files
import java.nio.file.Path

private const val CALLS_PER_ROUND = 2_000

fun main() {
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
        repeat(30) { host.call("round", CALLS_PER_ROUND) }
        val before = residentKib()
        repeat(60) { host.call("round", CALLS_PER_ROUND) }
        println("$before ${residentKib()}")
    }
}

private fun residentKib(): Long {
    System.gc()
    val line = Files.readAllLines(Path.of("/proc/self/status")).first { it.startsWith("VmRSS:") }
    return line.filter { it.isDigit() }.toLong()
}
