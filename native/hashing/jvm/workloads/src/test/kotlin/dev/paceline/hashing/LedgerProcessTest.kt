/** The workload as the agent starts it, its own process; under `-Xcheck:jni`, so that complaints show. */
package dev.paceline.hashing

import com.google.gson.JsonObject
import com.google.gson.JsonParser
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Path

class LedgerProcessTest {
    private class Finished(val status: Int, val events: List<JsonObject>, val errors: String)

    @TempDir
    lateinit var folder: Path

    private val built = System.getProperty("paceline.hashing.library")

    private fun ledger(line: String, library: String = built): Finished {
        val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
        val classes = System.getProperty("java.class.path")
        val command = listOf(java, "-Xcheck:jni", "-XX:+UseSerialGC", "-Dpaceline.hashing.library=$library") +
            listOf("-cp", classes, "dev.paceline.hashing.MainKt") + line.split(' ')
        val errors = folder.resolve("stderr").toFile()
        val process = ProcessBuilder(command).redirectError(errors).start()
        // -Xcheck:jni complains on stdout: a complaint is a line that is no JSON object, and fails here.
        val events = process.inputReader().readLines().map { JsonParser.parseString(it).asJsonObject }
        return Finished(process.waitFor(), events, errors.readText())
    }

    private val JsonObject.type get() = this["type"].asString

    @Test
    fun `a launch under -Xcheck-jni is a whole stream without complaints`() {
        val run = ledger("--rounds 4 --seed 8 --launch 1 --params batch=1000|2000")
        assertEquals(0, run.status)
        assertEquals("", run.errors)
        assertEquals("start", run.events.first().type)
        assertEquals("done", run.events.last().type)
        assertEquals(2 * 2 * (5 + 4), run.events.count { it.type == "samples" })
        val checks = run.events.filter { it.type == "check" }
        assertEquals(
            setOf("sha256_vectors", "jni_smoke", "native_equals_fallback"),
            checks.map { it["name"].asString }.toSet(),
        )
        assertTrue(checks.all { it["ok"].asBoolean }) { "$checks" }
        val engine = run.events.first()["build"].asJsonObject["engine"].asString
        assertTrue(engine in setOf("sha_ni", "armv8_sha2", "portable"), engine)
    }

    @Test
    fun `every declared batch size and arm is listed`() {
        val cases = ledger("--list").events.single()["cases"].asJsonArray.map { it.asJsonObject }
        val listed = cases.map { it["arm"].asString to it["params"].asJsonObject["batch"].asInt }
        val batches = listOf(1_000, 2_000, 5_000, 10_000)
        assertEquals(batches.flatMap { listOf("fallback" to it, "native" to it) }, listed)
    }

    @Test
    fun `a missing library is an error event with advice, not a stack trace`() {
        val run = ledger("--rounds 1", library = "/nowhere/libpaceline_hashing.so")
        assertEquals(1, run.status)
        assertEquals(listOf("start", "error"), run.events.map { it.type })
        assertEquals("native_library", run.events.last()["code"].asString)
        assertTrue("build.sh" in run.events.last()["text"].asString)
        assertEquals("", run.errors)
    }
}
