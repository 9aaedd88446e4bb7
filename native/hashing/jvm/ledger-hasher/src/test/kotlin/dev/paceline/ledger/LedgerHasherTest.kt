/**
 * What a product gets: equal digests on every path, from any thread, with nothing allocated on the
 * way.
 */
package dev.paceline.ledger

import com.sun.management.ThreadMXBean
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.lang.management.ManagementFactory
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import kotlin.random.Random

class LedgerHasherTest {
    private val source = LibrarySource.AtPath(BUILT)
    private val native = LedgerHasher.open(source, LedgerPolicy(minimumBatch = 1, warmupRounds = 0))
    private val fallback = LedgerHasher.open(LibrarySource.None)

    @Test
    fun `the status says what digests and why`() {
        assertTrue(native.status.native) { "${native.status}" }
        assertTrue(native.status.engine in NativeDigests.engines()) { "${native.status}" }
        assertEquals("", native.status.reason)
        assertFalse(fallback.status.native)
        assertEquals("No native library was asked for.", fallback.status.reason)
        assertTrue(fallback.status.engine.isNotEmpty())
    }

    @Test
    fun `lists, entries and direct batches have the platform's digests, with the library and without`() {
        val random = Random(11)
        for (count in listOf(0, 1, 2, 15, 16, 17, 255, 256, 257, 1_000)) {
            val messages = randomMessages(random, count, 200)
            val entries = List(count) { fingerprint(random) }
            for (hasher in listOf(native, fallback)) {
                val lists = ByteArray(count * 32 + 5)
                hasher.digestMessages(messages, lists, 5)
                assertArrayEquals(ByteArray(5) + platform(messages), lists, "$count messages")
                val encoded = ByteArray(count * 32)
                hasher.digestFingerprints(entries, encoded)
                assertArrayEquals(platform(entries.map { it.encoded() }), encoded, "$count entries")
                val batch = DirectBatch(count * 200, count)
                assertTrue(messages.all { batch.add(it) })
                hasher.digest(batch)
                assertArrayEquals(platform(messages), ByteArray(count * 32).also { batch.digests(it) })
            }
        }
    }

    @Test
    fun `messages longer than the room for them are digested all the same`() {
        val messages = listOf(70_000, 3, 65_536, 65_537, 0, 200_000, 7).map { Random(it).nextBytes(it) }
        val digests = ByteArray(messages.size * 32)
        native.digestMessages(messages, digests)
        assertArrayEquals(platform(messages), digests)
    }

    @Test
    fun `a batch that is filled again forgets the one before`() {
        val batch = DirectBatch(640, 10)
        for (round in 0 until 5) {
            val bytes = { i: Int -> if (round % 2 == 0) 64 else 10 + i }
            val messages = List(1 + round * 2) { Random(round).nextBytes(bytes(it)) }
            batch.clear()
            messages.forEach { assertTrue(batch.add(it)) }
            native.digest(batch)
            assertArrayEquals(platform(messages), ByteArray(messages.size * 32).also { batch.digests(it) })
        }
        assertFalse(DirectBatch(10, 5).add(ByteArray(11)), "no room")
        assertFalse(DirectBatch(10, 0).add(ByteArray(1)), "no place")
        assertThrows(IndexOutOfBoundsException::class.java) { batch.digest(9, ByteArray(32)) }
        assertThrows(IndexOutOfBoundsException::class.java) { DirectBatch(10, 1).add(ByteArray(3), 1, 3) }
        assertThrows(IllegalArgumentException::class.java) { DirectBatch(-1, 1) }
        assertThrows(IllegalArgumentException::class.java) { DirectBatch(1, Int.MAX_VALUE) }
    }

    @Test
    fun `the policy decides by the size of the batch, and the original's can be said`() {
        val seed = LedgerHasher.open(source, LedgerPolicy.SEED)
        assertEquals(listOf(2_000, 1), listOf(seed.policy.minimumBatch, seed.policy.warmupRounds))
        assertEquals(1, LedgerHasher.open(source).policy.warmupRounds, "warm before the first batch")
        val messages = List(2_000) { Random(it).nextBytes(32) }
        for (count in listOf(1_999, 2_000)) {
            val digests = ByteArray(count * 32)
            seed.digestMessages(messages.take(count), digests)
            assertArrayEquals(platform(messages.take(count)), digests)
        }
        assertThrows(IllegalArgumentException::class.java) { LedgerPolicy(0, 0) }
        assertThrows(IllegalArgumentException::class.java) { LedgerPolicy(1, -1) }
    }

    @Test
    fun `too little room is refused before anything is written`() {
        val digests = ByteArray(64)
        for (from in listOf(1, -1, 64, Int.MAX_VALUE)) {
            for (hasher in listOf(native, fallback)) {
                assertThrows(IllegalArgumentException::class.java) {
                    hasher.digestMessages(List(2) { ByteArray(1) }, digests, from)
                }
            }
        }
        assertArrayEquals(ByteArray(64), digests)
    }

    @Test
    fun `one hasher serves many threads`() {
        val threads = Executors.newFixedThreadPool(6)
        try {
            val tasks = (0 until 6).map { seed ->
                Callable {
                    val random = Random(seed)
                    val entries = List(300) { fingerprint(random) }
                    val expected = platform(entries.map { it.encoded() })
                    (0 until 100).count {
                        val digests = ByteArray(expected.size)
                        (if (it % 3 == 0) fallback else native).digestFingerprints(entries, digests)
                        !digests.contentEquals(expected)
                    }
                }
            }
            assertEquals(List(6) { 0 }, threads.invokeAll(tasks).map { it.get() })
        } finally {
            threads.shutdown()
        }
    }

    @Test
    fun `nothing is allocated per fingerprint`() {
        val random = Random(2)
        val entries = List(1_000) { fingerprint(random) }
        val messages = entries.map { it.encoded() }
        val batch = DirectBatch(1_000 * 160, 1_000).apply { messages.forEach { add(it) } }
        val digests = ByteArray(32_000)
        for (hasher in listOf(native, fallback)) {
            val paths = mapOf<String, () -> Unit>(
                "messages" to { hasher.digestMessages(messages, digests) },
                "fingerprints" to { hasher.digestFingerprints(entries, digests) },
                "direct" to { hasher.digest(batch) },
            )
            for ((path, digest) in paths) {
                repeat(3) { digest() } // the thread's own memory is made once
                val bytes = allocated { repeat(20) { digest() } }
                // 20,000 fingerprints; an object each would be 320,000 bytes at least.
                assertTrue(bytes < 20_000) { "$path, native=${hasher.status.native}: $bytes bytes" }
            }
        }
    }

    private fun allocated(work: () -> Unit): Long {
        val threads = ManagementFactory.getThreadMXBean() as ThreadMXBean
        val before = threads.currentThreadAllocatedBytes
        work()
        return threads.currentThreadAllocatedBytes - before
    }
}
