/** What these tests share: the library build.sh left, inputs, the platform's digests, children. */
package dev.paceline.ledger

import java.nio.file.Path
import java.security.MessageDigest
import kotlin.random.Random

/** The library that is to be tested. */
val BUILT: String get() = System.getProperty("paceline.hashing.library")

fun loadBuilt() = check(NativeLibrary.load(LibrarySource.AtPath(BUILT)) == null) { "see the reason above" }

/** The platform's digests, one after the other. */
fun platform(messages: List<ByteArray>): ByteArray {
    val sha256 = MessageDigest.getInstance("SHA-256")
    return messages.map { sha256.digest(it) }.fold(ByteArray(0)) { all, digest -> all + digest }
}

/** [count] messages of random lengths up to [most]. */
fun randomMessages(random: Random, count: Int, most: Int): List<ByteArray> =
    List(count) { random.nextBytes(random.nextInt(most + 1)) }

fun offsetsOf(messages: List<ByteArray>): IntArray =
    messages.runningFold(0) { end, message -> end + message.size }.toIntArray()

fun joined(messages: List<ByteArray>): ByteArray =
    messages.fold(ByteArray(0)) { all, message -> all + message }

fun fingerprint(random: Random, sequence: Long = random.nextLong(1L shl 21)) = Fingerprint(
    author = random.nextBytes(32),
    previous = random.nextBytes(32),
    content = random.nextBytes(32),
    place = random.nextBytes(32),
    sequence = sequence,
    timeMs = 1_761_000_000_000 + random.nextLong(100_000_000_000),
    latitudeE7 = random.nextInt(-900_000_000, 900_000_001),
    longitudeE7 = random.nextInt(-1_800_000_000, 1_800_000_001),
    accuracyCm = random.nextInt(10_000),
)

class Finished(val status: Int, val output: String, val errors: String)

/** Runs [mainClass] of these tests in a JVM of its own. */
fun child(mainClass: String, jvm: List<String>, vararg arguments: String): Finished {
    val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
    val classes = listOf("-cp", System.getProperty("java.class.path"), mainClass)
    val command = listOf(java, "-XX:+UseSerialGC") + jvm + classes + arguments
    val errors = kotlin.io.path.createTempFile("stderr")
    try {
        val process = ProcessBuilder(command).redirectError(errors.toFile()).start()
        val output = process.inputReader().readText()
        return Finished(process.waitFor(), output, errors.toFile().readText())
    } finally {
        errors.toFile().delete()
    }
}
