/** The canonical encoding: its length, its bytes, and that no two entries share one. */
package dev.paceline.ledger

import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import kotlin.random.Random

class FingerprintTest {
    private fun entry(
        sequence: Long = 0,
        timeMs: Long = 0,
        latitudeE7: Int = 0,
        longitudeE7: Int = 0,
        accuracyCm: Int = 0,
        author: ByteArray = ByteArray(32) { 1 },
    ) = Fingerprint(
        author, ByteArray(32) { 2 }, ByteArray(32) { 3 }, ByteArray(32) { 4 },
        sequence, timeMs, latitudeE7, longitudeE7, accuracyCm,
    )

    @Test
    fun `the encoding is the documented one`() {
        val encoded = entry(300, 1_761_955_200_000, 521_234_567, -1, 127).encoded()
        val head = byteArrayOf(1) + (1..4).flatMap { part -> List(32) { part.toByte() } }
        assertArrayEquals(head, encoded.copyOf(129))
        val tail = encoded.drop(129).joinToString(" ") { "%02x".format(it) }
        // 300 · 1,761,955,200,000 · zigzag 1,042,469,134 · zigzag 1 · 127, each LEB128
        assertEquals("ac 02 80 f8 da e5 a3 33 8e a2 8b f1 03 01 7f", tail)
    }

    /** The plain way to write LEB128, one group at a time. */
    private fun leb128(value: Long): List<Byte> {
        val bytes = ArrayList<Byte>()
        var rest = value
        do {
            val more = if (rest >= 128) 128 else 0
            bytes += (rest and 127 or more.toLong()).toByte()
            rest = rest ushr 7
        } while (rest != 0L)
        return bytes
    }

    @Test
    fun `every length of a varint is what one group at a time gives`() {
        val edges = (0..55).flatMap { bit -> listOf((1L shl bit) - 1, 1L shl bit, (1L shl bit) + 1) }
        for (value in edges + ((1L shl 56) - 1) + List(2_000) { Random(it).nextLong(1L shl 56) }) {
            val encoded = entry(sequence = value, timeMs = value).encoded().drop(129)
            assertEquals(leb128(value) + leb128(value) + listOf<Byte>(0, 0, 0), encoded, "$value")
        }
    }

    @Test
    fun `real entries are 147 to 151 bytes long and of more than one length`() {
        val random = Random(3)
        val lengths = List(5_000) {
            fingerprint(random, sequence = random.nextLong(1L shl 14, 1L shl 23)).encoded().size
        }
        assertTrue(lengths.max() <= 151) { "${lengths.max()}" }
        assertTrue(lengths.count { it >= 147 } > 4_900) { "${lengths.groupingBy { it }.eachCount()}" }
        assertTrue(lengths.distinct().size >= 4)
    }

    @Test
    fun `an entry is read back from its encoding`() {
        val random = Random(5)
        repeat(1_000) {
            val entry = fingerprint(random)
            val encoded = entry.encoded()
            val parts = listOf(entry.author, entry.previous, entry.content, entry.place)
            parts.forEachIndexed { i, part ->
                assertArrayEquals(part, encoded.copyOfRange(1 + 32 * i, 33 + 32 * i))
            }
            val numbers = ArrayList<Long>()
            var at = 129
            while (at < encoded.size) {
                var (value, shift) = 0L to 0
                do {
                    val byte = encoded[at++].toLong()
                    value = value or ((byte and 127) shl shift)
                    shift += 7
                } while (byte < 0)
                numbers += value
            }
            val zigzag = { coded: Long -> ((coded ushr 1) xor -(coded and 1)).toInt() }
            assertEquals(listOf(entry.sequence, entry.timeMs), numbers.take(2))
            assertEquals(listOf(entry.latitudeE7, entry.longitudeE7), numbers.slice(2..3).map(zigzag))
            assertEquals(listOf(entry.accuracyCm.toLong()), numbers.drop(4))
        }
    }

    @Test
    fun `what an entry was made of can change without changing it`() {
        val author = ByteArray(32) { 1 }
        val made = entry(author = author)
        val before = made.encoded()
        author[0] = 9
        made.author[0] = 9
        assertArrayEquals(before, made.encoded())
    }

    @Test
    fun `numbers and sizes out of range are refused by name`() {
        val wrong = mapOf<String, () -> Unit>(
            "author: 31" to { entry(author = ByteArray(31)) },
            "sequence: -1" to { entry(sequence = -1) },
            "sequence: ${1L shl 56}" to { entry(sequence = 1L shl 56) },
            "timeMs: -1" to { entry(timeMs = -1) },
            "latitudeE7: 900000001" to { entry(latitudeE7 = 900_000_001) },
            "longitudeE7: ${Int.MIN_VALUE}" to { entry(longitudeE7 = Int.MIN_VALUE) },
            "accuracyCm: -1" to { entry(accuracyCm = -1) },
        )
        for ((named, make) in wrong) {
            val error = assertThrows(IllegalArgumentException::class.java, { make() }, named)
            assertTrue(named in error.message.orEmpty()) { "$named: ${error.message}" }
        }
    }
}
