/**
 * The timed loop: settling, calibration and rounds of one group.
 *
 * All arms of a round run one after the other on this thread with the same loop count. Nothing is
 * allocated or written between the two clock reads of a sample, and clock reads become [Sample]s
 * only afterwards.
 */
package dev.paceline.harness

/** A processed sample: total time of all iterations, and its end on the workload's clock. */
class Sample(val totalNs: Long, val endNs: Long)

/** One pass over all arms of a group. */
class Round(val number: Int, val phase: Phase, val iterations: Int)

/** Raw clock reads of one round, by position. Allocated once per group. */
class RawRound(arms: Int) {
    val beginNs = LongArray(arms)
    val endNs = LongArray(arms)

    fun sample(position: Int) = Sample(endNs[position] - beginNs[position], endNs[position])
}

/** @param slowdowns by how many percent an arm's samples are lengthened, for a demonstration */
class Sampler(
    private val clock: Clock,
    private val arms: List<Arm>,
    minTimeNs: Long,
    slowdowns: Map<String, Long> = emptyMap(),
) {
    private val percents = LongArray(arms.size) { slowdowns[arms[it].name] ?: 0 }

    /** A shorter sample would measure the clock rather than the arm (stats/README.md §1). */
    val requiredNs: Long = maxOf(minTimeNs, RESOLUTIONS_PER_SAMPLE * clock.resolutionNs)
    private val raw = RawRound(arms.size)

    /**
     * Runs all arms in turn for [settleNs] each, and then until no arm gets faster any more, so that the
     * JIT has compiled what the samples will run. Without it calibration would see interpreted code and
     * choose too few iterations. A busy target compiles late; [MOST_TURNS] limits the turns.
     */
    fun settle(settleNs: Long) {
        val quickest = LongArray(arms.size) { Long.MAX_VALUE }
        var steady = 0
        for (turn in 0 until MOST_TURNS) {
            var quicker = false
            for (arm in arms.indices) {
                val ns = quickestOf(arms[arm], settleNs / SETTLE_TURNS)
                quicker = quicker || ns < quickest[arm] - quickest[arm] / GAIN_DIVISOR
                quickest[arm] = minOf(quickest[arm], ns)
            }
            steady = if (quicker) 0 else steady + 1
            if (turn + 1 >= SETTLE_TURNS && steady >= STEADY_TURNS) return
        }
    }

    /** Runs the arm once and then for [ns]; returns the time of its fastest iteration. */
    private fun quickestOf(arm: Arm, ns: Long): Long {
        val end = clock.nowNs() + ns
        var quickest = Long.MAX_VALUE
        do {
            val begin = clock.nowNs()
            arm.run(1)
            val now = clock.nowNs()
            quickest = minOf(quickest, now - begin)
        } while (now < end)
        return quickest
    }

    /** The smallest loop count, with headroom, at which every arm's fastest sample is long enough. */
    fun calibrate(): Int = arms.maxOf { calibrate(it) }

    private fun calibrate(arm: Arm): Int {
        val target = requiredNs + requiredNs / HEADROOM_DIVISOR
        var iterations = 1L
        while (true) {
            val quickest = (1..CALIBRATION_SAMPLES).minOf { timeOne(arm, iterations.toInt()) }
            if (quickest >= target || iterations == MOST_ITERATIONS) return iterations.toInt()
            // Double while a sample is too short for the clock, then extrapolate.
            val trusted = quickest * TRUSTED_SHARE >= target
            val next = if (trusted) iterations * target / quickest + 1 else iterations * 2
            iterations = minOf(next, MOST_ITERATIONS)
        }
    }

    private fun timeOne(arm: Arm, iterations: Int): Long {
        val begin = clock.nowNs()
        arm.run(iterations)
        return clock.nowNs() - begin
    }

    /** The account of each arm of the last round, by position. */
    fun accounts(order: IntArray): List<Account> = order.map { arm -> Account().also(arms[arm]::account) }

    /** Runs one round; the result is valid until the next. `order[position]` = index into the arms. */
    fun round(order: IntArray, iterations: Int): RawRound {
        for (position in order.indices) {
            val arm = arms[order[position]]
            // nanoTime is an opaque call to the compiler: the work can move over neither of the two reads.
            raw.beginNs[position] = clock.nowNs()
            arm.run(iterations)
            raw.endNs[position] = clock.nowNs()
            if (percents[order[position]] > 0) lengthen(position, percents[order[position]])
        }
        return raw
    }

    /** Waits, so that the sample takes longer by this share. */
    private fun lengthen(position: Int, percent: Long) {
        val until = slowed(raw.endNs[position] - raw.beginNs[position], percent) + raw.beginNs[position]
        while (clock.nowNs() < until) Thread.onSpinWait()
        raw.endNs[position] = clock.nowNs()
    }

    /** The time that an arm measured itself, with its share of a demonstration. */
    fun ownTime(arm: Int, ns: Long): Long = slowed(ns, percents[arm])

    private fun slowed(ns: Long, percent: Long) = ns + ns * percent / WHOLE_PERCENT

    private companion object {
        const val WHOLE_PERCENT = 100
        const val RESOLUTIONS_PER_SAMPLE = 1000L
        const val SETTLE_TURNS = 10
        /** Settling ends after this many turns in which no arm got faster by more than a twentieth. */
        const val STEADY_TURNS = 3
        const val GAIN_DIVISOR = 20L
        const val MOST_TURNS = 60
        const val CALIBRATION_SAMPLES = 3
        const val HEADROOM_DIVISOR = 5L
        const val TRUSTED_SHARE = 10L
        const val MOST_ITERATIONS = 1L shl 30
    }
}
