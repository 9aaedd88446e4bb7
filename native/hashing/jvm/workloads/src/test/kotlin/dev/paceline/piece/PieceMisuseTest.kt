/**
 * Right digests for right arguments, exceptions for wrong ones; never a crash, and the host stays
 * usable.
 */
package dev.paceline.piece

import dev.paceline.harness.SplitMix64
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class PieceMisuseTest {
    private val opened = mutableListOf<PieceHost>()

    private val host: PieceHost by lazy { open().also { opened += it } }

    @AfterEach
    fun close() = opened.forEach { it.close() }

    @Test
    fun `every path gives the platform's digest of any view`() {
        host.eval("$HEX globalThis.take = data => { globalThis.whole = data; };")
        val random = SplitMix64(3)
        for (bytes in listOf(0, 1, 19, 20, 55, 56, 63, 64, 65, 4095, 8191, 8192, 8193, 70_001)) {
            val whole = ByteArray(bytes + 17) { random.next().toByte() }
            host.give("take", whole)
            for (from in listOf(0, 1, 16)) {
                val expected = sha1(whole.copyOfRange(from, from + bytes))
                for (path in PATHS) {
                    val view = "whole.subarray($from, ${from + bytes})"
                    val calls = "const p = NativeHasher.paths.$path; const v = $view;"
                    assertEquals(expected, host.eval("{ $calls hex(p.sha1(v)) }"), "$path $bytes from $from")
                    assertEquals(expected, host.eval("{ $calls hex(p.sha1Batch([whole, v])[1]) }"), path)
                    assertEquals(expected, host.eval("{ $calls p.sha1Async(v).then(hex) }"), path)
                }
            }
        }
    }

    @Test
    fun `what holds no bytes is a TypeError on every path`() {
        val wrong = listOf(
            "undefined", "null", "7", "'text'", "{}", "[1, 2]", "new ArrayBuffer(8)", "new Uint16Array(4)",
            "new DataView(new ArrayBuffer(4))", "new Proxy(new Uint8Array(4), {})",
            "Object.create(Uint8Array.prototype)",
        )
        for (value in wrong) for (path in PATHS) refused("NativeHasher.paths.$path", value)
    }

    @Test
    fun `memory that may change or vanish is refused`() {
        host.eval(
            """
            globalThis.detached = new Uint8Array(64); detached.buffer.transfer();
            globalThis.shared = new Uint8Array(new SharedArrayBuffer(64));
            const resizable = new ArrayBuffer(64, { maxByteLength: 128 });
            globalThis.tracking = new Uint8Array(resizable);
            globalThis.outside = new Uint8Array(resizable, 32, 32);
            Object.defineProperty(resizable, 'resizable', { value: false });
            resizable.resize(48);
            """,
        )
        for (value in listOf("detached", "shared", "tracking", "outside")) {
            for (way in listOf("sha1Direct", "sha1Native")) failsWithTypeError("paceline.$way($value)")
            for (way in NATIVE_BATCHES) failsWithTypeError("paceline.$way([$value])")
            for (way in listOf("sha1AsyncDirect", "sha1AsyncNative")) {
                failsWithTypeError("paceline.$way($value, () => {})")
            }
            for (way in listOf("sha1Copied", "sha1Reused")) failsWithTypeError("paceline.$way($value.buffer)")
            failsWithTypeError("paceline.sha1BatchCopied([$value.buffer])")
        }
        assertEquals(0, host.pending)
    }

    @Test
    fun `a view that lies about itself cannot reach beyond its buffer`() {
        val liar = """
            class Liar extends Uint8Array {
              get byteOffset() { return 1e9; }
              get byteLength() { return 1e9; }
            }
            $HEX
        """
        host.eval(liar)
        // slice() clamps, so the original's way hashes nothing; the others read what the engine knows.
        assertEquals(sha1(ByteArray(0)), host.eval("hex(NativeHasher.paths.seed.sha1(new Liar(8)))"))
        assertEquals(sha1(ByteArray(8)), host.eval("hex(NativeHasher.paths.direct.sha1(new Liar(8)))"))
        assertEquals(sha1(ByteArray(8)), host.eval("hex(NativeHasher.paths.native.sha1(new Liar(8)))"))
    }

    @Test
    fun `an array whose elements run code cannot detach what was read before`() {
        host.eval(
            """
            globalThis.trap = make => {
              const first = new Uint8Array(1 << 20);
              const pieces = [first, 0];
              const get = () => { first.buffer.transfer(); return make(first); };
              return Object.defineProperty(pieces, 1, { get });
            };
            """,
        )
        for (way in NATIVE_BATCHES) failsWithTypeError("paceline.$way(trap(f => f))")
        failsWithTypeError("paceline.sha1BatchCopied(trap(f => f.buffer))")
    }

    @Test
    fun `batches that are no arrays or too long are refused`() {
        for (way in NATIVE_BATCHES + "sha1BatchCopied") {
            thrown(host, "paceline.$way(7)")
            thrown(host, "paceline.$way({ length: 1 })")
            assertTrue("RangeError" in thrown(host, "paceline.$way(new Array(1025))").message!!)
            assertEquals("0", host.eval("paceline.$way([]).length"))
        }
    }

    @Test
    fun `a script that recurses or allocates without end gets an error and the next one runs`() {
        assertTrue("RangeError" in thrown(host, "(function f() { return f() + 1; })()").message!!)
        thrown(host, "const all = []; for (;;) all.push(new Uint8Array(64 << 20));")
        assertEquals("42", host.eval("6 * 7"))
    }

    @Test
    fun `more threads than any machine has are refused before one is started`() {
        host.eval("0")
        for (count in listOf(-1, 1_025, Int.MAX_VALUE)) {
            val crew = assertThrows<IllegalArgumentException> { PieceHost(platform(), crew = count) }
            assertTrue(crew.message!!.startsWith("crew: $count ")) { crew.message!! }
            val workers = assertThrows<IllegalArgumentException> { PieceHost(platform(), workers = count) }
            assertTrue(workers.message!!.startsWith("workers: $count ")) { workers.message!! }
        }
        PieceHost(platform(), workers = 1_024).close() // none is started before a script needs it
    }

    @Test
    fun `nothing settles a promise that nobody holds, and that is said`() {
        val error = assertThrows<IllegalStateException> { host.eval("new Promise(() => {})") }
        assertTrue("nothing will settle" in error.message!!)
        assertEquals("42", host.eval("6 * 7"))
    }

    @Test
    fun `an unknown function is named`() {
        val error = assertThrows<IllegalArgumentException> { host.call("nope") }
        assertTrue("'nope'" in error.message!!)
        host.eval("Object.defineProperty(globalThis, 'trapped', { get() { throw new Error('read'); } })")
        assertThrows<IllegalArgumentException> { host.call("trapped") }
        assertEquals("42", host.eval("6 * 7"))
    }

    private fun refused(path: String, value: String) {
        failsWithTypeError("$path.sha1($value)")
        failsWithTypeError("$path.sha1Batch([$value])")
        failsWithTypeError("$path.sha1Async($value)")
        assertEquals(0, host.pending, value)
    }

    private fun failsWithTypeError(script: String) {
        val message = thrown(host, script).message!!
        assertTrue(message.startsWith("TypeError")) { "$script: $message" }
    }

    private companion object {
        val NATIVE_BATCHES = listOf("sha1BatchLanes", "sha1BatchCrew")
    }
}
