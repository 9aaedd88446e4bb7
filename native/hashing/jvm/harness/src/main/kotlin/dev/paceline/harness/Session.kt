/**
 * Runs one launch of a workload from its start to its terminal event.
 *
 *     parse ─▶ start ─▶ open ─▶ checks ─▶ for each group: prepare ─▶ verify ─▶ settle ─▶ calibrate
 *        ─▶ warm-up rounds ─▶ measured rounds ─▶ verify ─▶ done
 *
 * `start` is the first event and one terminal event is the last, whatever fails. Output is written
 * between rounds only.
 */
package dev.paceline.harness

import java.io.FileDescriptor
import java.io.FileOutputStream
import java.io.IOException
import java.io.OutputStream
import java.io.PrintStream
import kotlin.system.exitProcess

/** The `main` of a workload: measures the selection in [args] and ends the process with the exit status. */
fun measure(workload: Workload, args: Array<String>): Nothing {
    // Not System.out, whose encoder and locks cost time, and which libraries may print to.
    val out = FileOutputStream(FileDescriptor.out)
    exitProcess(Session(workload, out, System.err).run(args.toList()))
}

class Session(private val workload: Workload, private val out: OutputStream, private val log: PrintStream) {
    private val clock = Clock.measure()
    private val emitter = Emitter(out, clock)
    private var started = false

    /** Runs the command line and returns the exit status: 0 with `done` or after a list, else 1. */
    fun run(args: List<String>): Int = try {
        var options = Options()
        try {
            options = Options.parse(args)
            launch(options)
            0
        } catch (error: WorkloadError) {
            fail(options, error)
        } catch (bug: Throwable) {
            if (bug is IOException) throw bug
            bug.printStackTrace(log)
            fail(options, WorkloadError("internal", "$bug. This is a bug; its stack trace is in the log."))
        }
    } catch (gone: IOException) {
        // The stream has no reader any more; the log may still have one.
        log.println("The bench stream cannot be written: ${gone.message}")
        1
    }

    private fun launch(options: Options) {
        val selection = Selection.of(workload, options)
        if (options.list) {
            emitter.list(workload, selection)
        } else {
            val facts = workload.open() + changedKnobs(selection)
            emitter.start(workload, options, facts)
            started = true
            Launch(workload, options, selection, clock, emitter).run()
            emitter.done()
        }
        emitter.flush()
    }

    private fun fail(options: Options, error: WorkloadError): Int {
        if (!started) emitter.start(workload, options, emptyMap())
        emitter.error(error)
        emitter.flush()
        return 1
    }

    /** Knobs that differ from their default are facts of the build. */
    private fun changedKnobs(selection: Selection): Map<String, String> {
        val changed = workload.knobs.filter { selection.knobs[it.name] != it.default }
            .associate { "knob.${it.name}" to selection.knobs.getValue(it.name).toString() }
        return changed + selection.slowdowns.map { (arm, percent) ->
            "knob.$arm${Selection.SLOWDOWN}" to percent.toString()
        }
    }
}

private class Launch(
    private val workload: Workload,
    private val options: Options,
    private val selection: Selection,
    private val clock: Clock,
    private val emitter: Emitter,
) {
    /** Rounds of the whole launch; a group's share is corrected once it is prepared. */
    private var total = (options.warmup + options.rounds) * selection.groups.size
    private var done = 0
    private var nextCase = 0
    private var settled = false
    private val orders = HashMap<String, Order>()

    fun run() {
        warnOfDemonstrations()
        workload.checks().forEach(emitter::check)
        emitter.flush()
        for (group in selection.groups) {
            val prepared = group.benchmark.prepare(Context(group.params, selection.knobs, options.seed))
            try {
                measure(group, prepared)
            } finally {
                prepared.close()
            }
        }
    }

    private fun warnOfDemonstrations() {
        for (knob in workload.knobs.filter { it.demonstration }) {
            val value = selection.knobs.getValue(knob.name)
            if (value != knob.default) emitter.warning("demonstration", "${knob.name} = $value: ${knob.what}")
        }
        for ((arm, percent) in selection.slowdowns) {
            val what = "samples of $arm are lengthened by this share. Its times are not those of its code."
            emitter.warning("demonstration", "$arm${Selection.SLOWDOWN} = $percent: $what")
        }
    }

    private fun measure(group: Group, prepared: Prepared) {
        val chosen = group.arms.map { prepared.arms[it] }
        val cases = chosen.associateWith { arm ->
            nextCase.also { emitter.case(nextCase++, group, arm, prepared) }
        }
        prepared.protocol.warning?.let { emitter.warning("protocol", "${said(group)}: $it") }
        prepared.verify().forEach(emitter::check)
        emitter.flush()
        val arms = chosen.filter { it !is Unavailable }
        val warmup = prepared.protocol.warmupRounds ?: options.warmup
        val rounds = if (arms.isEmpty()) 0 else warmup + (prepared.protocol.rounds ?: options.rounds)
        total += rounds - (options.warmup + options.rounds)
        if (rounds > 0) measure(group, prepared.protocol, arms, arms.map(cases::getValue), warmup, rounds)
        prepared.verify().forEach(emitter::check)
        emitter.flush()
    }

    /** [warmup] of the [rounds] are not judged; `cases[arm]` is an arm's case. */
    private fun measure(
        group: Group,
        protocol: Protocol,
        arms: List<Arm>,
        cases: List<Int>,
        warmup: Int,
        rounds: Int,
    ) {
        val sampler = Sampler(clock, arms, options.minTimeNs, selection.slowdowns)
        if (protocol.settles) {
            sampler.settle(if (settled) NEXT_SETTLE_NS else FIRST_SETTLE_NS)
            settled = true
        }
        val iterations = protocol.iterations ?: sampler.calibrate()
        var short = 0
        for (number in 0 until rounds) {
            val phase = if (number < warmup) Phase.WARMUP else Phase.MEASURE
            val order = protocol.order?.let { fixed(it, arms) } ?: drawn(group, phase, arms.size)
            short += run(Round(number, phase, iterations), sampler, order, cases)
        }
        if (short > 0) warnOfShortSamples(group, short, sampler.requiredNs)
    }

    private fun drawn(group: Group, phase: Phase, arms: Int): IntArray {
        val key = Order.key(phase, group.benchmark.name, group.params)
        return orders.getOrPut(key) { Order(options.seed, key, arms) }.next()
    }

    /** The selected arms at their positions. */
    private fun fixed(names: List<String>, arms: List<Arm>): IntArray =
        names.map { name -> arms.indexOfFirst { it.name == name } }.filter { it >= 0 }.toIntArray()

    /** Runs and emits one round; returns how many of its measured samples are too short. */
    private fun run(round: Round, sampler: Sampler, order: IntArray, cases: List<Int>): Int {
        val raw = sampler.round(order, round.iterations)
        val accounts = sampler.accounts(order)
        var short = 0
        for (position in order.indices) {
            val measured = raw.sample(position)
            val own = accounts[position].ownTimeNs
            val sample = own?.let { Sample(sampler.ownTime(order[position], it), measured.endNs) } ?: measured
            if (round.phase == Phase.MEASURE && sample.totalNs < sampler.requiredNs) short++
            val at = SampleAt(cases[order[position]], options.launch, round, position)
            emitter.samples(at, sample, accounts[position])
        }
        emitter.progress(++done, total)
        emitter.roundEnded()
        return short
    }

    private fun said(group: Group) = "${group.benchmark.name} ${group.params}"

    private fun warnOfShortSamples(group: Group, short: Int, requiredNs: Long) {
        val what = "${said(group)}: $short measured samples are shorter than"
        emitter.warning("few_iterations", "$what $requiredNs ns. Ask for longer ones with --min-time-ns.")
    }

    private companion object {
        /** HotSpot's C2 compiles after some 10,000 calls, in the background; the first group waits. */
        const val FIRST_SETTLE_NS = 400_000_000L
        /** Later groups run the same, compiled code. */
        const val NEXT_SETTLE_NS = 30_000_000L
    }
}
