/**
 * The benchmarks as the harness runs them: checks that would notice, costs that add up, lines of
 * the log.
 */
package dev.paceline.piece

import dev.paceline.harness.Account
import dev.paceline.harness.Arm
import dev.paceline.harness.Benchmark
import dev.paceline.harness.Context
import dev.paceline.harness.Prepared
import dev.paceline.harness.Value
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class PieceBenchmarkTest {
    private val knobs = mapOf(LOG_EVERY_MS.name to 1L)

    private fun context(vararg params: Pair<String, Long>) =
        Context(params.associate { (name, value) -> name to Value.Integer(value) }, knobs, seed = 5)

    private fun <T> prepared(benchmark: Benchmark, context: Context, work: (Prepared) -> T): T {
        host { }
        val prepared = benchmark.prepare(context)
        return try {
            work(prepared)
        } finally {
            prepared.close()
        }
    }

    private fun account(arm: Arm): Account {
        arm.run(1)
        return Account().also(arm::account)
    }

    @Test
    fun `the workload's own checks hold`() {
        host { }
        val all = checks() + prepared(PIECE, context("piece_bytes" to 5_000)) { it.verify() }
        assertEquals(listOf("sha1_vectors", "quickjs_smoke", "arms_agree"), all.map { it.name })
        assertTrue(all.all { it.ok }) { "$all" }
    }

    @Test
    fun `arms_agree notices a piece that one arm sees otherwise`() = host { host ->
        val pieces = pieces(seed = 1, count = 3, bytes = 100)
        pieces.dropLast(1).forEach { host.give("piece_add", it) }
        host.give("piece_add", pieces.last().copyOf().also { it[99]++ })
        val raw = RawArm(pieces, platform(), DigestTime())
        val check = armsAgree(raw, listOf(ScriptArm("direct", host, null)))
        assertFalse(check.ok)
        assertTrue("direct" in check.detail)
    }

    @Test
    fun `every arm tells what it did and what it cost its thread`() {
        prepared(PIECE, context("piece_bytes" to 100_000)) { prepared ->
            for (arm in prepared.arms) {
                val account = account(arm)
                assertEquals(mapOf("items" to 16L, "kept" to 16L), account.work, arm.name)
                val readings = account.readings.associateBy { it.metric }
                assertEquals(setOf("js_thread", "digest", "call_time"), readings.keys, arm.name)
                val calls = when (arm.name) {
                    "batch_8", "native_multi_8" -> 2
                    "batch_16", "native_multi_16", "native_multi" -> 1
                    else -> 16
                }
                assertEquals(calls, readings.getValue("call_time").values.size, arm.name)
                assertTrue(readings.values.all { reading -> reading.values.all { it > 0 } }) { arm.name }
            }
        }
    }

    @Test
    fun `what an arm did is counted, not assumed`() = host { host ->
        pieces(seed = 3, count = 3, bytes = 100).forEach { host.give("piece_add", it) }
        for (name in listOf("seed", "native_multi_8", "async_native")) {
            val arm = ScriptArm(name, host, null)
            arm.run(4)
            val work = Account().also(arm::account).work
            assertEquals(mapOf("items" to 12L, "kept" to 3L), work, name)
        }
        host.eval("globalThis.stream_direct = count => {}")
        val idle = StreamArm("direct", host, 5) { 0 }
        assertEquals(mapOf("items" to 0L, "hashed" to 0L), account(idle).work)
    }

    @Test
    fun `a stream verifies every piece, and skipping is counted as no hashing`() {
        prepared(PIECE_STREAM, context("pieces" to 19)) { prepared ->
            assertTrue(prepared.verify().single().ok)
            for (arm in prepared.arms) assertEquals(19L, account(arm).work["hashed"], arm.name)
        }
        prepared(PIECE_UNVERIFIED, context("pieces" to 3)) { prepared ->
            val (seed, skipping) = prepared.arms.map { account(it).work }
            assertEquals(mapOf("items" to 3L, "hashed" to 3L), seed)
            assertEquals(mapOf("items" to 3L, "hashed" to 0L), skipping)
        }
    }

    @Test
    fun `a stream with a wrong block is not verified`() = host { host ->
        for (wrong in listOf(false, true)) {
            val piece = pieces(seed = 2, count = 1, bytes = 40_000).single()
            val digest = platform().sha1(piece, piece.size)
            if (wrong) piece[39_999]++
            host.give("stream_add", piece + digest)
        }
        for (name in PIECE_STREAM.arms) {
            val arm = StreamArm(name, host, 4) { 0 }
            arm.run(1)
            assertEquals(2, arm.verified, name)
        }
    }

    @Test
    fun `the counters print the original's lines, of the same calls on both sides`() {
        val lines = mutableListOf<String>()
        host { }
        val prepared = prepareInstrumentation(context("piece_bytes" to PIECE_BYTES.toLong()), 5, lines::add)
        val (off, on, dropped) = prepared.arms
        off.run(2)
        dropped.run(2)
        assertEquals(emptyList<String>(), lines)
        on.run(2)
        prepared.close()
        val kotlin = Regex(
            """JSTorrent-Hash: Kotlin: (\d+) hashes, \d+\.\dMB, avg \d+µs, max \d+µs, """ +
                """throughput \d+MB/s""",
        )
        val js = Regex(
            """JSTorrent-JS: \[NativeHasher] (\d+) hashes, \d+\.\dMB, avg \d+\.\d\dms, max \d+ms, """ +
                """throughput \d+\.\dMB/s""",
        )
        assertTrue(lines.any(kotlin::matches) && lines.any(js::matches)) { "$lines" }
        assertTrue(lines.all { kotlin.matches(it) || js.matches(it) }) { "$lines" }
    }
}
