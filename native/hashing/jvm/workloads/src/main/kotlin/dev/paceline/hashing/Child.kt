/**
 * A fresh JVM for measurements that a warm process cannot make: it reads a line and answers with a line.
 *
 * The child measures inside itself, so its start is in no sample.
 */
package dev.paceline.hashing

import dev.paceline.harness.Check
import java.io.BufferedReader
import java.io.Writer
import java.nio.file.Path
import java.util.zip.CRC32

/** A child that runs [mainClass] with the arguments [line], on this JVM's runtime and class path. */
class Child(mainClass: String, vararg line: String) : AutoCloseable {
    private val process = ProcessBuilder(command(mainClass) + line)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start()
    private val answers: BufferedReader = process.inputReader()
    private val questions: Writer = process.outputWriter()

    /** Sends the line and waits for the answer. */
    fun ask(question: String): Answer {
        questions.write(question + "\n")
        questions.flush()
        val line = answers.readLine() ?: error("the child process ended with status ${process.waitFor()}")
        return Answer.parse(line)
    }

    override fun close() {
        process.outputStream.close() // the child's signal to end
        process.waitFor()
    }

    private fun command(mainClass: String): List<String> {
        val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
        return listOf(
            java, "-XX:+UseSerialGC", "-Xms128m", "-Xmx128m", "-XX:-UsePerfData",
            "-XX:+DisplayVMOutputToStderr",
            "--enable-native-access=ALL-UNNAMED", "-D$PATH_PROPERTY=${libraryPath()}",
            "-cp", System.getProperty("java.class.path"), mainClass,
        )
    }
}

/** Duration, counters, and a checksum of the digests. */
class Answer(val ns: Long, val items: Long, val prepared: Long, val kept: Long, val checksum: Long) {
    override fun toString() = "$ns $items $prepared $kept $checksum"

    companion object {
        fun parse(line: String): Answer {
            val (ns, items, prepared, kept, checksum) = line.split(' ').map { it.toLong() }
            return Answer(ns, items, prepared, kept, checksum)
        }
    }
}

/** A checksum that differs if a digest differs. */
fun checksum(digests: ByteArray): Long = CRC32().apply { update(digests) }.value

/** The child's side: answers every line until there are no more. */
fun serve(answer: (String) -> Answer) {
    val questions = System.`in`.bufferedReader()
    while (true) println(answer(questions.readLine() ?: return))
}

/** Compares arms' children with the [expected] checksum; arms that have not run do not count. */
fun childrenEqualFallback(group: String, expected: Long, checksums: Map<String, Set<Long>>): Check {
    val ran = checksums.filterValues { it.isNotEmpty() }
    val wrong = ran.filterValues { it != setOf(expected) }.keys
    val detail = if (wrong.isEmpty()) "digests of ${ran.size} arms equal" else "$wrong differ"
    return Check("native_equals_fallback", wrong.isEmpty(), "$group: $detail")
}

/** The digests of [input] by the platform, for comparing. */
fun expectedChecksum(input: LedgerInput): Long =
    checksum(fallbackArm(input).apply { run(1) }.digests())
