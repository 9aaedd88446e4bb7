/**
 * The vocabulary of a JVM workload: what it offers to be measured. `Session` measures it.
 *
 * Invariant: an [Arm] sees neither clock nor emitter, so nothing can be written inside a timed region (I3).
 */
package dev.paceline.harness

/** Where a workload stops: becomes the `error` event; [text] says what to do next. */
class WorkloadError(val code: String, val text: String) : Exception(text)

/** One implementation, prepared for one point of the params. */
interface Arm {
    val name: String

    /** Does the work [iterations] times. Everything inside is timed: no allocation, no I/O. */
    fun run(iterations: Int)
}

data class Metric(val name: String, val unit: String, val direction: String)

/** The metric the sampler itself measures. */
val TIME: Metric = Metric("time", "ns", "lower")

data class Check(val name: String, val ok: Boolean, val detail: String)

/** An integer param: [values] run by default, anything in [range] may be asked for. */
class IntParam(val name: String, val values: List<Long>, val range: LongRange)

/** A workload option that is no param; `demonstration` marks one that changes the work to show an alert. */
class IntKnob(
    val name: String,
    val range: LongRange,
    val default: Long,
    val demonstration: Boolean,
    val what: String,
)

/** What [Benchmark.prepare] may depend on. */
class Context(val params: Map<String, Long>, val knobs: Map<String, Long>, val seed: Long)

/**
 * One group made ready: inputs generated, buffers allocated.
 *
 * @param arms all arms of the benchmark, in its order
 * @param verify runs before and after measuring; must not depend on which arms were selected
 */
class Prepared(
    val arms: List<Arm>,
    val itemsPerIteration: Long,
    val bytesPerIteration: Long,
    val verify: () -> List<Check>,
)

class Benchmark(
    val name: String,
    val arms: List<String>,
    val params: List<IntParam>,
    val prepare: (Context) -> Prepared,
)

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
