/**
 * Hashing beside the JS thread: buffers stay unchanged, the order is free, the thread is free,
 * closing is clean.
 */
package dev.paceline.piece

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.nio.ByteBuffer
import java.util.concurrent.CountDownLatch
import java.util.concurrent.FutureTask
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

class PieceAsyncTest {
    /** Hashes as the platform does, after [first] of the piece's first byte. */
    private class After(private val onLog: () -> Unit = {}, private val first: (Int) -> Unit) : PieceHasher {
        private val platform = platform()

        override fun sha1(data: ByteArray, length: Int): ByteArray = platform.sha1(data, length)

        override fun sha1(data: ByteBuffer): ByteArray {
            first(data.get(0).toInt())
            return platform.sha1(data)
        }

        override fun sha1Batch(pieces: Array<ByteArray>) = platform.sha1Batch(pieces)

        override fun log(line: String) = onLog()
    }

    private fun CountDownLatch.mustOpen() =
        check(await(60, TimeUnit.SECONDS)) { "what must happen meanwhile did not" }

    @Test
    fun `a piece being hashed cannot be written, moved or freed, and afterwards it can`() = host { host ->
        for (path in listOf("direct", "native")) {
            val script = """
                (async () => {
                  'use strict';
                  const data = new Uint8Array(1 << 20);
                  const said = [];
                  const attempt = what => {
                    try { what(); said.push('done'); } catch (e) { said.push(e.name); }
                  };
                  const landed = NativeHasher.paths.$path.sha1Async(data);
                  const again = NativeHasher.paths.$path.sha1Async(data.subarray(7));
                  attempt(() => data.buffer.transfer());
                  attempt(() => data.buffer.transfer(16));
                  attempt(() => data.set([1]));
                  attempt(() => data.fill(1));
                  await landed; await again;
                  attempt(() => data.set([1]));
                  attempt(() => data.buffer.transfer(16));
                  return said.join(' ');
                })()
            """
            assertEquals("TypeError TypeError TypeError TypeError done done", host.eval(script), path)
        }
    }

    @Test
    fun `a buffer the script made immutable stays so`() = host { host ->
        val script = """
            const fixed = new Uint8Array(new ArrayBuffer(64).transferToImmutable());
            NativeHasher.sha1Async(fixed).then(() => fixed.buffer.immutable)
        """
        assertEquals("true", host.eval(script))
    }

    @Test
    fun `pieces nobody else holds survive collections of both collectors`() {
        host(After { System.gc() }) { host ->
            val script = """
                $HEX
                const all = [];
                for (let i = 0; i < 24; i++) {
                  all.push(NativeHasher.sha1Async(new Uint8Array(100000).fill(i)).then(hex));
                  paceline.collectGarbage();
                }
                globalThis.sync = hex(NativeHasher.sha1(new Uint8Array(100000).fill(7)));
                paceline.collectGarbage();
                Promise.all(all).then(found => found.join(' '));
            """
            val expected = (0 until 24).map { i -> sha1(ByteArray(100_000) { i.toByte() }) }
            assertEquals(expected.joinToString(" "), host.eval(script))
            assertEquals(expected[7], host.eval("sync"))
        }
    }

    @Test
    fun `pieces may land in any order`() {
        // Opened by the script once the second has landed: opened by its hasher, the first could overtake it.
        val second = CountDownLatch(1)
        host(After(onLog = second::countDown) { first -> if (first == 1) second.mustOpen() }) { host ->
            val script = """
                const order = [];
                const landed = n => { order.push(n); paceline.log('landed'); };
                const hash = n => NativeHasher.sha1Async(new Uint8Array([n])).then(() => landed(n));
                Promise.all([hash(1), hash(2)]).then(() => order.join(' '))
            """
            assertEquals("2 1", host.eval(script))
        }
    }

    @Test
    fun `the script goes on while a worker hashes`() {
        val logged = CountDownLatch(1)
        host(After(onLog = logged::countDown) { first -> if (first == 1) logged.mustOpen() }) { host ->
            val script = """
                (async () => {
                  const slow = NativeHasher.sha1Async(new Uint8Array([1]));
                  await NativeHasher.sha1Async(new Uint8Array([2]));
                  paceline.log('the other has landed while this one is being hashed');
                  return (await slow).length;
                })()
            """
            assertEquals("20", host.eval(script))
        }
    }

    @Test
    fun `a host closes while pieces are in the air, and its hasher is not called any more`() {
        val begun = CountDownLatch(1)
        val calls = AtomicInteger()
        val hasher = After { calls.incrementAndGet(); begun.countDown() }
        host(hasher, workers = 1) { host ->
            host.eval(
                """
                for (let i = 0; i < 200; i++) NativeHasher.sha1Async(new Uint8Array(200000));
                for (let i = 0; i < 200; i++) NativeHasher.paths.native.sha1Async(new Uint8Array(20000));
                'waits for none of them';
                """,
            )
            assertEquals(400, host.pending)
            begun.mustOpen()
        }
        val atClose = calls.get()
        assertTrue(atClose in 1..200)
        host(workers = 1) { it.eval("NativeHasher.sha1Async(new Uint8Array(200000)); 0") }
        assertEquals(atClose, calls.get())
    }

    @Test
    fun `hosts of several threads hash at once`() {
        host { }
        val expected = sha1(ByteArray(50_000) { 5 })
        val tasks = List(4) {
            FutureTask {
                host { host ->
                    host.eval("$HEX const data = new Uint8Array(50000).fill(5);")
                    (1..50).flatMap { round ->
                        val path = PATHS[round % PATHS.size]
                        val hasher = "NativeHasher.paths.$path"
                        val later = host.eval("$hasher.sha1Async(data).then(hex)")
                        listOf(host.eval("hex($hasher.sha1(data))"), later)
                    }
                }
            }
        }
        tasks.forEach { Thread(it).start() }
        for (task in tasks) assertTrue(task.get().all { it == expected })
    }
}
