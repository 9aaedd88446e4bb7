/**
 * Parses the command line that every workload has (`native/protocol/README.md`) into [Options].
 *
 * Only the syntax is checked here; `Selection` checks names and values against the workload.
 */
package dev.paceline.harness

/** A case that `--case benchmark/arm[/k=v,k=v]` selects. */
data class CaseFilter(val benchmark: String, val arm: String, val params: Map<String, String>)

data class Options(
    val list: Boolean = false,
    val launch: Long = 0,
    val rounds: Int = 20,
    val warmupRounds: Int? = null,
    val minTimeNs: Long = 1_000_000,
    val seed: Long = 0,
    val cases: List<CaseFilter> = emptyList(),
    val benchmarks: List<String> = emptyList(),
    val params: Map<String, List<String>> = emptyMap(),
    val knobs: Map<String, Long> = emptyMap(),
) {
    /** The number of warm-up rounds: as given, or 10 % of the measured rounds, at least 5 (stats/README.md §1). */
    val warmup: Int get() = warmupRounds ?: maxOf(5, (rounds + 9) / 10)

    companion object {
        private const val MOST_ROUNDS = 1_000_000L
        private const val LONGEST_SAMPLE_NS = 60_000_000_000L
        private const val HELP =
            "Known options: --list, --launch, --rounds, --warmup-rounds, --min-time-ns, --seed, " +
                "--case, --benchmark, --params, --knob."

        /** @throws WorkloadError `usage`, naming the argument and what was expected */
        fun parse(args: List<String>): Options {
            var options = Options()
            var at = 0
            while (at < args.size) {
                val option = args[at++]
                if (option == "--list") {
                    options = options.copy(list = true)
                    continue
                }
                if (!option.startsWith("--")) throw usage("Unexpected argument '$option'. $HELP")
                val value = args.getOrNull(at++) ?: throw usage("'$option' needs a value. $HELP")
                options = options.with(option, value)
            }
            return options
        }

        private fun Options.with(option: String, value: String): Options = when (option) {
            "--launch" -> copy(launch = integer(option, value, 0..Long.MAX_VALUE))
            "--rounds" -> copy(rounds = integer(option, value, 1..MOST_ROUNDS).toInt())
            "--warmup-rounds" -> copy(warmupRounds = integer(option, value, 0..MOST_ROUNDS).toInt())
            "--min-time-ns" -> copy(minTimeNs = integer(option, value, 0..LONGEST_SAMPLE_NS))
            "--seed" -> copy(seed = integer(option, value, 0..Long.MAX_VALUE))
            "--benchmark" -> copy(benchmarks = benchmarks + value)
            "--case" -> copy(cases = cases + caseFilter(value))
            "--params" -> {
                val (name, values) = pair(option, value)
                if (name in params) {
                    throw usage("--params $name is given twice. Join the values: $name=v1|v2.")
                }
                copy(params = params + (name to values.split('|')))
            }
            "--knob" -> {
                val (name, setting) = pair(option, value)
                copy(knobs = knobs + (name to integer("$option $name", setting)))
            }
            else -> throw usage("Unknown option '$option'. $HELP")
        }

        private fun caseFilter(text: String): CaseFilter {
            val parts = text.split('/')
            if (parts.size !in 2..3 || parts.any { it.isEmpty() }) {
                throw usage("--case '$text': expected benchmark/arm or benchmark/arm/k=v,k=v.")
            }
            val params = parts.getOrNull(2)?.split(',').orEmpty().associate { pair("--case", it) }
            return CaseFilter(parts[0], parts[1], params)
        }

        private fun pair(option: String, text: String): Pair<String, String> {
            val equals = text.indexOf('=')
            if (equals < 1) throw usage("$option '$text': expected name=value.")
            return text.substring(0, equals) to text.substring(equals + 1)
        }

        private fun integer(option: String, text: String, range: LongRange = 0..Long.MAX_VALUE): Long {
            val value = if (text.all { it in '0'..'9' }) text.toLongOrNull() else null
            if (value == null || value !in range) {
                throw usage("$option '$text': expected an integer from ${range.first} to ${range.last}.")
            }
            return value
        }
    }
}

internal fun usage(text: String): WorkloadError = WorkloadError("usage", text)
