/** The one call of the library that no product can make: classes of the product do not declare it. */
package dev.paceline.ledger

object Provoked {
    /** Panics in native code. */
    @JvmStatic
    external fun panic()
}
