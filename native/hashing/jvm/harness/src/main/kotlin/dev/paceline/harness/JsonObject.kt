/**
 * Appends a JSON object to a text: integers, texts, flags and nested objects, as the bench stream
 * needs them.
 *
 * The output is strict JSON without U+0000 and lone surrogates, whatever the texts hold.
 */
package dev.paceline.harness

class JsonObject(private val to: StringBuilder) {
    private var first = true

    init {
        to.append('{')
    }

    fun text(name: String, value: String) = field(name) { quote(value) }

    fun number(name: String, value: Long) = field(name) { to.append(value) }

    fun flag(name: String, value: Boolean) = field(name) { to.append(value) }

    fun numbers(name: String, values: LongArray) = field(name) {
        to.append('[')
        values.forEachIndexed { i, value ->
            if (i > 0) to.append(',')
            to.append(value)
        }
        to.append(']')
    }

    fun nested(name: String, fields: JsonObject.() -> Unit) = field(name) {
        JsonObject(to).apply(fields).close()
    }

    fun array(name: String, elements: JsonArray.() -> Unit) = field(name) {
        to.append('[')
        JsonArray(to).elements()
        to.append(']')
    }

    fun close() {
        to.append('}')
    }

    private inline fun field(name: String, value: () -> Unit): JsonObject {
        if (!first) to.append(',')
        first = false
        quote(name)
        to.append(':')
        value()
        return this
    }

    private fun quote(text: String) {
        to.append('"')
        text.forEachIndexed { i, c ->
            when {
                c == '"' || c == '\\' -> to.append('\\').append(c)
                c == '\n' -> to.append("\\n")
                c == '\u0000' || isLoneSurrogate(text, i) -> to.append('\uFFFD')
                c < ' ' -> to.append("\\u00").append(HEX[c.code shr 4]).append(HEX[c.code and 15])
                else -> to.append(c)
            }
        }
        to.append('"')
    }

    private fun isLoneSurrogate(text: String, i: Int): Boolean = when {
        text[i].isHighSurrogate() -> text.getOrNull(i + 1)?.isLowSurrogate() != true
        text[i].isLowSurrogate() -> text.getOrNull(i - 1)?.isHighSurrogate() != true
        else -> false
    }

    private companion object {
        const val HEX = "0123456789abcdef"
    }
}

class JsonArray(private val to: StringBuilder) {
    private var first = true

    fun element(fields: JsonObject.() -> Unit) {
        if (!first) to.append(',')
        first = false
        JsonObject(to).apply(fields).close()
    }
}
