/**
 * Libraries that must not be used, each a real file: the platform digests, and the status says why.
 */
package dev.paceline.ledger

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.readBytes
import kotlin.io.path.writeBytes

class BrokenLibraryTest {
    @TempDir
    lateinit var folder: Path

    private val built = Path.of(BUILT).readBytes()

    /** Opens the file in a JVM of its own, as a library can be loaded but not unloaded; its status. */
    private fun opened(name: String, bytes: ByteArray?, vararg next: String): String {
        val path = folder.resolve(name)
        if (bytes != null) path.writeBytes(bytes)
        val run = child("dev.paceline.ledger.OpenKt", emptyList(), path.toString(), *next)
        assertEquals(0, run.status, run.errors)
        val (status, digest) = run.output.trim().lines()
        assertEquals("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", digest, status)
        return status
    }

    private fun assertFallback(status: String, vararg reasons: String) {
        assertTrue(status.startsWith("fallback, ")) { status }
        assertTrue(reasons.all { it in status }) { status }
    }

    /** Replaces every occurrence; there must be one. */
    private fun ByteArray.patched(old: ByteArray, new: ByteArray): ByteArray {
        val result = copyOf()
        var found = 0
        for (at in 0..size - old.size) {
            if (old.indices.all { this[at + it] == old[it] }) {
                new.copyInto(result, at)
                found++
            }
        }
        assertTrue(found > 0) { "the library no longer holds what this test patches" }
        return result
    }

    @Test
    fun `the library as it was built is used`() {
        val status = opened("whole.so", built)
        assertTrue(status.startsWith("native, ")) { status }
    }

    @Test
    fun `a missing library`() =
        assertFallback(opened("missing.so", null), "There is no native library at", "missing.so")

    @Test
    fun `an empty file`() = assertFallback(opened("empty.so", ByteArray(0)), "cannot be used on", "empty.so")

    @Test
    fun `a library cut short, which the system's loader would map and crash on`() {
        for (bytes in listOf(10, 63, 64, 1_000, built.size / 3, built.size - 1)) {
            assertFallback(opened("short.so", built.copyOf(bytes)), "short.so")
        }
    }

    @Test
    fun `a library of another CPU`() {
        // e_machine of the ELF header: AArch64 where this is x86-64, and the other way round.
        val other: Byte = if (built[18].toInt() == 0x3e) 0xb7.toByte() else 0x3e
        val status = opened("other.so", built.copyOf().also { it[18] = other })
        assertFallback(status, "cannot be used on", System.getProperty("os.arch"))
    }

    @Test
    fun `a library of another ABI version`() {
        assertFallback(opened("old.so", old()), "has ABI version 2, these classes need 3")
    }

    private fun old(): ByteArray =
        built.patched("hashing-abi=000003".toByteArray(), "hashing-abi=000002".toByteArray())

    @Test
    fun `after a library that the system loaded and we refused no other is taken`() {
        assertFallback(opened("old.so", old(), BUILT), "is not tried", "old.so, which was refused")
    }

    @Test
    fun `after a library that the system did not load the next is taken`() {
        for (bytes in listOf(null, ByteArray(0), built.copyOf(1_000))) {
            val status = opened("first${bytes?.size}.so", bytes, BUILT)
            assertTrue(status.startsWith("native, ")) { status }
        }
    }

    @Test
    fun `a library without our calls`() {
        val renamed = built.patched("Digests_abiVersion".toByteArray(), "Digests_itsVersion".toByteArray())
        assertFallback(opened("foreign.so", renamed), "cannot be used on", "abiVersion")
    }

    @Test
    fun `a library that digests wrongly`() {
        // The first round constants of FIPS 180-4 §4.2.2, as tables of any engine hold them.
        val constants = intArrayOf(0x428a2f98, 0x71374491)
        val wrong = intArrayOf(0x428a2f99, 0x71374491)
        val bytes = { ints: IntArray ->
            ints.flatMap { i -> List(4) { (i shr (8 * it)).toByte() } }.toByteArray()
        }
        val status = opened("wrong.so", built.patched(bytes(constants), bytes(wrong)))
        assertFallback(status, "fails its self-test", "gave a wrong digest of message 0")
    }

    /**
     * Gives [call] the code that panics, in the table of dynamic symbols (ELF-64, little-endian), by which
     * the system's loader fills the table of bound calls.
     */
    private fun ByteArray.panicking(call: String): ByteArray {
        val elf = ByteBuffer.wrap(copyOf()).order(ByteOrder.LITTLE_ENDIAN)
        val sections = List(elf.getShort(60).toInt()) { elf.getLong(40).toInt() + it * 64 }
        val start = { section: Int -> elf.getLong(section + 24).toInt() }
        val table = sections.single { elf.getInt(it + 4) == DYNAMIC_SYMBOLS }
        val names = start(sections[elf.getInt(table + 40)])
        val symbols = List(elf.getLong(table + 32).toInt() / 24) { start(table) + it * 24 }
        val (patched, panic) = listOf("NativeDigests_$call", "Provoked_panic").map { function ->
            val name = "Java_dev_paceline_ledger_$function\u0000".toByteArray()
            symbols.single { symbol ->
                val at = names + elf.getInt(symbol)
                at + name.size <= size && name.contentEquals(copyOfRange(at, at + name.size))
            } + 8
        }
        return elf.putLong(patched, elf.getLong(panic)).array()
    }

    @Test
    fun `a library one of whose calls throws, whichever it is`() {
        val calls = listOf("digestArray0", "digestRagged0", "digestOne0", "digestAt0", "digestEqual0")
        for (call in calls) {
            val status = opened("throws.so", built.panicking(call))
            assertFallback(status, "fails its self-test", "panic in native code")
        }
    }

    @Test
    fun `a library that binds a call which these classes do not have`() {
        val renamed = built.patched("digestRagged0\u0000".toByteArray(), "digestRugged0\u0000".toByteArray())
        assertFallback(opened("other-calls.so", renamed), "digestRugged0")
    }

    @Test
    fun `a folder`() {
        Files.createDirectory(folder.resolve("folder"))
        assertFallback(opened("folder", null), "There is no native library at")
    }

    private companion object {
        /** `SHT_DYNSYM`. */
        const val DYNAMIC_SYMBOLS = 11
    }
}
