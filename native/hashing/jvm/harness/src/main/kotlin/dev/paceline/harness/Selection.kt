/**
 * The groups and arms of a workload that the options select, and the values of the knobs.
 *
 * An unknown name or a value out of range is a usage error, never an empty selection.
 */
package dev.paceline.harness

/** The arms of one (benchmark, params) that run against each other; [arms] index [Benchmark.arms]. */
class Group(val benchmark: Benchmark, val params: Params, val arms: List<Int>)

/** [slowdowns]: the arms that a demonstration slows, with the share in percent. */
class Selection private constructor(
    val groups: List<Group>,
    val knobs: Map<String, Long>,
    val slowdowns: Map<String, Long>,
) {
    companion object {
        /** What follows the arm's name in the knob that slows it. */
        internal const val SLOWDOWN = "_slowdown_percent"
        private const val LARGEST_SLOWDOWN_PERCENT = 2_000L

        /** @throws WorkloadError `usage` or `no_case` */
        fun of(workload: Workload, options: Options): Selection {
            checkNames(workload, options)
            val groups = workload.benchmarks
                .filter { options.benchmarks.isEmpty() || it.name in options.benchmarks }
                .flatMap { benchmark -> points(benchmark, options).map { group(benchmark, it, options) } }
                .filter { it.arms.isNotEmpty() }
            if (groups.isEmpty()) {
                throw WorkloadError("no_case", "The filters leave no case. See what there is with --list.")
            }
            return Selection(groups, knobs(workload, options), slowdowns(workload, options))
        }

        private fun group(benchmark: Benchmark, params: Params, options: Options): Group {
            val arms = benchmark.arms.indices.filter { arm ->
                options.cases.isEmpty() || options.cases.any { case ->
                    case.benchmark == benchmark.name && case.arm == benchmark.arms[arm] &&
                        case.params.all { (name, text) -> params[name] == parse(benchmark, name, text) }
                }
            }
            return Group(benchmark, params, arms)
        }

        private fun parse(benchmark: Benchmark, name: String, text: String): Value =
            benchmark.params.single { it.name == name }.parse(text)

        /** The cross product of the values of all params; the last param varies fastest. */
        private fun points(benchmark: Benchmark, options: Options): List<Params> =
            benchmark.params.fold(listOf<Params>(emptyMap())) { points, param ->
                val values = values(benchmark, param, options)
                points.flatMap { point -> values.map { point + (param.name to it) } }
            }

        /** `--params` replaces the declared values; `--case` may add others. */
        private fun values(benchmark: Benchmark, param: Param, options: Options): List<Value> {
            options.params[param.name]?.let { asked -> return asked.map(param::parse).distinct() }
            val cases = options.cases.filter { it.benchmark == benchmark.name }
            val named = cases.mapNotNull { it.params[param.name] }
            return (param.values + named.map(param::parse)).distinct()
        }

        private fun checkNames(workload: Workload, options: Options) {
            val benchmarks = workload.benchmarks.associateBy { it.name }
            (options.benchmarks + options.cases.map { it.benchmark }).forEach {
                if (it !in benchmarks) throw unknown("benchmark", it, benchmarks.keys)
            }
            for (case in options.cases) {
                val benchmark = benchmarks.getValue(case.benchmark)
                if (case.arm !in benchmark.arms) throw unknown("arm", case.arm, benchmark.arms)
                case.params.keys.forEach { name -> checkParam(name, listOf(benchmark)) }
            }
            options.params.keys.forEach { checkParam(it, workload.benchmarks) }
        }

        private fun checkParam(name: String, benchmarks: List<Benchmark>) {
            val known = benchmarks.flatMap { it.params }.map { it.name }.distinct()
            if (name !in known) throw unknown("param", name, known)
        }

        private fun knobs(workload: Workload, options: Options): Map<String, Long> {
            val known = workload.knobs.associateBy { it.name }
            for ((name, value) in options.knobs) {
                if (slowedArm(workload, name) != null) {
                    if (value <= LARGEST_SLOWDOWN_PERCENT) continue
                    throw usage("--knob $name=$value: expected 0 to $LARGEST_SLOWDOWN_PERCENT.")
                }
                val knob = known[name] ?: throw unknown("knob", name, known.keys)
                if (value !in knob.range) {
                    throw usage("--knob $name=$value: expected ${knob.range.first} to ${knob.range.last}.")
                }
            }
            return known.mapValues { options.knobs[it.key] ?: it.value.default }
        }

        /** The arm that a knob ARM_slowdown_percent slows: every workload has one for each arm. */
        private fun slowedArm(workload: Workload, knob: String): String? {
            val arm = knob.removeSuffix(SLOWDOWN)
            val declared = arm == knob || workload.knobs.any { it.name == knob }
            return arm.takeIf { !declared && workload.benchmarks.any { arm in it.arms } }
        }

        private fun slowdowns(workload: Workload, options: Options): Map<String, Long> =
            options.knobs.filterValues { it > 0 }
                .mapNotNull { (knob, percent) -> slowedArm(workload, knob)?.let { it to percent } }.toMap()

        private fun unknown(kind: String, name: String, known: Collection<String>): WorkloadError =
            usage("Unknown $kind '$name'. Known: ${known.joinToString(", ").ifEmpty { "none" }}.")
    }
}
