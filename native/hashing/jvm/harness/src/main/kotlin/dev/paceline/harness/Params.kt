/**
 * Declares the params of benchmarks, which are integers or texts, and parses their values.
 *
 * A benchmark gets only values that its param declares or that are in the param's range.
 */
package dev.paceline.harness

/** One value of a param. */
sealed interface Value {
    data class Integer(val value: Long) : Value {
        override fun toString() = value.toString()
    }

    data class Text(val value: String) : Value {
        override fun toString() = value
    }
}

/** Values by the name of their param, in the order in which the benchmark declares the params. */
typealias Params = Map<String, Value>

sealed interface Param {
    val name: String

    /** The values that run by default, in this order. */
    val values: List<Value>

    /** @throws WorkloadError `usage` when this param cannot have the value */
    fun parse(text: String): Value
}

/** An integer param: [defaults] run by default, and every value in [range] may be requested. */
class IntParam(override val name: String, defaults: List<Long>, private val range: LongRange) : Param {
    override val values: List<Value> = defaults.map { Value.Integer(it) }

    override fun parse(text: String): Value {
        val value = if (text.all { it in '0'..'9' }) text.toLongOrNull() else null
        if (value == null || value !in range) {
            throw usage("$name=$text: expected an integer from ${range.first} to ${range.last}.")
        }
        return Value.Integer(value)
    }
}

/** A param that has one of the [names]. */
class EnumParam(override val name: String, private val names: List<String>) : Param {
    override val values: List<Value> = names.map { Value.Text(it) }

    override fun parse(text: String): Value {
        if (text !in names) throw usage("$name=$text: expected one of ${names.joinToString(", ")}.")
        return Value.Text(text)
    }
}
