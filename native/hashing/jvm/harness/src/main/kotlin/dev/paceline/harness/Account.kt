/**
 * What an arm reports about a timed region besides its duration: counters and further metrics.
 *
 * They are not checked against the benchmark's metrics here; the reader of the stream does that.
 */
package dev.paceline.harness

/** What an arm read of one metric in one timed region: a total over its iterations, or each call's value. */
class Reading(val metric: String, val values: LongArray, val perCall: Boolean)

class Account {
    val work: MutableMap<String, Long> = LinkedHashMap()
    val readings: MutableList<Reading> = ArrayList()

    /** The arm's own measurement of its duration, of an arm whose region is longer than its work. */
    var ownTimeNs: Long? = null
        private set

    /**
     * Counts what the region did, as a total over its iterations. Reserved: `items` (processed, warm-up
     * inside the region included), `prepared` (inputs built inside it), `kept` (results kept).
     */
    fun work(counter: String, count: Long) {
        work[counter] = count
    }

    /** A further metric's total over the iterations; of a rate, the rate. */
    fun total(metric: String, value: Long) {
        readings += Reading(metric, longArrayOf(value), perCall = false)
    }

    /** A further metric's value of each call, in order; an empty list says nothing. */
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
