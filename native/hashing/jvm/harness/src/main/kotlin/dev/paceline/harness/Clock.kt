/**
 * The JVM harness's only clock, with its measured resolution.
 *
 * Resolution and overhead are measured in this process (I3). The overhead is reported and not
 * subtracted: samples are long.
 */
package dev.paceline.harness

/** `System.nanoTime` with its smallest step and the cost of a read, in nanoseconds. */
class Clock private constructor(val resolutionNs: Long, val overheadNs: Long) {
    val name: String = "System.nanoTime"

    fun nowNs(): Long = System.nanoTime()

    companion object {
        /** Reads before measuring, so that the JIT has compiled the loops below. */
        private const val WARMUP_READS = 20_000
        private const val READS = 20_000

        /** Takes about 2 ms. */
        fun measure(): Clock {
            smallestStepNs(WARMUP_READS)
            meanReadNs(WARMUP_READS)
            // The smaller of two: an interruption can only make either larger.
            val overhead = minOf(meanReadNs(READS), meanReadNs(READS))
            return Clock(smallestStepNs(READS), overhead)
        }

        /** Smallest difference between two reads that is not zero; 1 s if the clock never moved. */
        private fun smallestStepNs(reads: Int): Long {
            var smallest = 1_000_000_000L
            var last = System.nanoTime()
            repeat(reads) {
                val now = System.nanoTime()
                val step = now - last
                if (step in 1 until smallest) smallest = step
                last = now
            }
            return smallest
        }

        private fun meanReadNs(reads: Int): Long {
            val begin = System.nanoTime()
            repeat(reads) { System.nanoTime() }
            return (System.nanoTime() - begin) / reads
        }
    }
}
