/**
 * The library's calls: right digests for every length, and misuse that throws instead of crashing.
 */
package dev.paceline.ledger

import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import java.lang.reflect.Modifier
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.concurrent.thread
import kotlin.random.Random

class NativeDigestsTest {
    companion object {
        @JvmStatic
        @BeforeAll
        fun load() = loadBuilt()
    }

    private fun direct(bytes: Int): ByteBuffer =
        ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder())

    private fun direct(bytes: ByteArray): ByteBuffer = direct(bytes.size).put(bytes)

    private fun ints(vararg values: Int): ByteBuffer =
        direct(values.size * 4).also { it.asIntBuffer().put(values) }

    private fun ByteBuffer.bytes() = ByteArray(capacity()).also { get(0, it) }

    /** Every length up to 300 and around the block boundaries beyond: 447, 448, 511, 512, 1,023 … */
    private val lengths = (0..300) + listOf(310, 311, 319, 320, 447, 448, 511, 512, 1_023, 1_024, 1_079)

    @Test
    fun `every call and every engine gives the platform's digests at every length`() {
        for (length in lengths) {
            val messages = List(19) { Random(length + it).nextBytes(length) }
            val (bytes, expected) = joined(messages) to platform(messages)
            for (engine in listOf(0) + NativeDigests.engines().map { NativeDigests.engineNumber(it)!! }) {
                val equal = direct(expected.size)
                NativeDigests.digestEqual(direct(bytes), length, equal, engine)
                assertArrayEquals(expected, equal.bytes(), "equal, length $length, engine $engine")
                val ragged = direct(expected.size)
                NativeDigests.digestRagged(direct(bytes), ints(*offsetsOf(messages)), ragged, engine)
                assertArrayEquals(expected, ragged.bytes(), "ragged, length $length, engine $engine")
                val array = ByteArray(expected.size)
                NativeDigests.digestArray(bytes, offsetsOf(messages), 19, array, 0, engine)
                assertArrayEquals(expected, array, "array, length $length, engine $engine")
                val one = ByteArray(32)
                NativeDigests.digestOne(bytes, 0, length, one, 0, engine)
                assertArrayEquals(expected.copyOf(32), one, "one, length $length, engine $engine")
            }
        }
    }

    @Test
    fun `uneven messages at odd places give the platform's digests`() {
        val random = Random(7)
        repeat(60) { round ->
            val messages = randomMessages(random, random.nextInt(700), 260)
            val expected = platform(messages)
            val lead = random.nextInt(70)
            val bytes = ByteArray(lead) + joined(messages) + ByteArray(random.nextInt(5))
            val offsets = offsetsOf(messages).map { it + lead }.toIntArray()
            val digests = ByteArray(3 + expected.size + 2)
            NativeDigests.digestArray(bytes, offsets, messages.size, digests, 3)
            assertArrayEquals(ByteArray(3) + expected + ByteArray(2), digests, "round $round")
            val buffer = direct(expected.size)
            NativeDigests.digestRagged(direct(bytes), ints(*offsets), buffer)
            assertArrayEquals(expected, buffer.bytes(), "round $round")
        }
    }

    @Test
    fun `empty batches and empty messages are fine`() {
        NativeDigests.digestEqual(direct(0), 64, direct(0))
        NativeDigests.digestRagged(direct(0), ints(0), direct(0))
        NativeDigests.digestArray(ByteArray(0), intArrayOf(0), 0, ByteArray(0))
        val digests = direct(64)
        NativeDigests.digestEqual(direct(0), 0, digests)
        assertArrayEquals(platform(listOf(ByteArray(0), ByteArray(0))), digests.bytes())
    }

    @Test
    fun `positions and limits are neither used nor moved`() {
        val messages = direct(128).position(5).limit(70)
        val digests = direct(64).position(64)
        NativeDigests.digestEqual(messages, 64, digests)
        assertEquals(listOf(5, 70, 64), listOf(messages.position(), messages.limit(), digests.position()))
        assertArrayEquals(platform(listOf(ByteArray(64), ByteArray(64))), digests.bytes())
    }

    @Test
    fun `direct buffers that do not fit throw, say why, and write nothing`() {
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
            refused(named) { NativeDigests.digestEqual(messages, messageBytes, digests) }
            assertArrayEquals(ByteArray(digests.capacity()), digests.bytes(), named)
        }
        val block = direct(200)
        refused("no whole") { NativeDigests.digestRagged(direct(9), direct(7), direct(32)) }
        refused("no whole") { NativeDigests.digestRagged(direct(9), direct(9).slice(1, 8), direct(32)) }
        refused("offset 1 is less") { NativeDigests.digestRagged(direct(9), ints(5, 4), direct(32)) }
        refused("messages: 9 bytes") { NativeDigests.digestRagged(direct(9), ints(0, 10), direct(32)) }
        refused("messages: 9 bytes") { NativeDigests.digestRagged(direct(9), ints(0, -1), direct(32)) }
        refused("overlap") { NativeDigests.digestRagged(direct(9), block.slice(0, 8), block.slice(4, 32)) }
        refused("offsets: 3") { NativeDigests.digestRagged(direct(9), ints(0, 4, 9), direct(32)) }
    }

    @Test
    fun `arrays that do not fit throw, say why, and write nothing`() {
        val (bytes, digests) = ByteArray(64) to ByteArray(64)
        val batch = { offsets: IntArray, count: Int, to: Int ->
            NativeDigests.digestArray(bytes, offsets, count, digests, to)
        }
        refused("offsets: 3 from 0") { batch(intArrayOf(0, 1), 2, 0) }
        refused("count: -1") { batch(intArrayOf(0, 1), -1, 0) }
        refused("offsets: ") { batch(intArrayOf(0, 1), Int.MAX_VALUE, 0) }
        refused("digests: 32 from 33") { batch(intArrayOf(0, 1), 1, 33) }
        refused("digests: 32 from -1") { batch(intArrayOf(0, 1), 1, -1) }
        refused("messages: 64 bytes") { batch(intArrayOf(0, 65), 1, 0) }
        refused("messages: 64 bytes") { batch(intArrayOf(0, Int.MIN_VALUE), 1, 0) }
        refused("offset 2 is less") { batch(intArrayOf(0, 5, 4), 2, 0) }
        refused("overlap") { NativeDigests.digestArray(bytes, intArrayOf(0, 1), 1, bytes) }
        refused("messages: 65 from 0") { NativeDigests.digestOne(bytes, 0, 65, digests, 0) }
        refused("messages: 1000 from 0") { NativeDigests.digestOne(bytes, 0, 1_000, digests, 0) }
        refused("messages: 1 from -1") { NativeDigests.digestOne(bytes, -1, 1, digests, 0) }
        refused("messages: -1 bytes") { NativeDigests.digestOne(bytes, 0, -1, digests, 0) }
        refused("digests: 32 from 33") { NativeDigests.digestOne(bytes, 0, 1, digests, 33) }
        for (engine in listOf(-1, 99, Int.MAX_VALUE)) {
            refused("there is no number $engine") { NativeDigests.digestOne(bytes, 0, 1, digests, 0, engine) }
        }
        assertArrayEquals(ByteArray(64), digests)
        assertThrows(IllegalArgumentException::class.java) { NativeDigests.engineName(0) }
    }

    /** As Java could: Kotlin's types forbid it. */
    @Test
    fun `null is an exception`() {
        for (call in NativeDigests::class.java.declaredMethods.filter { it.name == "digestArray0" }) {
            call.isAccessible = true
            val thrown = assertThrows(java.lang.reflect.InvocationTargetException::class.java) {
                call.invoke(null, null, intArrayOf(0), 0, ByteArray(0), 0, 0)
            }
            assertEquals("messages: null", thrown.cause?.message)
        }
    }

    private fun refused(named: String, call: () -> Unit) {
        val error = assertThrows(IllegalArgumentException::class.java, { call() }, named)
        assertTrue(named in error.message.orEmpty()) { "$named: ${error.message}" }
    }

    @Test
    fun `a panic arrives as a Java exception and the library goes on working`() {
        val error = assertThrows(IllegalStateException::class.java) { Provoked.panic() }
        assertEquals("panic in native code: asked for", error.message)
        `empty batches and empty messages are fine`()
    }

    @Test
    fun `calls over addresses are not for users, neither of Kotlin nor of Java`() {
        val natives = NativeDigests::class.java.declaredMethods.filter { Modifier.isNative(it.modifiers) }
        assertEquals(10, natives.size, "$natives")
        for (call in natives) {
            // Internal functions are no names to Kotlin's users, synthetic methods none to Java's compiler.
            assertTrue(Modifier.isPrivate(call.modifiers) || call.isSynthetic) { "$call" }
        }
    }

    @Test
    fun `threads with their own memory do not disturb each other`() {
        val threads = Executors.newFixedThreadPool(4)
        try {
            val wrong = threads.invokeAll((0 until 4).map { seed -> Callable { wrongBatches(seed) } })
            assertEquals(listOf(0, 0, 0, 0), wrong.map { it.get() })
        } finally {
            threads.shutdown()
        }
    }

    private fun wrongBatches(seed: Int): Int {
        val messages = randomMessages(Random(seed), 100, 200)
        val (bytes, offsets, expected) = Triple(joined(messages), offsetsOf(messages), platform(messages))
        return (0 until 200).count {
            val digests = ByteArray(expected.size)
            NativeDigests.digestArray(bytes, offsets, 100, digests)
            !digests.contentEquals(expected)
        }
    }

    @Test
    fun `offsets that another thread breaks during the call never crash`() {
        val (messages, offsets) = ByteArray(64 * 600) to IntArray(601) { 64 * it }
        val direct = ints(*offsets)
        val stop = AtomicBoolean()
        val breaker = thread {
            while (!stop.get()) {
                offsets[300] = Int.MAX_VALUE
                direct.putInt(1_200, -5)
                offsets[300] = 64 * 300
                direct.putInt(1_200, 64 * 300)
            }
        }
        try {
            val (input, output, digests) = Triple(direct(messages), direct(600 * 32), ByteArray(600 * 32))
            val outcomes = (0 until 2_000).map {
                val array = runCatching { NativeDigests.digestArray(messages, offsets, 600, digests) }
                val ragged = runCatching { NativeDigests.digestRagged(input, direct, output) }
                array.exceptionOrNull() to ragged.exceptionOrNull()
            }
            val thrown = outcomes.flatMap { it.toList() }.filterNotNull()
            val odd = thrown.filter { it !is IllegalArgumentException }
            assertEquals(emptyList<Throwable>(), odd)
        } finally {
            stop.set(true)
            breaker.join()
        }
    }
}
