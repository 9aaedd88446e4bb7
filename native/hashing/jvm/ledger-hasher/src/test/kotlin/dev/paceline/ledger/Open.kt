/** A child's main: opens the library it is given, says the status, and digests "abc". */
package dev.paceline.ledger

fun main(args: Array<String>) {
    val policy = LedgerPolicy(minimumBatch = 1, warmupRounds = 1)
    val hasher = LedgerHasher.open(LibrarySource.AtPath(args[0]), policy)
    val digest = ByteArray(32)
    hasher.digestMessages(listOf("abc".toByteArray()), digest)
    println(hasher.status.toString().replace('\n', ' '))
    println(digest.joinToString("") { "%02x".format(it) })
}
