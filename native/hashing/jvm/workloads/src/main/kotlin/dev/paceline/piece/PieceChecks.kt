/**
 * The checks before any timing (I1): published vectors through every path of a script, and a smoke
 * test of QuickJS.
 *
 * A check reports; it never throws.
 */
package dev.paceline.piece

import dev.paceline.harness.Check

/** FIPS 180-4 examples (NIST "SHA1.pdf"), CAVP's empty message, and the million of 'a'. */
private val VECTORS = listOf(
    "" to "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "abc" to "a9993e364706816aba3e25717850c26c9cd0d89d",
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq" to "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
    "a".repeat(1_000_000) to "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
)

/** Every path and every function of it, as one script: a line per wrong digest. */
private const val HASH_ALL_WAYS = """
    const hex = digest => Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('');
    globalThis.check_one = async data => {
      const found = [];
      for (const [name, path] of Object.entries(NativeHasher.paths)) {
        found.push([name + '.sha1', path.sha1(data)]);
        path.sha1Batch([data, data, data]).forEach(digest => found.push([name + '.sha1Batch', digest]));
        found.push([name + '.sha1Async', await path.sha1Async(data)]);
      }
      found.push(['NativeHasher.sha1', NativeHasher.sha1(data)]);
      const text = found.map(([name, digest]) => name + ' ' + hex(digest)).join('\n');
      return Uint8Array.from(text, char => char.charCodeAt(0));
    };
"""

internal fun checks(): List<Check> =
    listOf(guarded("sha1_vectors", ::sha1Vectors), guarded("quickjs_smoke", ::smoke))

private fun guarded(name: String, check: (PieceHost) -> Pair<Boolean, String>): Check = try {
    PieceHost(MessageDigestHasher(DigestMeter.None, System.err::println)).use { host ->
        val (ok, detail) = check(host)
        Check(name, ok, detail)
    }
} catch (error: RuntimeException) {
    Check(name, false, "$error")
}

private fun sha1Vectors(host: PieceHost): Pair<Boolean, String> {
    host.eval(HASH_ALL_WAYS, "checks.js")
    var ways = 0
    val wrong = VECTORS.flatMap { (text, expected) ->
        val found = host.give("check_one", text.toByteArray())?.decodeToString()?.lines().orEmpty()
        ways = found.size
        val different = found.filterNot { it.endsWith(" $expected") }
        different.map { "${it.substringBefore(' ')} on ${text.length} bytes" }
    }
    val ok = wrong.isEmpty() && ways > 0
    return ok to if (ok) "${VECTORS.size} vectors, $ways ways each" else "wrong: $wrong"
}

/** A script runs, its errors arrive as exceptions, and wrong arguments are its errors. */
private fun smoke(host: PieceHost): Pair<Boolean, String> {
    val failures = mutableListOf<String>()
    if (host.eval("6 * 7") != "42") failures += "6 * 7"
    val shared = "new Uint8Array(new SharedArrayBuffer(8))"
    for (wrong in listOf("undefined", "'text'", "new Uint16Array(2)", shared)) {
        for (way in listOf("sha1Direct", "sha1Native", "sha1Copied")) {
            try {
                host.eval("paceline.$way($wrong)")
                failures += "$way($wrong) accepted"
            } catch (_: PieceScriptException) {
                // as it must be
            }
        }
    }
    val summary = "QuickJS ${PieceLibrary.quickjsVersion()}; wrong arguments throw"
    return failures.isEmpty() to if (failures.isEmpty()) summary else "$failures"
}
