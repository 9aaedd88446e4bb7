/**
 * One launch, start to terminal: the table of contents of a workload.
 *
 *     parse ─▶ start ─▶ open ─▶ checks ─▶ for each group: prepare ─▶ verify ─▶ settle ─▶ calibrate
 *        ─▶ warm-up rounds ─▶ measured rounds ─▶ verify ─▶ done
 *
 * Invariants: `start` is first and one terminal is last, whatever fails; output leaves between rounds only.
 */
package dev.paceline.harness

import java.io.OutputStream

class Session(private val workload: Workload, private val out: OutputStream) {
    /** Runs the command line and returns the exit status: 0 with `done` (or after a list), 1 with `error`. */
    fun run(args: List<String>): Int {
        val clock = Clock.measure()
        val emitter = Emitter(out, clock)
        var options = Options()
        var started = false
        try {
            options = Options.parse(args)
            val selection = Selection.of(workload, options)
            if (options.list) {
                emitter.list(workload, selection)
                emitter.flush()
                return 0
            }
            val facts = workload.open() + changedKnobs(selection.knobs)
            emitter.start(workload, options, facts)
            started = true
            Launch(workload, options, selection, clock, emitter).run()
            emitter.done()
            return 0
        } catch (error: WorkloadError) {
            if (!started) emitter.start(workload, options, emptyMap())
            emitter.error(error)
            return 1
        } finally {
            emitter.flush()
        }
    }

    /** Knobs that are not at their default belong to what ran, so they are build facts. */
    private fun changedKnobs(knobs: Map<String, Long>): Map<String, String> =
        workload.knobs.filter { knobs[it.name] != it.default }
            .associate { "knob.${it.name}" to knobs.getValue(it.name).toString() }
}

private class Launch(
    private val workload: Workload,
    private val options: Options,
    private val selection: Selection,
    private val clock: Clock,
    private val emitter: Emitter,
) {
    private val roundsPerGroup = options.warmup + options.rounds
    private val total = roundsPerGroup * selection.groups.size
    private var done = 0
    private var nextCase = 0

    fun run() {
        warnOfDemonstrations()
        workload.checks().forEach(emitter::check)
        emitter.flush()
        for (group in selection.groups) measure(group)
    }

    private fun warnOfDemonstrations() {
        for (knob in workload.knobs.filter { it.demonstration }) {
            val value = selection.knobs.getValue(knob.name)
            if (value != knob.default) emitter.warning("demonstration", "${knob.name} = $value: ${knob.what}")
        }
    }

    private fun measure(group: Group) {
        val prepared = group.benchmark.prepare(Context(group.params, selection.knobs, options.seed))
        val arms = group.arms.map { prepared.arms[it] }
        val cases = arms.map { arm -> nextCase.also { emitter.case(nextCase++, group, arm.name, prepared) } }
        prepared.verify().forEach(emitter::check)
        emitter.flush()
        val sampler = Sampler(clock, arms, options.minTimeNs)
        sampler.settle(if (cases.first() == 0) FIRST_SETTLE_NS else NEXT_SETTLE_NS)
        val iterations = sampler.calibrate()
        var short = 0
        for (round in 0 until roundsPerGroup) {
            val phase = if (round < options.warmup) Phase.WARMUP else Phase.MEASURE
            short += emitRound(sampler, order(group, phase), cases, round, phase, iterations)
        }
        if (short > 0) emitter.warning("few_iterations", shortText(group, short, sampler.requiredNs, iterations))
        prepared.verify().forEach(emitter::check)
        emitter.flush()
    }

    private val orders = HashMap<String, Order>()

    private fun order(group: Group, phase: Phase): IntArray {
        val key = Order.key(phase, group.benchmark.name, group.params)
        return orders.getOrPut(key) { Order(options.seed, key, group.arms.size) }.next()
    }

    /** Runs and emits one round; returns how many of its samples were too short. */
    private fun emitRound(
        sampler: Sampler,
        order: IntArray,
        cases: List<Int>,
        round: Int,
        phase: Phase,
        iterations: Int,
    ): Int {
        val raw = sampler.round(order, iterations)
        var short = 0
        for (position in order.indices) {
            val sample = raw.sample(position)
            if (phase == Phase.MEASURE && sample.totalNs < sampler.requiredNs) short++
            emitter.samples(cases[order[position]], options.launch, round, position, phase, iterations, sample)
        }
        emitter.progress(++done, total)
        emitter.roundEnded()
        return short
    }

    private fun shortText(group: Group, short: Int, requiredNs: Long, iterations: Int): String =
        "${group.benchmark.name} ${group.params}: $short measured samples of $iterations iterations are shorter " +
            "than $requiredNs ns. Ask for a longer sample with --min-time-ns."

    private companion object {
        /** HotSpot's C2 compiles after some 10,000 calls and does so in the background; the first group waits. */
        const val FIRST_SETTLE_NS = 400_000_000L
        /** Later groups run the same, compiled code. */
        const val NEXT_SETTLE_NS = 50_000_000L
    }
}
