import { Buffer } from 'node:buffer';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LineSplitter, LONGEST_LINE } from '../../src/process/line-splitter.js';
import { openLog } from '../../src/process/log-writer.js';
import { run, tempFolder } from './support.js';

describe('output of a command', () => {
  test.each([['over a real pipe', {}], ['over sockets', { pool: undefined }]])('stdout and stderr keep their true order %s', async (_, options) => {
    const script = 'for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done';
    const { log } = await run(script, options);
    expect(log).toBe([1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => `out ${i}\nerr ${i}\n`).join(''));
  });

  test('/dev/stdout, /dev/stderr and /dev/stdin can be opened', async () => {
    const { end, log } = await run('echo a > /dev/stderr; echo b | tee /dev/stderr > /dev/null; cat /dev/stdin', { stdin: 'c\n' });
    expect(end).toMatchObject({ kind: 'exited', exit_code: 0 });
    expect(log).toBe('a\nb\nc\n');
  });

  test('50 MB of output are read with flat memory, kept up to the cap, and marked with their true size (B18)', async () => {
    const before = process.memoryUsage().rss;
    let lines = 0;
    let peak = 0;
    const { end, log, logPath } = await run("head -c 50000000 /dev/zero | tr '\\0' a | fold -w 80; echo done", {
      onLine: () => {
        lines += 1;
        if (lines % 10_000 === 0) peak = Math.max(peak, process.memoryUsage().rss);
      },
    });
    expect(lines).toBe(625_000);
    expect(end).toMatchObject({ kind: 'exited', exit_code: 0 });
    expect(end.log.bytes).toBe(50_000_000 + 625_000 - 1 + 'done\n'.length);
    expect(end.log).toMatchObject({ kept: 16 * 1024 * 1024, truncated: true, binary: false });
    expect(log.slice(8 * 1024 * 1024, 8 * 1024 * 1024 + 200)).toContain(`the output was ${end.log.bytes} bytes`);
    expect(log.endsWith('done\n')).toBe(true);
    expect(log.length).toBeLessThan(16 * 1024 * 1024 + 300);
    expect(existsSync(`${logPath}.end`) || existsSync(`${logPath}.end-older`)).toBe(false);
    expect(peak - before).toBeLessThan(60e6);
  });

  test('captured stdout is decoded whole: a letter that straddles two reads stays one (B20)', async () => {
    const { end, log, lines } = await run("printf '\\342\\211'; sleep 0.2; printf '\\244'", { capture: true });
    expect(end.captured?.bytes).toEqual(Buffer.from('≤'.replace('≤', '\u2264')));
    expect(Buffer.from(log, 'latin1').toString('utf8')).toBe('\u2264');
    expect(end.log.binary).toBe(false);
    expect(lines).toEqual(['stdout: \u2264']);
  });

  test('bytes that are not UTF-8 stay in the log as they came, and are flagged', async () => {
    const { end, log } = await run("printf 'a\\377b'");
    expect(Buffer.from(log, 'latin1')).toEqual(Buffer.from([0x61, 0xff, 0x62]));
    expect(end.log.binary).toBe(true);
  });

  test('captured stdout over the limit is counted, and the command is not disturbed', async () => {
    const { end } = await run('head -c 3000000 /dev/zero; echo end >&2', { capture: true, capture_limit: 1000 });
    expect(end).toMatchObject({ kind: 'exited', exit_code: 0, tail: expect.stringContaining('end') as string });
    expect(end.captured?.total).toBe(3_000_000);
    expect(end.captured?.bytes.length).toBe(1000);
  });

  test('lines are whole, name their stream, and an unterminated last line is shown (B22)', async () => {
    const { lines } = await run('printf AA; sleep 0.1; printf "AA\\nBB"; printf CC >&2', { capture: true });
    expect(lines.sort()).toEqual(['stderr: CC', 'stdout: AAAA', 'stdout: BB']);
  });

  test('secrets are masked in log, lines and tail, also when a write splits them (B57)', async () => {
    const secret = 's3cr3t-v4lue-9';
    const { end, log, lines } = await run('printf "using s3cr3t-"; sleep 0.1; echo "v4lue-9"; echo "fatal http://u:s3cr3t-v4lue-9@host" >&2; exit 1', { secrets: [secret] });
    expect(log).toBe('using ***\nfatal http://u:***@host\n');
    expect(lines).toEqual(['stdout: using ***', 'stdout: fatal http://u:***@host']);
    expect(end.tail).toBe('using ***\nfatal http://u:***@host');
  });

  test('the log is readable by its owner only, its folder is made, and no pid file stays', async () => {
    const logPath = join(tempFolder(), 'deep', 'er', 'step.log');
    const { end } = await run('test -e "$0.pid" || exit 9', { log_path: logPath });
    expect(end.kind).toBe('exited');
    expect(statSync(logPath).mode & 0o777).toBe(0o600);
    expect(existsSync(`${logPath}.pid`)).toBe(false);
    expect(statSync(dirname(logPath)).mode & 0o777).toBe(0o700);
  });

  test('a display that throws does not change how the command ends', async () => {
    const { end } = await run('echo a; echo b', {
      onLine: () => {
        throw new Error('display');
      },
    });
    expect(end).toMatchObject({ kind: 'exited', exit_code: 0 });
  });
});

describe('log writer', () => {
  const write = (chunks: string[], keep: number) => {
    const path = join(tempFolder(), 'x.log');
    const log = openLog(path, keep);
    for (const chunk of chunks) log.write(Buffer.from(chunk));
    return { summary: log.end(), text: readFileSync(path, 'utf8') };
  };

  test.each([
    ['one chunk', 1000],
    ['chunks of 7 bytes', 7],
    ['chunks of 1 byte', 1],
  ])('keeps the first and last half of the cap, in %s', (_, size) => {
    const letters = Array.from({ length: 200 }, (__, i) => String.fromCharCode(97 + (i % 26))).join('');
    for (const length of [0, 1, 10, 11, 19, 20, 21, 29, 30, 31, 40, 41, 199, 200]) {
      const text = letters.slice(0, length);
      const chunks = Array.from({ length: Math.ceil(length / size) }, (__, i) => text.slice(i * size, (i + 1) * size));
      const { summary, text: kept } = write(chunks, 20);
      if (length <= 20) {
        expect(kept).toBe(text);
        expect(summary).toEqual({ bytes: length, kept: length, truncated: false, binary: false });
      } else {
        expect(kept.replace(/\n\[plan: .*\]\n/, '|')).toBe(`${text.slice(0, 10)}|${text.slice(-10)}`);
        expect(kept).toContain(`${length} bytes`);
        expect(summary).toEqual({ bytes: length, kept: 20, truncated: true, binary: false });
      }
    }
  });

  test('cuts no letter in half at the borders of what is left out', () => {
    for (let shift = 0; shift < 4; shift += 1) {
      const { text } = write([`${'.'.repeat(shift)}${'€'.repeat(40)}`], 20);
      expect(text).not.toContain('\ufffd');
    }
  });

  test('a log that cannot be written loses its bytes and nothing else', () => {
    const log = openLog('/dev/null/impossible/x.log');
    log.write(Buffer.from('abc'));
    expect(log.end()).toEqual({ bytes: 3, kept: 0, truncated: true, binary: false });
  });
});

describe('line splitter', () => {
  test('cuts a long line, says its length, and never splits a letter', () => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    splitter.push(Buffer.from(`x${'é'.repeat(LONGEST_LINE)}`));
    splitter.push(Buffer.from('more\r\nnext\r\n\nlast'));
    splitter.end();
    splitter.end();
    expect(lines[0]).toMatch(/^xé+ … \(line of 32774 bytes\)$/);
    expect(lines.slice(1)).toEqual(['next', '', 'last']);
  });
});
