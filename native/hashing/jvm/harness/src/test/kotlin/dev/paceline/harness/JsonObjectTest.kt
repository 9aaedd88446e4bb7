/** Whatever the text was, what is written is strict JSON that a store can hold. */
package dev.paceline.harness

import com.google.gson.JsonParser
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class JsonObjectTest {
    private fun written(text: String): String {
        val to = StringBuilder()
        JsonObject(to).text("t", text).close()
        return to.toString()
    }

    @Test
    fun `text comes back as it was`() {
        val texts = listOf("", "plain", "a \"quote\" and a \\", "tab\tline\nbell\u0007", "Zürich µs 𝛼 \u2028")
        for (text in texts) {
            assertEquals(text, JsonParser.parseString(written(text)).asJsonObject["t"].asString)
        }
    }

    @Test
    fun `what the stream forbids is replaced`() {
        assertEquals("""{"t":"a�b"}""", written("a\u0000b"))
        assertEquals("""{"t":"a�b"}""", written("a\uD800b"))
        assertEquals("""{"t":"�"}""", written("\uDC00"))
    }

    @Test
    fun `a line never breaks`() {
        assertEquals(1, written("a\nb\r\nc").lines().size)
    }
}
