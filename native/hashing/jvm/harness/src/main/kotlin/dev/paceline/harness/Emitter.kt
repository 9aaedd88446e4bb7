/**
 * Writes the bench stream (C1) as `native/protocol/README.md` specifies it.
 *
 * Events collect in memory and are written only by [flush], which `Session` calls between rounds
 * (I3).
 */
package dev.paceline.harness

import java.io.OutputStream

/** The position of a sample in the stream. */
class SampleAt(val case: Int, val launch: Long, val round: Round, val position: Int)

class Emitter(private val out: OutputStream, private val clock: Clock) {
    private val pending = StringBuilder(FLUSH_CHARS * 2)
    private var flushedAtNs = clock.nowNs()

    fun start(workload: Workload, options: Options, build: Map<String, String>) = line("start") {
        number("v", 1).text("suite", workload.suite).text("workload", workload.name)
        number("launch", options.launch).number("seed", options.seed)
        nested("build") { build.forEach { (key, value) -> text(key, value) } }
        nested("clock") {
            text("name", clock.name).number("resolution_ns", clock.resolutionNs)
            number("overhead_ns", clock.overheadNs)
        }
    }

    fun case(number: Int, group: Group, arm: Arm, prepared: Prepared) = line("case") {
        number("case", number.toLong()).text("benchmark", group.benchmark.name).text("arm", arm.name)
        caseTail(group)
        number("items_per_iteration", prepared.itemsPerIteration)
        number("bytes_per_iteration", prepared.bytesPerIteration)
        if (arm is Unavailable) text("unavailable", arm.reason)
    }

    /** The `time` of one timed region with its counters, then its further readings. */
    fun samples(at: SampleAt, sample: Sample, account: Account) {
        samples(at, TIME.name, at.round.iterations, longArrayOf(sample.totalNs), sample.endNs, account.work)
        for (reading in account.readings) {
            val iterations = if (reading.perCall) 1 else at.round.iterations
            for (from in reading.values.indices step VALUES_MAX) {
                val values = reading.values.copyOfRange(from, minOf(from + VALUES_MAX, reading.values.size))
                samples(at, reading.metric, iterations, values, sample.endNs, emptyMap())
            }
        }
    }

    private fun samples(
        at: SampleAt,
        metric: String,
        iterations: Int,
        values: LongArray,
        endNs: Long,
        work: Map<String, Long>,
    ) = line("samples") {
        number("case", at.case.toLong()).text("metric", metric).number("launch", at.launch)
        number("round", at.round.number.toLong()).number("position", at.position.toLong())
        text("phase", at.round.phase.wire).number("iterations", iterations.toLong())
        numbers("values", values).number("t_ns", endNs)
        if (work.isNotEmpty()) nested("work") { work.forEach { (name, count) -> number(name, count) } }
    }

    fun check(check: Check) = line("check") {
        text("name", check.name).flag("ok", check.ok).text("detail", check.detail)
    }

    fun progress(done: Int, total: Int) = line("progress") {
        number("done", done.toLong()).number("total", total.toLong())
    }

    fun warning(code: String, text: String) = line("warning") { text("code", code).text("text", text) }

    fun done() = line("done") {}

    fun error(error: WorkloadError) = line("error") { text("code", error.code).text("text", error.text) }

    /** The answer to `--list`, which is the only line then. */
    fun list(workload: Workload, selection: Selection) {
        JsonObject(pending).apply {
            text("suite", workload.suite).text("workload", workload.name)
            array("cases") {
                for (group in selection.groups) for (arm in group.arms) element {
                    text("benchmark", group.benchmark.name).text("arm", group.benchmark.arms[arm])
                    caseTail(group)
                }
            }
        }.close()
        pending.append('\n')
    }

    /** Called between rounds: writes when enough bytes wait or enough time has passed, so that people see progress. */
    fun roundEnded() {
        if (pending.length >= FLUSH_CHARS || clock.nowNs() - flushedAtNs >= FLUSH_EVERY_NS) flush()
    }

    fun flush() {
        out.write(pending.toString().toByteArray())
        out.flush()
        pending.setLength(0)
        flushedAtNs = clock.nowNs()
    }

    private fun JsonObject.caseTail(group: Group) {
        nested("params") {
            for ((name, value) in group.params) when (value) {
                is Value.Integer -> number(name, value.value)
                is Value.Text -> text(name, value.value)
            }
        }
        array("metrics") {
            for (metric in group.benchmark.allMetrics) element {
                text("name", metric.name).text("unit", metric.unit).text("direction", metric.direction)
            }
        }
    }

    private fun line(type: String, fields: JsonObject.() -> Unit) {
        JsonObject(pending).text("type", type).apply(fields).close()
        pending.append('\n')
    }

    private companion object {
        /** Most values of one event (C1). */
        const val VALUES_MAX = 1_000
        const val FLUSH_CHARS = 32 * 1024
        /** Often enough for a live page, but not after every round, which would wake the reader. */
        const val FLUSH_EVERY_NS = 200_000_000L
    }
}
