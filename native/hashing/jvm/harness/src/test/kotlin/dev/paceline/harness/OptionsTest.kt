/**
 * Tests of the parser of the command line that native/protocol/README.md describes, and of its
 * errors.
 */
package dev.paceline.harness

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class OptionsTest {
    private fun parse(line: String) = Options.parse(line.split(' ').filter { it.isNotEmpty() })

    @Test
    fun `a command line with every option is parsed`() {
        val options = parse(
            "--launch 3 --rounds 40 --min-time-ns 5000 --seed 9 --warmup-rounds 2 " +
                "--case b/a/n=5,m=6 --case b/c --benchmark b --params n=5|6 --knob k=7",
        )
        val expected = Options(
            launch = 3,
            rounds = 40,
            warmupRounds = 2,
            minTimeNs = 5000,
            seed = 9,
            cases = listOf(
                CaseFilter("b", "a", mapOf("n" to "5", "m" to "6")),
                CaseFilter("b", "c", emptyMap()),
            ),
            benchmarks = listOf("b"),
            params = mapOf("n" to listOf("5", "6")),
            knobs = mapOf("k" to 7L),
        )
        assertEquals(expected, options)
    }

    @Test
    fun `warm-up is a tenth but at least five rounds`() {
        assertEquals(5, parse("--rounds 20").warmup)
        assertEquals(6, parse("--rounds 51").warmup)
        assertEquals(0, parse("--rounds 51 --warmup-rounds 0").warmup)
    }

    @Test
    fun `an error names the wrong argument`() {
        val wrong = mapOf(
            "--rounds 0" to "--rounds '0'",
            "--rounds +5" to "--rounds '+5'",
            "--seed 9223372036854775808" to "--seed '9223372036854775808'",
            "--seed" to "'--seed' needs a value",
            "--speed 5" to "Unknown option '--speed'",
            "hello" to "Unexpected argument 'hello'",
            "--case b" to "--case 'b'",
            "--case b//n=1" to "--case 'b//n=1'",
            "--params n" to "--params 'n'",
            "--params n=1 --params n=2" to "given twice",
            "--knob k=-1" to "--knob k '-1'",
        )
        for ((line, named) in wrong) {
            val error = assertThrows(WorkloadError::class.java) { parse(line) }
            assertEquals("usage", error.code)
            assertTrue(named in error.text) { "$line: ${error.text}" }
        }
    }
}
