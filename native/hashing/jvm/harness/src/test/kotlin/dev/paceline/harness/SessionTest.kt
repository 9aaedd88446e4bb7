/**
 * Tests a launch of a small workload: its events, blocks and failures, and no output while timing.
 */
package dev.paceline.harness

import com.google.gson.JsonObject as Parsed
import com.google.gson.JsonParser
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.OutputStream
import java.io.PrintStream

class SessionTest {
    /** An arm that counts; [inside] tells whether it is at work. */
    private class Counting(override val name: String) : Arm {
        var inside = false
        var iterations = 0L
        private var sum = 0L

        override fun run(iterations: Int) {
            inside = true
            repeat(iterations) { sum = sum * 31 + it }
            this.iterations += iterations
            inside = false
        }
    }

    private val a = Counting("a")
    private val b = Counting("b")
    private val log = ByteArrayOutputStream()
    private var prepare: (Context) -> Prepared = {
        Prepared(listOf(a, b), 1, 8) { listOf(Check("same", true, "n=${it.params["n"]}")) }
    }

    private val n = IntParam("n", listOf(1, 2), 1L..9L)

    private fun workload() = Workload(
        suite = "s",
        name = "w",
        benchmarks = listOf(Benchmark("x", listOf("a", "b"), listOf(n)) { prepare(it) }),
        knobs = listOf(IntKnob("slow", 0L..5L, 0, demonstration = true, what = "slower on purpose")),
        open = { mapOf("fact" to "known") },
        checks = { listOf(Check("first", true, "")) },
    )

    private fun run(line: String, out: OutputStream): Int =
        Session(workload(), out, PrintStream(log)).run("--min-time-ns 1000 $line".split(' '))

    private fun events(line: String, status: Int = 0): List<Parsed> {
        val out = ByteArrayOutputStream()
        assertEquals(status, run(line, out))
        val lines = out.toString().removeSuffix("\n").split('\n')
        return lines.map { JsonParser.parseString(it).asJsonObject }
    }

    private val Parsed.type get() = this["type"].asString

    @Test
    fun `a launch measures every case in interleaved rounds and ends in done`() {
        val events = events("--rounds 6 --seed 4 --launch 3")
        assertEquals("start", events.first().type)
        assertEquals("known", events.first()["build"].asJsonObject["fact"].asString)
        assertEquals("done", events.last().type)
        val cases = events.filter { it.type == "case" }.associateBy { it["case"].asInt }
        assertEquals(4, cases.size)
        val samples = events.filter { it.type == "samples" }
        assertEquals(samples.map { it["t_ns"].asLong }.sorted(), samples.map { it["t_ns"].asLong })
        val blocks = samples.groupBy { it["case"].asInt / 2 to it["round"].asInt }
        assertEquals(2 * (5 + 6), blocks.size)
        for ((at, block) in blocks) {
            assertEquals(listOf(0, 1), block.map { it["position"].asInt })
            assertNotEquals(block[0]["case"].asInt, block[1]["case"].asInt)
            assertEquals(block[0]["iterations"].asLong, block[1]["iterations"].asLong)
            assertTrue(block.all { it["phase"].asString == if (at.second < 5) "warmup" else "measure" })
            assertTrue(block.all { it["launch"].asInt == 3 })
        }
        for (group in 0..1) {
            val firsts = (5 until 11).count { blocks.getValue(group to it)[0]["case"].asInt % 2 == 0 }
            assertEquals(3, firsts, "each arm is first in half of the measured rounds")
        }
    }

    @Test
    fun `checks come before the first sample and again after the last`() {
        val all = events("--rounds 2 --params n=1").map { it.type }
        val types = all.filter { it == "check" || it == "samples" }
        assertEquals(listOf("check", "check"), types.take(2))
        assertEquals("check", types.last())
    }

    @Test
    fun `nothing is written while an arm is timed`() {
        var writes = 0
        val out = object : OutputStream() {
            override fun write(byte: Int) = write(byteArrayOf(byte.toByte()), 0, 1)

            override fun write(bytes: ByteArray, from: Int, length: Int) {
                assertTrue(!a.inside && !b.inside) { "written inside a timed region" }
                writes++
            }
        }
        assertEquals(0, run("--rounds 500", out))
        assertTrue(writes > 2) { "the stream is flushed on the way, not only at its end" }
    }

    @Test
    fun `a demonstration knob is in the build facts and a warning`() {
        val events = events("--rounds 1 --knob slow=2")
        assertEquals("2", events.first()["build"].asJsonObject["knob.slow"].asString)
        assertTrue("demonstration" in warnings(events))
        assertTrue("demonstration" !in warnings(events("--rounds 1")))
    }

    @Test
    fun `a slowed arm takes longer by its share, and results say so`() {
        val line = "--rounds 9 --params n=1 --min-time-ns 100000"
        val events = events("$line --knob b_slowdown_percent=400")
        assertEquals("400", events.first()["build"].asJsonObject["knob.b_slowdown_percent"].asString)
        assertTrue("demonstration" in warnings(events))
        val totals = events.filter { it.type == "samples" }.groupBy({ it["case"].asInt }) {
            it["values"].asJsonArray[0].asLong
        }
        assertTrue(totals.getValue(1).min() > 3 * totals.getValue(0).min()) { "$totals" }
    }

    private fun warnings(events: List<Parsed>) =
        events.filter { it.type == "warning" }.map { it["code"].asString }

    @Test
    fun `filters select cases and values in range`() {
        val cases = events("--rounds 1 --case x/b/n=7").filter { it.type == "case" }
        assertEquals(listOf("b" to 7), armsAndN(cases))
    }

    @Test
    fun `list names every case without opening the workload`() {
        val list = events("--list").single()
        val cases = list["cases"].asJsonArray.map { it.asJsonObject }
        assertEquals(listOf("a" to 1, "b" to 1, "a" to 2, "b" to 2), armsAndN(cases))
    }

    private fun armsAndN(cases: List<Parsed>) =
        cases.map { it["arm"].asString to it["params"].asJsonObject["n"].asInt }

    @Test
    fun `a wrong command line is a stream that ends in error`() {
        val wrong = mapOf(
            "--rounds none" to "usage",
            "--params size=1" to "usage",
            "--params n=10" to "usage",
            "--params n=x" to "usage",
            "--case x/a/n=-1" to "usage",
            "--case x/c" to "usage",
            "--case y/a" to "usage",
            "--benchmark y" to "usage",
            "--knob slow=6" to "usage",
            "--knob fast=1" to "usage",
            "--knob c_slowdown_percent=1" to "usage",
            "--knob b_slowdown_percent=2001" to "usage",
            "--case x/a/n=1 --params n=2" to "no_case",
        )
        for ((line, code) in wrong) {
            val events = events(line, status = 1)
            assertEquals(listOf("start", "error"), events.map { it.type }, line)
            assertEquals(code, events.last()["code"].asString, line)
        }
    }

    @Test
    fun `a bug in a workload is an error event and a stack trace in the log`() {
        prepare = { throw IllegalStateException("no such luck") }
        val events = events("--rounds 1", status = 1)
        assertEquals("internal", events.last()["code"].asString)
        assertEquals(1, events.count { it.type == "start" })
        assertTrue("no such luck" in log.toString() && "SessionTest" in log.toString())
    }

    @Test
    fun `a reader that goes away ends the launch`() {
        val gone = object : OutputStream() {
            override fun write(byte: Int): Unit = throw IOException("Broken pipe")
        }
        assertEquals(1, run("--rounds 1", gone))
        assertTrue("Broken pipe" in log.toString())
    }

    @Test
    fun `samples have the requested length`() {
        val samples = events("--rounds 9 --params n=1 --min-time-ns 300000").filter { it.type == "samples" }
        val totals = samples.map { it["values"].asJsonArray[0].asLong }.sorted()
        assertTrue(totals[totals.size / 2] >= 300_000) { "$totals" }
    }
}
