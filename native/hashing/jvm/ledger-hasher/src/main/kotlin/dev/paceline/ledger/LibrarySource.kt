/**
 * The location of the library, and how the system loads it.
 *
 * A truncated file is never passed to the system's loader, which would map it, and the process
 * would die, with no way to fall back. An ELF file ends with its table of sections, so one that
 * does not reach that table's end is truncated. All other errors are left to the loader and
 * [NativeLibrary]'s.
 */
package dev.paceline.ledger

import java.io.File
import java.io.RandomAccessFile

// Offsets in ELF's header (System V ABI, "ELF Header") of its class and its table. Not in an
// object, which would be a class more for a cold start to load.
private const val CLASS_AT = 4
private const val CLASS_64 = 2
private const val HEADER_64_BYTES = 64
private const val HEADER_32_BYTES = 52

sealed class LibrarySource {
    /** A file, wherever it is: hosts and tests. */
    class AtPath(val path: String) : LibrarySource() {
        override fun toString() = path

        override fun link(): String? {
            val file = File(path)
            if (!file.isFile) return "There is no native library at $file."
            if (!isWhole(file)) return "The native library $file is cut short."
            System.load(file.absolutePath)
            return null
        }

        /** False for an ELF file that is shorter than its header says; true for all other files. */
        private fun isWhole(file: File): Boolean {
            val header = ByteArray(HEADER_64_BYTES)
            val read: Int
            val length: Long
            val open = RandomAccessFile(file, "r")
            try {
                read = open.read(header)
                length = open.length()
            } finally {
                open.close()
            }
            val isElf = read > CLASS_AT && number(header, 0, 4) == 0x464c457fL // 0x7f, "ELF"
            if (!isElf) return true
            val is64 = header[CLASS_AT].toInt() == CLASS_64
            if (read < if (is64) HEADER_64_BYTES else HEADER_32_BYTES) return false
            val table = if (is64) number(header, 40, 8) else number(header, 32, 4)
            val entryBytes = number(header, if (is64) 58 else 46, 2)
            val entries = number(header, if (is64) 60 else 48, 2)
            return table >= 0 && table + entryBytes * entries <= length
        }

        private fun number(bytes: ByteArray, at: Int, size: Int): Long {
            var number = 0L
            for (i in size - 1 downTo 0) number = number shl 8 or (bytes[at + i].toLong() and 0xff)
            return number
        }
    }

    /** A name the system resolves, `paceline_hashing` for `libpaceline_hashing.so`: Android. */
    class ByName(val name: String) : LibrarySource() {
        override fun toString() = name

        override fun link(): String? {
            System.loadLibrary(name)
            return null
        }
    }

    /** No library: the platform digests. */
    object None : LibrarySource() {
        override fun unwanted() = "No native library was asked for."

        override fun link() = unwanted()
    }

    /** Why the library is not searched for; null if it is. */
    internal open fun unwanted(): String? = null

    /** Lets the system load it; returns why that could not be tried, or null. */
    internal abstract fun link(): String?
}
