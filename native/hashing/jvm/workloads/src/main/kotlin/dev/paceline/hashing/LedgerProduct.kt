/**
 * `ledger_product`: entries to digests, everything a product pays for: encoding, copying,
 * digesting.
 *
 * Both arms are [LedgerHasher]s with the same encoder; only policy and library differ.
 */
package dev.paceline.hashing

import dev.paceline.harness.Benchmark
import dev.paceline.harness.Context
import dev.paceline.harness.IntParam
import dev.paceline.harness.Prepared
import dev.paceline.ledger.Fingerprint
import dev.paceline.ledger.LedgerHasher
import dev.paceline.ledger.LedgerPolicy
import dev.paceline.ledger.LibrarySource

val LEDGER_PRODUCT = Benchmark(
    name = "ledger_product",
    arms = listOf("fallback", "policy"),
    params = listOf(IntParam("batch", listOf(1, 10, 100, 1_000, 10_000), 1L..100_000L)),
    prepare = ::prepare,
)

private fun prepare(context: Context): Prepared {
    val entries = fingerprints(context.seed, context.int("batch"))
    val fallback = ProductArm("fallback", entries, LedgerHasher.open(LibrarySource.None))
    val arms = listOf(fallback, ProductArm("policy", entries, hasher(LedgerPolicy.MEASURED)))
    return Prepared(
        arms = arms,
        itemsPerIteration = entries.size.toLong(),
        bytesPerIteration = entries.sumOf { it.encoded().size.toLong() },
        verify = { listOf(nativeEqualsFallback("product batch=${entries.size}", fallback, arms)) },
    )
}

/** A hasher over entries. */
class ProductArm(name: String, private val entries: List<Fingerprint>, private val hasher: LedgerHasher) :
    ArrayArm(name, entries.size) {
    override fun run(iterations: Int) {
        repeat(iterations) { hasher.digestFingerprints(entries, digests) }
        ran(iterations)
    }
}
