/**
 * The messages that the ledger's arms digest, in every form an arm needs.
 *
 * Inputs depend on the seed and the params alone. Messages of 150 bytes stand for real
 * fingerprints: they are encodings of random entries, 147 to 151 bytes long. All others have
 * exactly their length.
 */
package dev.paceline.hashing

import dev.paceline.harness.SplitMix64
import dev.paceline.ledger.DirectBatch
import dev.paceline.ledger.Fingerprint
import dev.paceline.ledger.NativeDigests
import java.nio.ByteBuffer

/** The value of the param `message` that asks for real fingerprints. */
const val FINGERPRINT_BYTES: Int = 150

/** [messages] in order; [bytes] and [offsets] hold the same ones one after the other. */
class LedgerInput(val messages: List<ByteArray>) {
    val count: Int = messages.size
    val digestBytes: Int = count * NativeDigests.DIGEST_BYTES
    val offsets: IntArray = messages.runningFold(0) { end, message -> end + message.size }.toIntArray()
    val bytes: ByteArray = ByteArray(offsets.last()).also { all ->
        messages.forEachIndexed { i, message -> message.copyInto(all, offsets[i]) }
    }

    /** The first [number] messages in direct memory. */
    fun direct(number: Int = count): DirectBatch =
        DirectBatch(offsets[number], number).also { batch -> messages.take(number).forEach(batch::add) }

    companion object {
        fun of(seed: Long, count: Int, messageBytes: Int): LedgerInput {
            if (messageBytes == FINGERPRINT_BYTES) {
                return LedgerInput(fingerprints(seed, count).map { it.encoded() })
            }
            val random = SplitMix64(seed)
            return LedgerInput(List(count) { random.bytes(messageBytes) })
        }
    }
}

/** [count] entries as real ledgers have them: anywhere on Earth, within a few years. */
fun fingerprints(seed: Long, count: Int): List<Fingerprint> {
    val random = SplitMix64(seed)
    return List(count) {
        Fingerprint(
            author = random.bytes(32),
            previous = random.bytes(32),
            content = random.bytes(32),
            place = random.bytes(32),
            sequence = SHORTEST_SEQUENCE + random.below(SEQUENCES),
            timeMs = FIRST_MS + random.below(Int.MAX_VALUE) * MS_PER_STEP,
            latitudeE7 = random.below(2 * MOST_LATITUDE) - MOST_LATITUDE,
            longitudeE7 = random.below(2 * MOST_LONGITUDE) - MOST_LONGITUDE,
            accuracyCm = random.below(MOST_ACCURACY_CM),
        )
    }
}

private fun SplitMix64.bytes(number: Int): ByteArray {
    val buffer = ByteBuffer.allocate((number + Long.SIZE_BYTES - 1) / Long.SIZE_BYTES * Long.SIZE_BYTES)
    while (buffer.hasRemaining()) buffer.putLong(next())
    return buffer.array().copyOf(number)
}

/** 2^14: three bytes as a varint, four from 2^21 on. */
private const val SHORTEST_SEQUENCE = 1L shl 14
private const val SEQUENCES = 1 shl 22
/** 2023-11-14, and some five years from there: six bytes. */
private const val FIRST_MS = 1_700_000_000_000L
private const val MS_PER_STEP = 73L
private const val MOST_LATITUDE = 900_000_000
/** Not the full circle: twice it must fit an Int. */
private const val MOST_LONGITUDE = 1_073_000_000
private const val MOST_ACCURACY_CM = 10_000
