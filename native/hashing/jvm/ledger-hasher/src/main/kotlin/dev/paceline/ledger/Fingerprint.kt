/**
 * An entry of a light ledger and its canonical encoding, which is what gets digested.
 *
 *     version 1 │ author 32 │ previous 32 │ content 32 │ place 32
 *               │ sequence │ time │ latitude │ longitude │ accuracy
 *
 * The fields of the second line are LEB128 varints (7 bits per byte, least first); coordinates are
 * zigzag-coded before. Real entries take 147 to 151 bytes. An entry has one encoding, and two
 * entries never share one.
 */
package dev.paceline.ledger

import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * One entry; immutable.
 *
 * @param author public key, 32 bytes
 * @param previous digest of the author's previous entry, 32 bytes
 * @param content digest of what is attested, 32 bytes
 * @param place identifier, 32 bytes
 * @param sequence number of the entry in its author's ledger, 0 until 2^56
 * @param timeMs milliseconds since 1970, 0 until 2^56
 * @param latitudeE7 degrees times 10^7, as is [longitudeE7]
 * @param accuracyCm radius of the position's uncertainty
 * @throws IllegalArgumentException when a size or a number is out of range
 */
class Fingerprint(
    author: ByteArray,
    previous: ByteArray,
    content: ByteArray,
    place: ByteArray,
    val sequence: Long,
    val timeMs: Long,
    val latitudeE7: Int,
    val longitudeE7: Int,
    val accuracyCm: Int,
) {
    /** Author, previous, content and place, one after the other: one copy encodes all four. */
    @JvmField
    internal val fixed = ByteArray(FIXED_BYTES)

    init {
        put("author", author, 0)
        put("previous", previous, 1)
        put("content", content, 2)
        put("place", place, 3)
        require(sequence in 0 until LARGEST) { "sequence: $sequence is not in 0 until 2^56" }
        require(timeMs in 0 until LARGEST) { "timeMs: $timeMs is not in 0 until 2^56" }
        require(latitudeE7 in -MOST_LATITUDE..MOST_LATITUDE) { "latitudeE7: $latitudeE7" }
        require(longitudeE7 in -MOST_LONGITUDE..MOST_LONGITUDE) { "longitudeE7: $longitudeE7" }
        require(accuracyCm >= 0) { "accuracyCm: $accuracyCm is negative" }
    }

    val author: ByteArray get() = part(0)
    val previous: ByteArray get() = part(1)
    val content: ByteArray get() = part(2)
    val place: ByteArray get() = part(3)

    /** The canonical encoding, 133 to 164 bytes. */
    fun encoded(): ByteArray {
        val encoder = FingerprintEncoder(MOST_ENCODED_BYTES)
        return encoder.bytes.copyOf(encoder.encode(this, 0))
    }

    private fun put(name: String, bytes: ByteArray, part: Int) {
        require(bytes.size == PART_BYTES) { "$name: ${bytes.size} bytes, not $PART_BYTES" }
        System.arraycopy(bytes, 0, fixed, part * PART_BYTES, PART_BYTES)
    }

    private fun part(part: Int) = fixed.copyOfRange(part * PART_BYTES, (part + 1) * PART_BYTES)

    internal companion object {
        const val PART_BYTES = 32
        const val FIXED_BYTES = 4 * PART_BYTES

        /** Version, parts, two varints of at most 8 bytes, three of at most 5. */
        const val MOST_ENCODED_BYTES = 1 + FIXED_BYTES + 2 * 8 + 3 * 5
        private const val LARGEST = 1L shl 56
        private const val MOST_LATITUDE = 900_000_000
        private const val MOST_LONGITUDE = 1_800_000_000
    }
}

private const val VERSION: Byte = 1
private const val VARINT_STORE_BYTES = 8

/** The highest bit of every byte: another byte follows. */
private const val CONTINUES = -0x7f7f7f7f7f7f7f80L // 0x8080808080808080

/**
 * Encodes entries one after the other into [bytes], at most [roomBytes] bytes.
 *
 * A varint is made in registers and stored as eight bytes of which the next field overwrites the rest, so no
 * branch depends on a field's length.
 */
internal class FingerprintEncoder(roomBytes: Int) {
    @JvmField
    val bytes = ByteArray(roomBytes + VARINT_STORE_BYTES)
    private val longs = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

    /** Encodes to `bytes[at…]` and returns the end of the encoding. */
    fun encode(entry: Fingerprint, at: Int): Int {
        bytes[at] = VERSION
        System.arraycopy(entry.fixed, 0, bytes, at + 1, Fingerprint.FIXED_BYTES)
        var end = at + 1 + Fingerprint.FIXED_BYTES
        end += varint(entry.sequence, end)
        end += varint(entry.timeMs, end)
        end += varint(zigzag(entry.latitudeE7), end)
        end += varint(zigzag(entry.longitudeE7), end)
        return end + varint(entry.accuracyCm.toLong(), end)
    }

    /** Stores the LEB128 form of a number below 2^56 and returns its length. */
    private fun varint(value: Long, at: Int): Int {
        val bits = Long.SIZE_BITS - (value or 1).countLeadingZeroBits()
        val length = (bits + 6) / 7
        // Seven-bit groups to bytes in three steps: halves of 28 bits, quarters of 14, then sevens.
        var spread = (value and 0x0FFFFFFF) or (value and 0xFFFFFFF0000000 shl 4)
        spread = (spread and 0x3FFF00003FFF) or (spread and 0xFFFC0000FFFC000 shl 2)
        spread = (spread and 0x7F007F007F007F) or (spread and 0x3F803F803F803F80 shl 1)
        val more = CONTINUES and ((1L shl (8 * (length - 1))) - 1)
        longs.putLong(at, spread or more)
        return length
    }

    private fun zigzag(value: Int): Long = ((value shl 1) xor (value shr 31)).toLong() and 0xFFFFFFFFL
}
