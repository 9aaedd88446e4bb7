/** The `ledger` workload of the hashing suite: `java -cp hashing.jar dev.paceline.hashing.MainKt --list | …` */
package dev.paceline.hashing

import dev.paceline.harness.Session
import dev.paceline.harness.Workload
import java.io.FileDescriptor
import java.io.FileOutputStream
import java.security.MessageDigest
import kotlin.system.exitProcess

fun main(args: Array<String>) {
    // Not System.out: its encoder and locks have no business here, and a library that prints would share it.
    val out = FileOutputStream(FileDescriptor.out)
    exitProcess(Session(LEDGER, out, System.err).run(args.toList()))
}

internal val LEDGER = Workload(
    suite = "hashing",
    name = "ledger",
    benchmarks = listOf(LEDGER_BATCH),
    knobs = listOf(SLOWDOWN),
    open = {
        NativeLibrary.load()
        facts()
    },
    checks = ::checks,
)

/** Facts about what runs that could explain a difference between two runs. */
private fun facts(): Map<String, String> = mapOf(
    "engine" to NativeLibrary.engine(),
    "digest_provider" to MessageDigest.getInstance("SHA-256").provider.toString(),
    "jvm" to "${System.getProperty("java.vm.name")} ${System.getProperty("java.vm.version")}",
    "jvm_vendor" to System.getProperty("java.vm.vendor"),
    "kotlin" to KotlinVersion.CURRENT.toString(),
    "os" to "${System.getProperty("os.name")} ${System.getProperty("os.arch")}",
)
