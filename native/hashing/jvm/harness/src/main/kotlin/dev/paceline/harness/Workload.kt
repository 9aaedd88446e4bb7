/**
 * The vocabulary of a JVM workload: what it offers to be measured. `Session` measures it.
 *
 * Invariant: an [Arm] sees neither clock nor emitter, so nothing can be written inside a timed
 * region (I3).
 */
package dev.paceline.harness

/** Where a workload stops: becomes the `error` event; [text] says what to do next. */
class WorkloadError(val code: String, val text: String) : Exception(text)

/** One implementation, prepared for one point of the params. */
interface Arm {
    val name: String

    /** Does the work [iterations] times. Everything inside is timed: no allocation, no I/O. */
    fun run(iterations: Int)

    /**
     * Tells what the last [run] did and read besides its duration. Asked once a whole round is over, so that
     * no arm runs beside another's bookkeeping; not asked after settling and calibration.
     */
    fun account(account: Account) {}
}

/**
 * An arm that this CPU or runtime cannot run, and why: announced, never measured. Not for what should be
 * there and is missing; that is a [WorkloadError].
 */
class Unavailable(override val name: String, val reason: String) : Arm {
    override fun run(iterations: Int): Unit = error("$name is unavailable: $reason")
}

data class Metric(val name: String, val unit: String, val direction: String)

/** The metric the sampler itself measures; every benchmark has it first. */
val TIME: Metric = Metric("time", "ns", "lower")

data class Check(val name: String, val ok: Boolean, val detail: String)

/** A workload option that is no param; `demonstration` marks one that changes the work to show an alert. */
class IntKnob(
    val name: String,
    val range: LongRange,
    val default: Long,
    val demonstration: Boolean,
    val what: String,
)

/** What [Benchmark.prepare] may depend on. */
class Context(val params: Params, val knobs: Map<String, Long>, val seed: Long) {
    /** An integer param that the benchmark declares. */
    fun int(name: String): Int = (params.getValue(name) as Value.Integer).value.toInt()

    /** A text param that the benchmark declares. */
    fun text(name: String): String = (params.getValue(name) as Value.Text).value
}

/**
 * How a group is measured where the contract's usual way would not measure what is asked: a first call, a
 * fresh process, or the deliberate replay of somebody else's protocol.
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
        /** The contract's own. */
        val USUAL: Protocol = Protocol()
    }
}

/**
 * One group made ready: inputs generated, buffers allocated.
 *
 * @param arms all arms of the benchmark, in its order
 * @param verify runs before and after measuring; must not depend on which arms were selected
 * @param close gives back what is not memory, such as a child process; called once, whatever happened
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
 * A workload as its command line and its stream know it.
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
