/**
 * Defines what a JVM workload offers for measurement; `Session` measures it.
 *
 * An [Arm] has neither clock nor emitter, so nothing can be written inside a timed region (I3).
 */
package dev.paceline.harness

/** Stops a workload; becomes the `error` event. [text] says what to do next. */
class WorkloadError(val code: String, val text: String) : Exception(text)

/** One implementation, prepared for one group. */
interface Arm {
    val name: String

    /** Does the work [iterations] times. Everything inside is timed: no allocation, no I/O. */
    fun run(iterations: Int)

    /**
     * Returns counters and readings of the last [run]. Called after a whole round, so that
     * no arm runs beside another's bookkeeping; not called after settling and calibration.
     */
    fun account(account: Account) {}
}

/**
 * An arm that this CPU or runtime cannot run: it is announced with the reason, never measured. For something that
 * should be there and is missing, throw a [WorkloadError].
 */
class Unavailable(override val name: String, val reason: String) : Arm {
    override fun run(iterations: Int): Unit = error("$name is unavailable: $reason")
}

data class Metric(val name: String, val unit: String, val direction: String)

/** The metric that the sampler measures; the first one of every benchmark. */
val TIME: Metric = Metric("time", "ns", "lower")

data class Check(val name: String, val ok: Boolean, val detail: String)

/** An option that is not a param; `demonstration` marks one that changes the work to demonstrate an alert. */
class IntKnob(
    val name: String,
    val range: LongRange,
    val default: Long,
    val demonstration: Boolean,
    val what: String,
)

/** The input of [Benchmark.prepare]. */
class Context(val params: Params, val knobs: Map<String, Long>, val seed: Long) {
    /** An integer param that the benchmark declares. */
    fun int(name: String): Int = (params.getValue(name) as Value.Integer).value.toInt()

    /** A text param that the benchmark declares. */
    fun text(name: String): String = (params.getValue(name) as Value.Text).value
}

/**
 * How a group is measured where the usual protocol does not fit: a first call, a
 * fresh process, or the replay of another protocol.
 *
 * @param settles let the runtime compile before the first round
 * @param iterations a loop count instead of a calibrated one
 * @param warmupRounds instead of what the command line says or implies
 * @param rounds measured rounds, instead of what the command line says
 * @param order arm names by position, the same in every round: against I2, so [warning] must say so
 * @param warning text of the `protocol` warning in the stream, for a group that departs from the contract
 */
class Protocol(
    val settles: Boolean = true,
    val iterations: Int? = null,
    val warmupRounds: Int? = null,
    val rounds: Int? = null,
    val order: List<String>? = null,
    val warning: String? = null,
) {
    init {
        require(order == null || warning != null) { "a fixed order breaks I2; the stream must say why" }
    }

    companion object {
        /** The usual protocol. */
        val USUAL: Protocol = Protocol()
    }
}

/**
 * A prepared group: inputs generated, buffers allocated.
 *
 * @param arms all arms of the benchmark, in its order
 * @param verify runs before and after measuring; must not depend on which arms were selected
 * @param close releases resources other than memory, such as a child process; called once, whatever happened
 */
class Prepared(
    val arms: List<Arm>,
    val itemsPerIteration: Long,
    val bytesPerIteration: Long,
    val protocol: Protocol = Protocol.USUAL,
    val close: () -> Unit = {},
    val verify: () -> List<Check>,
)

/** @param metrics of its arms besides `time`; an arm reports them in [Arm.account] */
class Benchmark(
    val name: String,
    val arms: List<String>,
    val params: List<Param>,
    val metrics: List<Metric> = emptyList(),
    val prepare: (Context) -> Prepared,
) {
    val allMetrics: List<Metric> = listOf(TIME) + metrics
}

/**
 * A workload with its command line and its stream.
 *
 * @param open loads what the arms need and returns facts about it; not called for `--list`
 * @param checks correctness checks that need no group
 */
class Workload(
    val suite: String,
    val name: String,
    val benchmarks: List<Benchmark>,
    val knobs: List<IntKnob>,
    val open: () -> Map<String, String>,
    val checks: () -> List<Check>,
)
