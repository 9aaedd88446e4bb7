/**
 * The workload as the agent starts it, its own process; under `-Xcheck:jni`, so that complaints
 * show.
 */
package dev.paceline.hashing

import com.google.gson.JsonObject
import com.google.gson.JsonParser
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.listDirectoryEntries

class LedgerProcessTest {
    private class Finished(val status: Int, val events: List<JsonObject>, val errors: String) {
        fun of(type: String) = events.filter { it["type"].asString == type }
    }

    @TempDir
    lateinit var folder: Path

    private val built = System.getProperty("paceline.hashing.library")
    private val here = Path.of(System.getProperty("java.home"))

    private fun ledger(
        line: String,
        library: String = built,
        home: Path = here,
        jvm: List<String> = listOf("-Xcheck:jni"),
    ): Finished {
        val java = home.resolve("bin").resolve("java").toString()
        val command = listOf(java) + jvm + "-XX:+UseSerialGC" + "-Dpaceline.hashing.library=$library" +
            listOf("-cp", System.getProperty("java.class.path"), "dev.paceline.hashing.MainKt") +
            line.split(' ')
        val errors = folder.resolve("stderr").toFile()
        val process = ProcessBuilder(command).redirectError(errors).start()
        // -Xcheck:jni complains on stdout: a complaint is a line that is no JSON object, and fails here.
        val events = process.inputReader().readLines().map { JsonParser.parseString(it).asJsonObject }
        return Finished(process.waitFor(), events, errors.readText())
    }

    private val quick = "--warmup-rounds 1 --min-time-ns 100000"

    @Test
    fun `a launch under -Xcheck-jni is a whole stream without complaints`() {
        val filters = "--benchmark ledger_batch --params batch=1|40 --params message=32|150"
        val run = ledger("--rounds 3 --seed 8 --launch 1 $filters $quick")
        assertEquals(0, run.status)
        assertEquals("", run.errors)
        assertEquals("start", run.events.first()["type"].asString)
        assertEquals("done", run.events.last()["type"].asString)
        val running = run.of("case").count { !it.has("unavailable") }
        assertTrue(running >= 4 * 6) { "$running cases" }
        assertEquals(running * (1 + 3), run.of("samples").size)
        val checks = run.of("check")
        assertEquals(
            setOf("sha256_vectors", "jni_smoke", "jni_misuse", "native_equals_fallback"),
            checks.map { it["name"].asString }.toSet(),
        )
        assertTrue(checks.all { it["ok"].asBoolean }) { "$checks" }
        val build = run.events.first()["build"].asJsonObject
        assertTrue(build["engine"].asString in build["engines"].asString.split(' ')) { "$build" }
    }

    @Test
    fun `what cannot run is announced with its reason, and everything else is measured`() {
        val run = ledger("--rounds 1 --benchmark ledger_batch --params batch=10 --params message=150 $quick")
        val ffm = run.of("case").single { it["arm"].asString == "native_ffm" }
        assertEquals(Runtime.version().feature() < 22, ffm.has("unavailable"))
        val measured = run.of("samples").map { it["case"].asInt }.toSet()
        val expected = run.of("case").filter { !it.has("unavailable") }.map { it["case"].asInt }.toSet()
        assertEquals(expected, measured)
    }

    @Test
    fun `cold arms measure fresh processes, and their digests are compared`() {
        val run = ledger("--rounds 2 --benchmark ledger_cold", jvm = emptyList())
        assertEquals(0, run.status, run.errors)
        val cases = run.of("case").associate { it["case"].asInt to it["arm"].asString }
        val times = run.of("samples").filter { it["phase"].asString == "measure" }
            .groupBy({ cases.getValue(it["case"].asInt) }) { it["values"].asJsonArray[0].asLong }
        assertEquals(2, times.getValue("fallback").size)
        for (arm in listOf("native", "policy")) assertEquals(2, times.getValue(arm).size)
        assertEquals("cold: digests of ${times.size} arms equal", run.of("check").last()["detail"].asString)
    }

    @Test
    fun `the original's protocol is replayed with its mistakes counted, and the proper one has none`() {
        val run = ledger("--rounds 4 --benchmark seed_protocol --params batch=100 $quick", jvm = emptyList())
        assertEquals(0, run.status, run.errors)
        val cases = run.of("case").associateBy { it["case"].asInt }
        val (seed, proper) = run.of("samples").partition {
            cases.getValue(it["case"].asInt)["params"].asJsonObject["protocol"].asString == "seed"
        }
        assertEquals(List(3) { listOf("native", "fallback") }.flatten(), seed.map { arm(cases, it) })
        assertTrue(seed.all { it["phase"].asString == "measure" && it["iterations"].asInt == 1 })
        val work = seed.associate { arm(cases, it) to it["work"].toString() }
        assertEquals("""{"items":200,"prepared":100,"kept":0}""", work["native"])
        assertEquals("""{"items":200,"prepared":100,"kept":100}""", work["fallback"])
        val compared = run.of("check").map { it["detail"].asString }
        assertTrue("seed: digests of 2 arms equal" in compared) { "$compared" }
        assertTrue(run.of("check").all { it["ok"].asBoolean }) { "$compared" }
        assertEquals(1, run.of("warning").count { it["code"].asString == "protocol" })
        val items = cases.values.first()["items_per_iteration"].asLong
        for (sample in proper) {
            val counted = sample["work"].asJsonObject
            assertEquals(items * sample["iterations"].asLong, counted["items"].asLong)
            assertEquals(counted["items"], counted["kept"])
        }
        val firsts = proper.filter { it["position"].asInt == 0 && it["phase"].asString == "measure" }
        assertEquals(mapOf("native" to 2, "fallback" to 2), firsts.groupingBy { arm(cases, it) }.eachCount())
    }

    private fun arm(cases: Map<Int, JsonObject>, sample: JsonObject) =
        cases.getValue(sample["case"].asInt)["arm"].asString

    @Test
    fun `on a Java that has foreign functions their arm is measured and right`() {
        val home = javaHomes().firstOrNull { feature(it) >= 22 }
        assumeTrue(home != null, "needs a Java 22 or later, in JAVA_HOME_… or beside this one")
        val both = "--benchmark ledger_batch --benchmark ledger_cold"
        val filters = "$both --params batch=50 --params message=150"
        val run = ledger(
            "--rounds 2 $filters $quick",
            home = home!!,
            jvm = listOf("--enable-native-access=ALL-UNNAMED"),
        )
        assertEquals(0, run.status, run.errors)
        val cases = run.of("case").filter { it["arm"].asString == "native_ffm" }
        assertEquals(listOf("ledger_batch", "ledger_cold"), cases.map { it["benchmark"].asString })
        assertTrue(cases.none { it.has("unavailable") })
        for (case in cases) {
            val measured = run.of("samples").filter { it["phase"].asString == "measure" }
            assertTrue(measured.any { it["case"] == case["case"] })
        }
        assertTrue(run.of("check").all { it["ok"].asBoolean }) { "${run.of("check")}" }
    }

    /** Homes that variables name, and those that lie beside this one. */
    private fun javaHomes(): List<Path> {
        val isHome = { name: String -> name.startsWith("JAVA_HOME") || name.startsWith("JDK_HOME") }
        val named = System.getenv().filterKeys(isHome).values
        val beside = here.toRealPath().parent.listDirectoryEntries()
        val homes = named.map { Path.of(it) } + beside
        return homes.filter { Files.isExecutable(it.resolve("bin").resolve("java")) }
    }

    /** From the `release` file every JDK has; 0 without one. */
    private fun feature(home: Path): Int {
        val release = home.resolve("release")
        if (!Files.isRegularFile(release)) return 0
        val version = Files.readAllLines(release).firstOrNull { it.startsWith("JAVA_VERSION=") } ?: return 0
        return version.substringAfter('"').takeWhile { it.isDigit() }.toIntOrNull() ?: 0
    }

    @Test
    fun `every declared point and arm is listed`() {
        val cases = ledger("--list").events.single()["cases"].asJsonArray.map { it.asJsonObject }
        val counts = cases.groupingBy { it["benchmark"].asString }.eachCount()
        val expected = mapOf(
            "ledger_batch" to 8 * 7 * 5,
            "ledger_crossover" to 4 * 9,
            "ledger_product" to 2 * 5,
            "ledger_cold" to 4,
            "seed_protocol" to 2 * 2 * 3,
        )
        assertEquals(expected, counts)
    }

    @Test
    fun `a missing library is an error event with advice, not a stack trace`() {
        val run = ledger("--rounds 1", library = "/nowhere/libpaceline_hashing.so")
        assertEquals(1, run.status)
        assertEquals(listOf("start", "error"), run.events.map { it["type"].asString })
        assertEquals("native_library", run.events.last()["code"].asString)
        assertTrue("build.sh" in run.events.last()["text"].asString)
        assertEquals("", run.errors)
    }
}
