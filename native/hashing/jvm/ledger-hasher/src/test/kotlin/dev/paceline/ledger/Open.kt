/**
 * A child process: opens one library after the other, prints the last status, and digests "abc".
 */
package dev.paceline.ledger

fun main(args: Array<String>) {
    val policy = LedgerPolicy(minimumBatch = 1, warmupRounds = 1)
    val hasher = args.map { LedgerHasher.open(LibrarySource.AtPath(it), policy) }.last()
    val digest = ByteArray(32)
    hasher.digestMessages(listOf("abc".toByteArray()), digest)
    println(hasher.status.toString().replace('\n', ' '))
    println(digest.joinToString("") { "%02x".format(it) })
}
