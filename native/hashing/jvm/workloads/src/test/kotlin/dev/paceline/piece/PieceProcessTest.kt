/** Whole processes: the stream of the command line, the JVM's own checks of JNI, and memory that stays. */
package dev.paceline.piece

import com.google.gson.JsonParser
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.nio.file.Path
import java.util.concurrent.TimeUnit

class PieceProcessTest {
    private class Ended(val status: Int, val out: String, val log: String)

    private fun java(vararg arguments: String): Ended {
        val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
        val library = "-Dpaceline.piece.library=${System.getProperty("paceline.piece.library")}"
        val memory = listOf("-XX:+UseSerialGC", "-Xms96m", "-Xmx96m")
        val command = listOf(java) + memory + listOf(library, "-cp", System.getProperty("java.class.path"))
        val process = ProcessBuilder(command + arguments).start()
        val log = StringBuilder()
        val reader = Thread { log.append(process.errorStream.readAllBytes().decodeToString()) }
        reader.start()
        val out = process.inputStream.readAllBytes().decodeToString()
        reader.join()
        assertTrue(process.waitFor(1, TimeUnit.MINUTES)) { "the process closed its output and does not end" }
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
    fun `a hundred thousand calls leave memory as it was`() {
        val ended = java("-XX:+AlwaysPreTouch", "dev.paceline.piece.SoakKt")
        assertEquals(0, ended.status, ended.log)
        val (before, after) = ended.out.trim().split(' ').map { it.toLong() }
        // A leak of 64 bytes a call would be 6 MiB; allocators and code caches move by less than half of
        // that.
        assertTrue(after - before < LEAK_KIB) { "resident: $before KiB, then $after KiB" }
    }

    private companion object {
        const val LEAK_KIB = 4 * 1024
    }
}
