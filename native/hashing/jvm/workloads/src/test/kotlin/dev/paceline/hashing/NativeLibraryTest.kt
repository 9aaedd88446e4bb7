/** The library through JNI: right digests, and misuse that throws instead of crashing. */
package dev.paceline.hashing

import dev.paceline.harness.WorkloadError
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.nio.ByteBuffer
import java.nio.file.Files
import java.nio.file.Path
import java.security.MessageDigest
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import kotlin.random.Random

class NativeLibraryTest {
    companion object {
        @JvmStatic
        @BeforeAll
        fun load() = NativeLibrary.load()
    }

    private fun direct(bytes: Int): ByteBuffer = ByteBuffer.allocateDirect(bytes)

    private fun ByteBuffer.bytes() = ByteArray(capacity()).also { get(0, it) }

    private fun platform(messages: ByteArray, messageBytes: Int): ByteArray {
        val sha256 = MessageDigest.getInstance("SHA-256")
        return (0 until messages.size / messageBytes)
            .map { sha256.digest(messages.copyOfRange(it * messageBytes, (it + 1) * messageBytes)) }
            .fold(ByteArray(0)) { all, digest -> all + digest }
    }

    @Test
    fun `digests equal the platform's for every length up to 300`() {
        for (length in 1..300) {
            val messages = Random(length).nextBytes(3 * length)
            val digests = direct(3 * 32)
            NativeLibrary.digestBatch(direct(messages.size).put(messages), length, digests)
            assertArrayEquals(platform(messages, length), digests.bytes(), "length $length")
        }
    }

    @Test
    fun `empty batches and empty messages are fine`() {
        NativeLibrary.digestBatch(direct(0), 64, direct(0))
        val digests = direct(64)
        NativeLibrary.digestBatch(direct(0), 0, digests)
        val empty = MessageDigest.getInstance("SHA-256").digest()
        assertArrayEquals(empty + empty, digests.bytes())
    }

    @Test
    fun `positions and limits are neither used nor moved`() {
        val messages = direct(128).position(5).limit(70)
        val digests = direct(64).position(64)
        NativeLibrary.digestBatch(messages, 64, digests)
        assertEquals(listOf(5, 70, 64), listOf(messages.position(), messages.limit(), digests.position()))
        assertArrayEquals(platform(ByteArray(128), 64), digests.bytes())
    }

    @Test
    fun `sizes and buffers that do not fit throw, say why, and write nothing`() {
        val shared = direct(96 * 2)
        val most = Int.MAX_VALUE
        val wrong = mapOf(
            "messages: 63 bytes" to Triple(direct(63), 64, direct(32)),
            "messages: 65 bytes" to Triple(direct(65), 64, direct(32)),
            "digests: 31 bytes" to Triple(direct(64), 64, direct(31)),
            "messages: 64 bytes" to Triple(direct(64), 64, direct(64)),
            "-1 is negative" to Triple(direct(64), -1, direct(32)),
            "${most.toLong() * 2}" to Triple(direct(64), most, direct(64)),
            "messages: not a direct" to Triple(ByteBuffer.allocate(64), 64, direct(32)),
            "digests: not a direct" to Triple(direct(64), 64, ByteBuffer.allocate(32)),
            "digests: read-only" to Triple(direct(64), 64, direct(32).asReadOnlyBuffer()),
            "overlap" to Triple(shared.slice(0, 64), 64, shared.slice(63, 32)),
        )
        for ((named, call) in wrong) {
            val (messages, messageBytes, digests) = call
            val error = assertThrows(IllegalArgumentException::class.java) {
                NativeLibrary.digestBatch(messages, messageBytes, digests)
            }
            assertTrue(named in error.message.orEmpty()) { "$named: ${error.message}" }
            assertArrayEquals(ByteArray(digests.capacity()), digests.bytes(), named)
        }
    }

    @Test
    fun `buffers that touch but do not overlap are fine`() {
        val shared = direct(96)
        NativeLibrary.digestBatch(shared.slice(0, 64), 64, shared.slice(64, 32))
        assertArrayEquals(platform(ByteArray(64), 64), shared.slice(64, 32).bytes())
    }

    @Test
    fun `a panic arrives as a Java exception and the library goes on working`() {
        val error = assertThrows(IllegalStateException::class.java) { NativeLibrary.provokePanic() }
        assertEquals("panic in native code: asked for", error.message)
        `empty batches and empty messages are fine`()
    }

    @Test
    fun `threads with their own buffers do not disturb each other`() {
        val threads = Executors.newFixedThreadPool(4)
        try {
            val wrong = threads.invokeAll((0 until 4).map { seed -> Callable { wrongBatches(seed) } })
            assertEquals(listOf(0, 0, 0, 0), wrong.map { it.get() })
        } finally {
            threads.shutdown()
        }
    }

    private fun wrongBatches(seed: Int): Int {
        val messages = Random(seed).nextBytes(100 * MESSAGE_BYTES)
        val input = direct(messages.size).put(messages)
        val expected = platform(messages, MESSAGE_BYTES)
        return (0 until 200).count {
            val digests = direct(100 * 32)
            NativeLibrary.digestBatch(input, MESSAGE_BYTES, digests)
            !digests.bytes().contentEquals(expected)
        }
    }

    @Test
    fun `a library that is missing or is none is refused with advice`(@TempDir folder: Path) {
        val noLibrary = Files.createFile(folder.resolve("empty.so"))
        for (path in listOf(folder.resolve("missing.so"), noLibrary)) {
            val error = assertThrows(WorkloadError::class.java) { NativeLibrary.load(path) }
            assertEquals("native_library", error.code)
            assertTrue("$path" in error.text && "build.sh" in error.text) { error.text }
        }
    }
}
