/** Equal work of all arms, inputs that are what they say, and checks that can fail. */
package dev.paceline.hashing

import dev.paceline.harness.Account
import dev.paceline.harness.Benchmark
import dev.paceline.harness.Context
import dev.paceline.harness.Prepared
import dev.paceline.harness.Unavailable
import dev.paceline.harness.Value
import dev.paceline.ledger.LibrarySource
import dev.paceline.ledger.NativeDigests
import dev.paceline.ledger.NativeLibrary
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test

class LedgerBatchTest {
    companion object {
        @JvmStatic
        @BeforeAll
        fun load() = assertNull(NativeLibrary.load(LibrarySource.AtPath(libraryPath().toString())))
    }

    private fun prepare(benchmark: Benchmark, vararg params: Pair<String, Any>): Prepared {
        val values = params.associate { (name, value) ->
            name to if (value is Int) Value.Integer(value.toLong()) else Value.Text(value.toString())
        }
        return benchmark.prepare(Context(values, emptyMap(), seed = 3))
    }

    @Test
    fun `every arm digests the same messages at every batch size and length`() {
        for (batch in listOf(1, 2, 17, 1_000)) {
            for (message in listOf(0, 32, 64, 150, 256, 1_024)) {
                val prepared = prepare(LEDGER_BATCH, "batch" to batch, "message" to message)
                val expected = fallbackArm(LedgerInput.of(3, batch, message)).apply { run(1) }.digests()
                for (arm in prepared.arms.filterIsInstance<LedgerArm>()) {
                    arm.erase()
                    arm.run(2)
                    assertArrayEquals(expected, arm.digests(), "${arm.name}, $batch × $message")
                    assertEquals(mapOf("items" to 2L * batch, "kept" to 2L * batch), counted(arm), arm.name)
                    assertEquals(mapOf("items" to 0L, "kept" to 0L), counted(arm), "erased")
                }
            }
        }
    }

    private fun counted(arm: LedgerArm) = Account().also(arm::account).work

    @Test
    fun `an arm that skips a message counts one less`() {
        val input = LedgerInput.of(1, 5, 64)
        val arm = object : ArrayArm("skips", input.count) {
            override fun run(iterations: Int) {
                NativeDigests.digestArray(input.bytes, input.offsets, input.count - 1, digests)
                ran(iterations)
            }
        }
        arm.run(1)
        assertEquals(mapOf("items" to 4L, "kept" to 4L), counted(arm))
    }

    @Test
    fun `arms are those of the manifest, whether they can run here or not`() {
        for (benchmark in listOf(LEDGER_BATCH, LEDGER_CROSSOVER, LEDGER_PRODUCT)) {
            val params = benchmark.params.map { it.name to 10 }.toTypedArray()
            assertEquals(benchmark.arms, prepare(benchmark, *params).arms.map { it.name })
        }
    }

    @Test
    fun `a Java without foreign functions says so`() {
        assertEquals("Java 21 has no foreign-function API; Java 22 or later has", whyFfmUnavailable(21))
        assertNull(whyFfmUnavailable(22))
        val arm = prepare(LEDGER_BATCH, "batch" to 1, "message" to 32).arms.single { it.name == "native_ffm" }
        assertEquals(Runtime.version().feature() < 22, arm is Unavailable)
    }

    @Test
    fun `filling the foreign arm's buffers touches nothing foreign, so it can precede a cold clock`() {
        val batch = FfmBatch(LedgerInput.of(1, 3, 32)) // where there is no foreign-function API, too
        assertArrayEquals(ByteArray(3 * 32), batch.digests())
    }

    @Test
    fun `a child with a wrong digest fails the check, and one that never ran does not`() {
        assertTrue(childrenEqualFallback("g", 5, mapOf("a" to setOf(5), "b" to emptySet())).ok)
        val check = childrenEqualFallback("g", 5, mapOf("a" to setOf(5), "b" to setOf(5, 6)))
        assertFalse(check.ok)
        assertEquals("g: [b] differ", check.detail)
    }

    @Test
    fun `inputs depend on the seed alone, and 150 bytes stand for real fingerprints`() {
        assertArrayEquals(LedgerInput.of(5, 10, 64).bytes, LedgerInput.of(5, 10, 64).bytes)
        assertFalse(LedgerInput.of(5, 10, 64).bytes.contentEquals(LedgerInput.of(6, 10, 64).bytes))
        val lengths = LedgerInput.of(1, 2_000, FINGERPRINT_BYTES).messages.map { it.size }
        assertTrue(lengths.all { it in 147..151 }) { "${lengths.min()} to ${lengths.max()}" }
        assertTrue(lengths.distinct().size >= 3)
        assertEquals(listOf(32), LedgerInput.of(1, 9, 32).messages.map { it.size }.distinct())
    }

    @Test
    fun `a wrong digest fails the check and names arm and message`() {
        val right = fallbackArm(LedgerInput.of(1, 20, 64)).apply { run(1) }.digests()
        assertTrue(equalDigests("g", right, mapOf("a" to right.copyOf())).ok)
        val wrong = right.copyOf().also { it[17 * 32 + 31]++ }
        val check = equalDigests("g", right, mapOf("a" to right, "b" to wrong))
        assertFalse(check.ok)
        assertEquals("g: b: message 17 differs", check.detail)
        assertFalse(equalDigests("g", right, mapOf("a" to right.copyOf(right.size - 1))).ok)
    }

    @Test
    fun `the suite's own checks hold`() {
        val all = checks() + prepare(LEDGER_BATCH, "batch" to 7, "message" to 150).verify()
        val names = listOf("sha256_vectors", "jni_smoke", "jni_misuse", "native_equals_fallback")
        assertEquals(names, all.map { it.name })
        assertTrue(all.all { it.ok }) { "$all" }
    }
}
