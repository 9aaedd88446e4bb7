/**
 * What an arm reports about a timed region besides its duration: counters and further metrics.
 *
 * They are not checked against the benchmark's metrics here; the reader of the stream does that.
 */
package dev.paceline.harness

/** An arm's reading of a metric in one timed region: a total over its iterations, or a value per call. */
class Reading(val metric: String, val values: LongArray, val perCall: Boolean)

class Account {
    val work: MutableMap<String, Long> = LinkedHashMap()
    val readings: MutableList<Reading> = ArrayList()

    /** The arm's own measurement of its duration, if its region is longer than its work. */
    var ownTimeNs: Long? = null
        private set

    /**
     * Counts work of the region, as a total over its iterations. Reserved: `items` (processed, warm-up
     * inside the region included), `prepared` (inputs built inside it), `kept` (results kept).
     */
    fun work(counter: String, count: Long) {
        work[counter] = count
    }

    /** A further metric: its total over the iterations, or the rate. */
    fun total(metric: String, value: Long) {
        readings += Reading(metric, longArrayOf(value), perCall = false)
    }

    /** A further metric: its value for each call, in order. An empty list reports nothing. */
    fun calls(metric: String, values: LongArray) {
        readings += Reading(metric, values, perCall = true)
    }

    /**
     * Replaces the sampler's measurement: for an arm that measures itself, such as a child process, whose
     * start must not count. A total over the iterations.
     */
    fun time(ns: Long) {
        ownTimeNs = ns
    }
}
