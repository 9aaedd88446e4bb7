/** Many calls under `-Xcheck:jni`: no complaints, and memory does not grow. */
package dev.paceline.ledger

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test
import java.io.File

class LongRunTest {
    @Test
    fun `every call under -Xcheck-jni, right and wrong ones, leaves no warning`() {
        val run = child("dev.paceline.ledger.LongRunKt", listOf("-Xcheck:jni"), BUILT, "2000", "500")
        assertEquals(0, run.status, run.errors)
        assertEquals("", run.errors)
        assertEquals(1, run.output.trim().lines().size, run.output)
    }

    @Test
    fun `ten million single calls and a hundred thousand batches leave memory flat`() {
        assumeTrue(File("/proc/self/statm").exists(), "needs Linux's /proc to see resident memory")
        // The heap is resident from the start: only what is outside of it can grow.
        val heap = listOf("-Xmx64m", "-Xms64m", "-XX:+AlwaysPreTouch")
        val run = child("dev.paceline.ledger.LongRunKt", heap, BUILT, "10000000", "100000")
        assertEquals(0, run.status, run.errors)
        val (before, after) = run.output.trim().split(' ').map { it.toLong() }
        // A leak of one byte per call would be 10 MB; the compiler's own memory moves by a few.
        assertTrue(after - before < 8_000_000) { "$before bytes resident before, $after after" }
    }
}
