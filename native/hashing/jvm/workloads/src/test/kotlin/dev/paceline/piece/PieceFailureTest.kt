/**
 * An exception of one side arrives on the other with its cause; wrong use of a host is refused with
 * a message.
 */
package dev.paceline.piece

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import java.nio.ByteBuffer
import java.util.concurrent.FutureTask

class PieceFailureTest {
    /** Does [what] instead of hashing. */
    private class Instead(private val what: () -> ByteArray) : PieceHasher {
        override fun sha1(data: ByteArray, length: Int) = what()

        override fun sha1(data: ByteBuffer) = what()

        override fun sha1Batch(pieces: Array<ByteArray>) = Array(pieces.size) { what() }

        override fun log(line: String) {
            what()
        }
    }

    private val inKotlin = listOf(
        "NativeHasher.paths.seed.sha1(new Uint8Array(9))",
        "NativeHasher.paths.reuse.sha1(new Uint8Array(9))",
        "NativeHasher.paths.direct.sha1(new Uint8Array(9))",
        "NativeHasher.paths.seed.sha1Batch([new Uint8Array(9)])",
        "NativeHasher.paths.direct.sha1Async(new Uint8Array(9))",
    )

    @Test
    fun `what a hasher throws is an error of the script and the cause of what leaves it`() {
        for (error in listOf(IllegalStateException("no such luck"), OutOfMemoryError("not really"))) {
            host(Instead { throw error }) { host ->
                for (script in inKotlin + "paceline.log('x')") {
                    val left = thrown(host, script)
                    assertSame(error, left.cause, script)
                    assertTrue(left.message!!.startsWith("HasherError: $error")) { left.message!! }
                }
                val caught = "try { paceline.log('x') } catch (e) { e.name + '|' + (e instanceof Error) }"
                assertEquals("HasherError|true", host.eval(caught))
                assertEquals("caught", host.eval("${inKotlin.last()}.catch(() => 'caught')"))
                assertEquals(0, host.pending)
            }
        }
    }

    @Test
    fun `a hasher that returns no digest is an error`() {
        for (bytes in listOf(0, 19, 21)) host(Instead { ByteArray(bytes) }) { host ->
            for (script in inKotlin) assertTrue("$bytes bytes" in thrown(host, script).message!!)
        }
    }

    @Test
    fun `an endless recursion in the hasher is a StackOverflowError, not a crash`() {
        fun deeper(n: Int): ByteArray = if (n < 0) ByteArray(0) else deeper(n + 1) + ByteArray(1)
        host(Instead { deeper(0) }) { host ->
            assertTrue(thrown(host, inKotlin.first()).cause is StackOverflowError)
            assertEquals("42", host.eval("6 * 7"))
        }
    }

    @Test
    fun `what a callback throws leaves the script and the other callbacks run`() = host { host ->
        val left = thrown(
            host,
            """
            globalThis.ran = 0;
            const data = new Uint8Array(9);
            for (let i = 0; i < 4; i++) {
              paceline.sha1AsyncNative(data, () => {
                ran++;
                if (i === 1) throw new RangeError('in a callback');
              });
            }
            new Promise(() => {});
            """,
        )
        assertTrue(left.message!!.startsWith("RangeError: in a callback"))
        host.eval("NativeHasher.sha1Async(new Uint8Array(1))")
        assertEquals("4", host.eval("ran"))
    }

    @Test
    fun `a rejection nobody listens to does not pass in silence`() = host(workers = 1) { host ->
        // One worker: what is booked first lands first, so the late rejection is there before the call ends.
        val lost = "Promise.reject(new Error('lost')); NativeHasher.sha1Async(new Uint8Array(1));"
        assertTrue("lost" in thrown(host, lost).message!!)
        val thrownLater = "NativeHasher.sha1Async(new Uint8Array(1)).then(() => { throw new Error('late') });"
        val afterwards = "NativeHasher.sha1Async(new Uint8Array(1 << 20));"
        assertTrue("late" in thrown(host, "$thrownLater $afterwards").message!!)
        assertEquals("heard", host.eval("Promise.reject(new Error('x')).catch(() => 'heard')"))
        assertTrue("mine" in thrown(host, "Promise.reject(new Error('mine'))").message!!)
    }

    @Test
    fun `a script may throw anything`() = host { host ->
        val values = listOf("undefined", "null", "7", "'text'", "{}", "Symbol('s')")
        for (value in values) thrown(host, "throw $value")
        thrown(host, "throw { toString() { throw 1 } }")
        val trap = "Object.defineProperty(new Error('x'), 'message', { get() { throw 1 } })"
        thrown(host, "throw $trap")
        thrown(host, "syntax error here")
        assertEquals("42", host.eval("6 * 7"))
    }

    @Test
    fun `a closed host refuses every call and closes twice`() {
        val closed = host { it }
        closed.close()
        val uses = listOf<() -> Any?>(
            { closed.eval("1") }, { closed.call("piece_seed") }, { closed.pending }, { closed.digestNs },
            { closed.give("piece_add", ByteArray(1)) },
        )
        for (use in uses) assertTrue("closed" in assertThrows<IllegalStateException> { use() }.message!!)
    }

    @Test
    fun `another thread is refused and the host's own goes on`() = host { host ->
        for (use in listOf<() -> Any?>({ host.eval("1") }, { host.pending }, { host.close() })) {
            val refusal = FutureTask { assertThrows<IllegalStateException> { use() } }
            Thread(refusal).start()
            assertTrue("another thread" in refusal.get().message!!)
        }
        assertEquals("42", host.eval("6 * 7"))
    }

    @Test
    fun `a hasher that calls the host it is called by is refused`() {
        var inner: PieceHost? = null
        val refusals = mutableListOf<Throwable>()
        val uses =
            listOf<() -> Any?>({ inner!!.eval("1") }, { inner!!.close() }, { inner!!.call("piece_seed") })
        val hasher = Instead {
            for (use in uses) refusals += assertThrows<IllegalStateException> { use() }
            ByteArray(DIGEST_BYTES)
        }
        host(hasher) { host ->
            inner = host
            host.eval(inKotlin[0])
            assertEquals(uses.size, refusals.count { "running" in it.message!! })
            assertEquals("42", host.eval("6 * 7"))
        }
    }

    @Test
    fun `a hasher may use another host`() = host { other ->
        host(Instead { other.eval("1"); ByteArray(DIGEST_BYTES) }) { host ->
            assertEquals("20", host.eval("${inKotlin[2]}.length"))
        }
    }

    @Test
    fun `nothing is opened without a hasher or with fewer than no threads`() {
        host { }
        assertThrows<IllegalArgumentException> { PieceHost(platform(), crew = -1) }
        assertThrows<IllegalArgumentException> { PieceHost(platform(), workers = -1) }
    }
}
