/**
 * Whole processes: the stream of the command line, the JVM's own checks of JNI, and memory that
 * stays.
 */
package dev.paceline.piece

import com.google.gson.JsonParser
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.nio.file.Path
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit

class PieceProcessTest {
    private class Ended(val status: Int, val out: String, val log: String)

    private fun java(vararg arguments: String, environment: Map<String, String> = emptyMap()): Ended {
        val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
        val library = "-Dpaceline.piece.library=${System.getProperty("paceline.piece.library")}"
        val memory = listOf("-XX:+UseSerialGC", "-Xms96m", "-Xmx96m")
        val command = listOf(java) + memory + listOf(library, "-cp", System.getProperty("java.class.path"))
        val builder = ProcessBuilder(command + arguments)
        builder.environment() += environment
        val process = builder.start()
        // A process that never ends is a failure, not a test run that never ends.
        val end = Runnable { process.destroyForcibly() }
        CompletableFuture.delayedExecutor(MOST_MINUTES, TimeUnit.MINUTES).execute(end)
        val log = StringBuilder()
        val reader = Thread { log.append(process.errorStream.readAllBytes().decodeToString()) }
        reader.start()
        val out = process.inputStream.readAllBytes().decodeToString()
        reader.join()
        assertTrue(process.waitFor(MOST_MINUTES, TimeUnit.MINUTES)) { "the process closed its output and does not end" }
        return Ended(process.exitValue(), out, log.toString())
    }

    private fun events(ended: Ended) =
        ended.out.trim().lines().map { JsonParser.parseString(it).asJsonObject }

    @Test
    fun `a launch under the JVM's own checks of JNI is whole and silent`() {
        val ended = java(
            "-Xcheck:jni", "dev.paceline.piece.MainKt", "--rounds", "2", "--warmup-rounds", "1",
            "--params", "piece_bytes=3000", "--params", "pieces=3",
        )
        assertEquals(0, ended.status, ended.log)
        val events = events(ended)
        val types = events.map { it["type"].asString }
        assertEquals("start", types.first())
        assertEquals("done", types.last())
        assertTrue(events.filter { it["type"].asString == "check" }.all { it["ok"].asBoolean }) { ended.out }
        val complaints = ended.log.lines().filterNot { it.startsWith("JSTorrent-") || it.isBlank() }
        assertEquals(emptyList<String>(), complaints)
    }

    @Test
    fun `a library that is missing is an error event that says what to do`() {
        val ended = java("-Dpaceline.piece.library=/nowhere.so", "dev.paceline.piece.MainKt", "--rounds", "1")
        val last = events(ended).last()
        assertEquals(1, ended.status)
        assertEquals("native_library", last["code"].asString)
        assertTrue("build.sh" in last["text"].asString)
    }

    @Test
    fun `workers that cannot start are an exception each time, not a promise awaited for ever`() {
        val none = mapOf("RUST_MIN_STACK" to NO_STACK)
        val ended = java("dev.paceline.piece.NoWorkersKt", environment = none)
        assertEquals(0, ended.status, ended.log)
        val lines = ended.out.trim().lines()
        assertEquals(3, lines.size, ended.out)
        assertTrue(lines.take(2).all { it.startsWith("workers: ") }) { ended.out }
        assertEquals("closed", lines.last())
    }

    @Test
    fun `a million calls leave memory as it was`() {
        val ended = java("-XX:+AlwaysPreTouch", "dev.paceline.piece.SoakKt", "1000000")
        assertEquals(0, ended.status, ended.log)
        val (before, _, after) = ended.out.trim().split(' ').map { it.toLong() }
        // A leak of 8 bytes a call would be 8 MiB; allocators and code caches move by less than half of that.
        assertTrue(after - before < LEAK_KIB) { "resident: $before KiB, then ${ended.out}" }
    }

    private companion object {
        const val LEAK_KIB = 4 * 1024

        /** Many times what the longest of these processes takes on a busy machine. */
        const val MOST_MINUTES = 3L

        /** Larger than any address space, 2^60 bytes: no thread of the library can have such a stack. */
        const val NO_STACK = "1152921504606846976"
    }
}
