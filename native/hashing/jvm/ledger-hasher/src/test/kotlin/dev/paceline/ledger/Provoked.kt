/**
 * A call of the library that no product can make, because the product's classes do not declare it.
 */
package dev.paceline.ledger

object Provoked {
    /** Panics in native code. */
    @JvmStatic
    external fun panic()
}
