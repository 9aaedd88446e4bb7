/**
 * The order in which the arms of a group run (I2); the twin of `native/harness/src/order.rs`.
 *
 * Both reproduce `native/protocol/vectors/interleaving.golden.json`. The algorithm is in
 * `native/protocol/README.md`.
 */
package dev.paceline.harness

/** SplitMix64 (Steele, Lea, Flood 2014): small, seedable with any number, the same in every language. */
class SplitMix64(private var state: Long) {
    fun next(): Long {
        state += -0x61c8864680b583eb // 0x9E3779B97F4A7C15
        var z = state
        z = (z xor (z ushr 30)) * -0x40a7b892e31b1a47 // 0xBF58476D1CE4E5B9
        z = (z xor (z ushr 27)) * -0x6b2fb644ecceee15 // 0x94D049BB133111EB
        return z xor (z ushr 31)
    }

    /** Uniform in 0 until [n]: draws that would favour small results are repeated. */
    fun below(n: Int): Int {
        val excess = ((ULong.MAX_VALUE % n.toULong()) + 1uL) % n.toULong() // 2^64 mod n
        while (true) {
            val x = next().toULong()
            if (x <= ULong.MAX_VALUE - excess) return (x % n.toULong()).toInt()
        }
    }

    /** A random permutation of 0 until [n] (Fisher–Yates, from the end). */
    fun shuffled(n: Int): IntArray {
        val a = IntArray(n) { it }
        for (i in n - 1 downTo 1) {
            val j = below(i + 1)
            val held = a[i]
            a[i] = a[j]
            a[j] = held
        }
        return a
    }
}

/**
 * The orders of one group and phase, round by round: cyclic Latin squares, each from a fresh permutation with
 * its rows shuffled. Over each square every arm stands once in every position.
 */
class Order(seed: Long, key: String, private val arms: Int) {
    private val random = SplitMix64(seed xor fnv1a64(key))
    private var columns = IntArray(0)
    private var rows = IntArray(0)
    private var row = 0

    /** The order of the next round: `result[position] = arm`. */
    fun next(): IntArray {
        if (row == rows.size) {
            columns = random.shuffled(arms)
            rows = random.shuffled(arms)
            row = 0
        }
        val shift = rows[row++]
        return IntArray(arms) { columns[(it + shift) % arms] }
    }

    companion object {
        /** The seed text of a group and phase: `measure/ledger_batch/batch=1000`. */
        fun key(phase: Phase, benchmark: String, params: Params): String {
            val named = params.toSortedMap().entries.joinToString(",") { "${it.key}=${it.value}" }
            return "${phase.wire}/$benchmark/$named"
        }

        /** FNV-1a, 64 bit, over UTF-8 (http://www.isthe.com/chongo/tech/comp/fnv/). */
        fun fnv1a64(text: String): Long {
            var hash = -0x340d631b7bdddcdb // 0xcbf29ce484222325
            for (byte in text.toByteArray()) hash = (hash xor (byte.toLong() and 0xff)) * 0x100000001b3
            return hash
        }
    }
}

/** Warm-up samples are kept and shown, never judged. */
enum class Phase(val wire: String) {
    WARMUP("warmup"),
    MEASURE("measure"),
}
