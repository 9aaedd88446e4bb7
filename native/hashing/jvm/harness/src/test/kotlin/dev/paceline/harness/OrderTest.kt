/** Balance of the interleaving (I2), and the golden file the Rust harness is held by too. */
package dev.paceline.harness

import com.google.gson.JsonParser
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.nio.file.Files
import java.nio.file.Path
import kotlin.random.Random

class OrderTest {
    @Test
    fun `orders are those of the golden file`() {
        val file = Path.of(System.getProperty("paceline.vectors"), "interleaving.golden.json")
        val groups = JsonParser.parseString(Files.readString(file)).asJsonArray.map { it.asJsonObject }
        assertTrue(groups.size >= 6)
        for (group in groups) {
            val phase = Phase.entries.single { it.wire == group["phase"].asString }
            val params = group["params"].asJsonObject.asMap().mapValues { (_, value) ->
                val one = value.asJsonPrimitive
                if (one.isNumber) Value.Integer(one.asLong) else Value.Text(one.asString)
            }
            val key = Order.key(phase, group["benchmark"].asString, params)
            assertEquals(group["key"].asString, key)
            val order = Order(group["seed"].asLong, key, group["arms"].asInt)
            for (expected in group["orders"].asJsonArray) {
                assertArrayEquals(expected.asJsonArray.map { it.asInt }.toIntArray(), order.next(), key)
            }
        }
    }

    @Test
    fun `over a square every arm stands once in every position`() {
        val random = Random(1)
        repeat(200) {
            val arms = random.nextInt(1, 9)
            val order = Order(random.nextLong(), "measure/b/", arms)
            repeat(3) {
                val seen = Array(arms) { IntArray(arms) }
                repeat(arms) { order.next().forEachIndexed { position, arm -> seen[arm][position]++ } }
                assertTrue(seen.all { positions -> positions.all { it == 1 } }) { seen.contentDeepToString() }
            }
        }
    }

    @Test
    fun `below is uniform enough and never reaches its bound`() {
        val random = SplitMix64(7)
        val counts = IntArray(3)
        repeat(30_000) { counts[random.below(3)]++ }
        assertTrue(counts.all { it in 9_500..10_500 }) { counts.contentToString() } // ± 6 sigma
    }
}
