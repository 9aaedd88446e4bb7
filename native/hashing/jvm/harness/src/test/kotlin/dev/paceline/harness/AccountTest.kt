/**
 * What an arm says besides its duration, arms that cannot run here, groups with their own protocol.
 */
package dev.paceline.harness

import com.google.gson.JsonObject as Parsed
import com.google.gson.JsonParser
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.io.ByteArrayOutputStream
import java.io.PrintStream

class AccountTest {
    private val order = ArrayList<String>()

    /** An arm that notes that it ran and says what [tell] says. */
    private inner class Telling(
        override val name: String,
        private val tell: Account.(iterations: Int) -> Unit = {},
    ) : Arm {
        private var last = 0

        override fun run(iterations: Int) {
            order += name
            last = iterations
        }

        override fun account(account: Account) = account.tell(last)
    }

    private var closed = 0
    private var protocol = Protocol.USUAL
    private var arms: List<Arm> = emptyList()

    private val benchmark = Benchmark(
        name = "x",
        arms = listOf("a", "b"),
        params = listOf(EnumParam("mode", listOf("slow", "fast")), IntParam("n", listOf(1), 1L..2L)),
        metrics = listOf(Metric("rate", "op/s", "higher"), Metric("call_time", "ns", "lower")),
    ) {
        order.clear()
        Prepared(arms, 1, 8, protocol, close = { closed++ }) { emptyList() }
    }

    private fun events(line: String, status: Int = 0): List<Parsed> {
        val workload = Workload("s", "w", listOf(benchmark), emptyList(), { emptyMap() }, { emptyList() })
        val out = ByteArrayOutputStream()
        val log = PrintStream(ByteArrayOutputStream())
        assertEquals(status, Session(workload, out, log).run("--min-time-ns 1000 $line".split(' ')))
        return out.toString().removeSuffix("\n").lines().map { JsonParser.parseString(it).asJsonObject }
    }

    private fun List<Parsed>.ofType(type: String) = filter { it["type"].asString == type }

    private fun Parsed.values() = this["values"].asJsonArray.map { it.asLong }

    /** One iteration, no settling: the arms of this test do nothing that takes time. */
    private fun quick(warning: String? = null, order: List<String>? = null, rounds: Int? = null) = Protocol(
        settles = false,
        iterations = 1,
        warmupRounds = 1,
        rounds = rounds,
        order = order,
        warning = warning,
    )

    @Test
    fun `counters stand beside the time and each further metric is an event of its own`() {
        protocol = Protocol(settles = false, iterations = 3)
        arms = listOf(
            Telling("a") { work("items", 7L * it); work("kept", 0); total("rate", 44) },
            Telling("b") { calls("call_time", LongArray(1_500) { i -> i.toLong() }) },
        )
        val samples = events("--rounds 1 --warmup-rounds 0 --params mode=fast").ofType("samples")
        val (a, b) = samples.partition { it["case"].asInt == 0 }
        assertEquals(listOf("time", "rate"), a.map { it["metric"].asString })
        assertEquals("""{"items":21,"kept":0}""", a[0]["work"].toString())
        assertFalse(a[1].has("work"), "counters are said once per timed region")
        assertEquals(listOf(3L, 3L), a.map { it["iterations"].asLong })
        assertEquals(listOf("time", "call_time", "call_time"), b.map { it["metric"].asString })
        assertEquals(listOf(3L, 1L, 1L), b.map { it["iterations"].asLong })
        assertEquals((0L until 1_500L).toList(), b.drop(1).flatMap { it.values() })
        assertTrue(b.drop(1).all { it.values().size <= 1_000 })
        assertFalse(b[0].has("work"))
    }

    @Test
    fun `an arm that measures itself is believed`() {
        protocol = quick()
        arms = listOf(Telling("a") { time(123_456_789) }, Telling("b"))
        val samples = events("--rounds 2 --params mode=fast").ofType("samples")
        val own = samples.filter { it["case"].asInt == 0 }.flatMap { it.values() }
        assertEquals(listOf(123_456_789L, 123_456_789L, 123_456_789L), own)
        assertTrue(samples.filter { it["case"].asInt == 1 }.all { it.values().single() < 123_456_789 })
    }

    @Test
    fun `an arm that cannot run here is announced with its reason and never run`() {
        protocol = quick()
        arms = listOf(Telling("a"), Unavailable("b", "no such instruction"))
        val events = events("--rounds 2 --params mode=slow")
        val reasons = events.ofType("case").map { it["unavailable"]?.asString }
        assertEquals(listOf(null, "no such instruction"), reasons)
        assertEquals(setOf(0), events.ofType("samples").map { it["case"].asInt }.toSet())
        assertEquals("done", events.last()["type"].asString)
    }

    @Test
    fun `a group without any arm that can run ends well`() {
        arms = listOf(Unavailable("a", "not here"), Unavailable("b", "not here"))
        val events = events("--rounds 2")
        assertEquals("done", events.last()["type"].asString)
        assertEquals(4, events.ofType("case").size)
    }

    @Test
    fun `a fixed order and its own rounds are kept to and said as a warning`() {
        protocol = quick("native always first", order = listOf("b", "a"), rounds = 3)
        arms = listOf(Telling("a"), Telling("b"))
        val events = events("--rounds 9 --params mode=fast")
        assertEquals(List(4) { listOf("b", "a") }.flatten(), order)
        val warning = events.ofType("warning").single { it["code"].asString == "protocol" }
        assertEquals("x {mode=fast, n=1}: native always first", warning["text"].asString)
        assertEquals(2, events.ofType("samples").count { it["phase"].asString == "warmup" })
        val progress = events.ofType("progress").last().toString()
        assertEquals("""{"type":"progress","done":4,"total":4}""", progress)
    }

    @Test
    fun `a fixed order without a warning is refused`() {
        assertThrows(IllegalArgumentException::class.java) { Protocol(order = listOf("a")) }
    }

    @Test
    fun `what a group holds is given back also when it fails`() {
        protocol = quick()
        arms = listOf(Telling("a"), Telling("b"))
        events("--rounds 1")
        assertEquals(2, closed)
        arms = listOf(Telling("a") { throw IllegalStateException("broken") }, Telling("b"))
        assertEquals("internal", events("--rounds 1", status = 1).last()["code"].asString)
        assertEquals(3, closed)
    }

    @Test
    fun `text params are listed, selected and refused by value`() {
        arms = listOf(Telling("a"), Telling("b"))
        val listed = events("--list").single()["cases"].asJsonArray
        val cases = listed.map { it.asJsonObject["params"].toString() }
        val both = listOf("""{"mode":"slow","n":1}""", """{"mode":"fast","n":1}""")
        assertEquals(both.flatMap { listOf(it, it) }, cases)
        val one = events("--list --case x/b/mode=fast,n=2").single()["cases"].asJsonArray
        assertEquals(listOf("""{"mode":"fast","n":2}"""), one.map { it.asJsonObject["params"].toString() })
        val wrong = events("--rounds 1 --params mode=medium", status = 1).last()
        assertEquals("usage", wrong["code"].asString)
        assertEquals("mode=medium: expected one of slow, fast.", wrong["text"].asString)
    }

    @Test
    fun `every metric of the benchmark is declared by each of its cases`() {
        protocol = quick()
        arms = listOf(Telling("a"), Telling("b"))
        for (case in events("--rounds 1").ofType("case")) {
            val names = case["metrics"].asJsonArray.map { it.asJsonObject["name"].asString }
            assertEquals(listOf("time", "rate", "call_time"), names)
        }
    }
}
