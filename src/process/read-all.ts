// Reads the output streams of a command until they end, or until the command's end makes waiting pointless.
import type { Buffer } from 'node:buffer';
import { setTimeout as delay } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import type { Capture, OutputSink, StreamName } from './output-sink.js';

export interface Reading {
  /** Resolves when all streams ended, or nothing came for `quietMs`, or `mostMs` are over. */
  quiet(quietMs: number, mostMs: number): Promise<void>;
  /** How long nothing has come, ms. */
  silence(): number;
  /** Closes the streams and flushes what was held back. */
  close(): Promise<void>;
  /** Whether every stream was read to its end. */
  drained(): boolean;
}

/** Sends everything the streams give to the sink, and stdout to the capture as well. */
export function readAll(outputs: ReadonlyArray<{ name: StreamName; stream: Readable }>, sink: OutputSink, capture: Capture | undefined): Reading {
  let lastData = performance.now();
  let ended = 0;
  const inputs = outputs.map(({ name, stream }) => {
    const input = sink.input(name);
    stream.on('data', (chunk: Buffer) => {
      lastData = performance.now();
      if (name === 'stdout') capture?.push(chunk);
      input.push(chunk);
    });
    stream.once('end', () => (ended += 1));
    stream.on('error', () => undefined); // as good as an end; `drained` stays false
    return input;
  });
  const closed = Promise.all(outputs.map(({ stream }) => new Promise<void>((resolve) => stream.once('close', resolve))));

  return {
    async quiet(quietMs, mostMs) {
      const end = performance.now() + mostMs;
      let open = true;
      const over = closed.then(() => (open = false));
      // Silence is counted from now on: a command may have been silent for long before it ended.
      const began = performance.now();
      while (open && performance.now() < end && performance.now() - Math.max(lastData, began) < quietMs) {
        const timer = new AbortController();
        await Promise.race([over, delay(Math.min(quietMs, 20), undefined, { signal: timer.signal }).catch(() => undefined)]);
        timer.abort();
      }
    },
    silence: () => performance.now() - lastData,
    async close() {
      for (const { stream } of outputs) stream.destroy();
      await closed;
      for (const input of inputs) input.end();
    },
    drained: () => ended === outputs.length,
  };
}
