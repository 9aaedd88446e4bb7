/** Equal work of both arms, and checks that can fail. */
package dev.paceline.hashing

import dev.paceline.harness.Context
import dev.paceline.harness.Value
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test

class LedgerBatchTest {
    companion object {
        @JvmStatic
        @BeforeAll
        fun load() = NativeLibrary.load()
    }

    @Test
    fun `both arms digest the same input into equal output at every batch size`() {
        for (batch in listOf(1, 2, 999, 1_000, 10_000)) {
            val input = fingerprints(seed = 3, batch)
            val fallback = FallbackArm(input).apply { run(2) }
            val native = NativeArm(input, slowdownPercent = 0).apply { run(2) }
            assertEquals(batch * 32, native.digests().size)
            assertArrayEquals(fallback.digests, native.digests())
        }
    }

    @Test
    fun `inputs depend on the seed alone`() {
        assertArrayEquals(fingerprints(5, 10), fingerprints(5, 10))
        assertFalse(fingerprints(5, 10).contentEquals(fingerprints(6, 10)))
    }

    @Test
    fun `a wrong digest fails the check and names the message`() {
        val right = FallbackArm(fingerprints(1, 20)).apply { run(1) }.digests
        assertTrue(equalDigests(right, right.copyOf(), 20).ok)
        val check = equalDigests(right, right.copyOf().also { it[17 * 32 + 31]++ }, 20)
        assertFalse(check.ok)
        assertEquals("batch=20: message 17 differs", check.detail)
        assertFalse(equalDigests(right, right.copyOf(right.size - 1), 20).ok)
        assertFalse(equalDigests(ByteArray(0), ByteArray(0), 20).ok)
    }

    @Test
    fun `the suite's own checks hold`() {
        val context = Context(mapOf("batch" to Value.Integer(7)), mapOf(SLOWDOWN.name to 0L), seed = 1)
        val all = checks() + LEDGER_BATCH.prepare(context).verify()
        assertEquals(listOf("sha256_vectors", "jni_smoke", "native_equals_fallback"), all.map { it.name })
        assertTrue(all.all { it.ok }) { "$all" }
    }

    @Test
    fun `the demonstration knob makes the native arm slower and leaves its digests right`() {
        val input = fingerprints(1, 1_000)
        val plain = NativeArm(input, 0)
        for (percent in listOf(150, 400)) {
            val slowed = NativeArm(input, percent)
            // Quickest of many, interleaved: noise only adds. Well below the true 2.5 and 5.
            val times = (1..40).map { quick(plain) to quick(slowed) }
            val ratio = times.minOf { it.second }.toDouble() / times.minOf { it.first }
            assertTrue(ratio > 1 + percent / 200.0) { "ratio $ratio at $percent %" }
            assertArrayEquals(FallbackArm(input).apply { run(1) }.digests, slowed.digests())
        }
    }

    private fun quick(arm: NativeArm): Long {
        val begin = System.nanoTime()
        arm.run(1)
        return System.nanoTime() - begin
    }
}
