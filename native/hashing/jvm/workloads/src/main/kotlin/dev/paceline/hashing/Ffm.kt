/**
 * Calls the library through the foreign-function API of Java 22 and later, if this JVM has it.
 *
 * The code is compiled for Java 17, which lacks the API. So the call is bound once by reflection,
 * to a handle of type `(long…)int` that names no foreign type. Without the API,
 * [whyFfmUnavailable] gives the reason.
 */
package dev.paceline.hashing

import dev.paceline.ledger.NativeDigests
import java.lang.invoke.MethodHandle
import java.lang.ref.Reference
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.file.Path
import java.util.Optional

/** The first release in which `java.lang.foreign` is no preview (JEP 454). */
private const val FIRST_FEATURE = 22

/** Why this JVM has no foreign-function API; null if it has one. */
fun whyFfmUnavailable(feature: Int = Runtime.version().feature()): String? = when {
    feature >= FIRST_FEATURE -> null
    else -> "Java $feature has no foreign-function API; Java $FIRST_FEATURE or later has"
}

/**
 * Messages in direct memory and the call, bound by the first [digest]: filling touches nothing foreign, so
 * that a cold start can fill before its clock. The library must be where `libraryPath()` says.
 */
class FfmBatch(input: LedgerInput) {
    private val messages = direct(input.bytes.size).put(0, input.bytes) // an address counts from the position
    private val offsets = direct(input.offsets.size * Int.SIZE_BYTES)
    private val digests = direct(input.digestBytes)
    private var messagesAt = 0L
    private val messagesBytes = messages.capacity().toLong()
    private var offsetsAt = 0L
    private val offsetsBytes = offsets.capacity().toLong()
    private var digestsAt = 0L
    private val digestsBytes = digests.capacity().toLong()

    init {
        offsets.asIntBuffer().put(input.offsets)
    }

    /** One call; an error of the library is an exception. */
    fun digest() {
        if (digestsAt == 0L) locate()
        val engine = Ragged.CALL.invokeExact(
            messagesAt, messagesBytes, offsetsAt, offsetsBytes, digestsAt, digestsBytes, ENGINE,
        ) as Int
        Reference.reachabilityFence(this) // and with it the buffers
        check(engine > 0) { "the library answers $engine" }
    }

    private fun locate() {
        messagesAt = Foreign.address(messages)
        offsetsAt = Foreign.address(offsets)
        digestsAt = Foreign.address(digests)
    }

    fun digests(): ByteArray = ByteArray(digests.capacity()).also { digests.get(0, it) }

    /** Copies the digest of message [i]. */
    fun digest(i: Int, to: ByteArray) {
        digests.get(i * NativeDigests.DIGEST_BYTES, to)
    }

    fun erase() {
        for (i in 0 until digests.capacity()) digests.put(i, 0)
    }

    private fun direct(bytes: Int) = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder())

    private companion object {
        const val ENGINE = NativeDigests.BEST.toLong()
    }
}

/** `native_ffm`: as `native`, without JNI. */
class FfmArm(input: LedgerInput) : LedgerArm("native_ffm", input.count) {
    private val batch = FfmBatch(input)

    override fun run(iterations: Int) {
        repeat(iterations) { batch.digest() }
        ran(iterations)
    }

    override fun copyDigest(i: Int, to: ByteArray) = batch.digest(i, to)

    override fun erase() = batch.erase()
}

/** A class of its own: its handle is a constant to the compiler, and bound when first called. */
private object Ragged {
    private const val ARGUMENTS = 7

    @JvmField
    val CALL: MethodHandle = Foreign.bind(libraryPath(), "paceline_sha256_ragged", ARGUMENTS)
}

/** The few parts of `java.lang.foreign` that are needed, by name. */
private object Foreign {
    private val segment = type("MemorySegment")

    /** A function of [arguments] longs that returns an int. */
    fun bind(library: Path, name: String, arguments: Int): MethodHandle {
        val layout = type("MemoryLayout")
        val layouts = java.lang.reflect.Array.newInstance(layout, arguments)
        for (i in 0 until arguments) java.lang.reflect.Array.set(layouts, i, layout("JAVA_LONG"))
        val descriptor = type("FunctionDescriptor").getMethod("of", layout, layouts.javaClass)
            .invoke(null, layout("JAVA_INT"), layouts)
        val options = java.lang.reflect.Array.newInstance(type("Linker\$Option"), 0)
        val call = type("Linker")
            .getMethod("downcallHandle", segment, type("FunctionDescriptor"), options.javaClass)
            .invoke(linker(), symbol(library, name), descriptor, options)
        return call as MethodHandle
    }

    fun address(buffer: ByteBuffer): Long {
        val of = segment.getMethod("ofBuffer", java.nio.Buffer::class.java).invoke(null, buffer)
        return segment.getMethod("address").invoke(of) as Long
    }

    private fun linker() = type("Linker").getMethod("nativeLinker").invoke(null)

    private fun symbol(library: Path, name: String): Any {
        val global = type("Arena").getMethod("global").invoke(null)
        val lookup = type("SymbolLookup").getMethod("libraryLookup", Path::class.java, type("Arena"))
            .invoke(null, library, global)
        val found = type("SymbolLookup").getMethod("find", String::class.java).invoke(lookup, name)
        return (found as Optional<*>).orElseThrow { NoSuchElementException("the library has no $name") }
    }

    private fun layout(name: String) = type("ValueLayout").getField(name).get(null)

    private fun type(name: String): Class<*> = Class.forName("java.lang.foreign.$name")
}
