import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMasker } from '../../src/process/masker.js';
import { secretForms } from '../../src/process/secret-forms.js';

// Masks by marking every occurrence of every form, byte by byte: slow, and plainly right. At the end of a stream the
// longest text that begins a form counts too.
function maskPlainly(text: Buffer, secrets: string[], at: 'end of a stream' | undefined = undefined): string {
  const covered = new Uint8Array(text.length);
  let open = 0;
  for (const form of secretForms(secrets)) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) covered.fill(1, at, at + form.length);
    for (let size = 4; size < form.length; size += 1) if (text.subarray(text.length - size).equals(form.subarray(0, size))) open = Math.max(open, size);
  }
  if (at !== undefined) covered.fill(1, text.length - open);
  const out: number[] = [];
  for (let i = 0; i < text.length; i += 1) {
    if (covered[i] === 0) out.push(text[i] as number);
    else if (i === 0 || covered[i - 1] === 0) out.push(0x2a, 0x2a, 0x2a);
  }
  return Buffer.from(out).toString('latin1');
}

function maskInChunks(text: Buffer, secrets: string[], cuts: number[]): string {
  const stream = createMasker(secrets).stream();
  const parts: Buffer[] = [];
  let at = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    const end = Math.min(cut, text.length);
    parts.push(Buffer.from(stream.push(Buffer.from(text.subarray(at, end)))));
    at = end;
  }
  parts.push(Buffer.from(stream.push(Buffer.from(text.subarray(at)))), Buffer.from(stream.end()));
  return Buffer.concat(parts).toString('latin1');
}

const SECRET = 's3cr3t-v4lue-9';

describe('masker', () => {
  test('a secret split over chunks at every offset is masked', () => {
    const text = Buffer.from(`using ${SECRET} and ${SECRET}${SECRET} now`);
    for (let cut = 0; cut <= text.length; cut += 1) expect(maskInChunks(text, [SECRET], [cut])).toBe('using *** and *** now');
    const everyByte = Array.from({ length: text.length }, (_, i) => i);
    expect(maskInChunks(text, [SECRET], everyByte)).toBe('using *** and *** now');
  });

  test('masking chunks equals masking the whole, for random secrets, texts and cuts', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '"', '\n'), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), fc.array(fc.oneof(word, fc.nat(3).map(String)), { maxLength: 30 }), fc.array(fc.nat(120)), (secrets, words, cuts) => {
        const text = Buffer.from([...words, ...secrets.slice(0, 1), ...words.slice(0, 2)].join(''));
        expect(maskInChunks(text, secrets, cuts)).toBe(maskPlainly(text, secrets, 'end of a stream'));
        expect(Buffer.from(createMasker(secrets).text(text.toString('utf8')), 'utf8').toString('latin1')).toBe(maskPlainly(text, secrets));
      }),
      { numRuns: 500 },
    );
  });

  test('bytes that cannot begin a secret are not held back', () => {
    const stream = createMasker([SECRET]).stream();
    expect(stream.push(Buffer.from('Password: ')).toString()).toBe('Password: ');
    expect(stream.push(Buffer.from('s3c')).toString()).toBe('');
    expect(stream.push(Buffer.from('ret')).toString()).toBe('s3cret');
  });

  test('bytes that are not UTF-8 pass unchanged around a secret', () => {
    const bytes = Buffer.concat([Buffer.from([0xff, 0, 0xe2]), Buffer.from(SECRET), Buffer.from([0x88])]);
    expect(maskInChunks(bytes, [SECRET], [2, 5])).toBe(Buffer.from([0xff, 0, 0xe2, 0x2a, 0x2a, 0x2a, 0x88]).toString('latin1'));
  });

  test.each([
    ['as it is', (s: string) => s],
    ['in JSON', (s: string) => JSON.stringify({ a: s })],
    ['in JSON with ASCII only', (s: string) => JSON.stringify(s).replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)],
    ['in a URI', (s: string) => `?t=${encodeURIComponent(s)}`],
    ['in a form', (s: string) => new URLSearchParams({ t: s }).toString()],
    ['in base64', (s: string) => Buffer.from(s).toString('base64')],
    ['in base64 behind one letter', (s: string) => Buffer.from(`u${s}`).toString('base64')],
    ['in base64 behind a user name', (s: string) => Buffer.from(`user:${s}`).toString('base64')],
    ['in base64 for URLs', (s: string) => Buffer.from(`me:${s}@`).toString('base64url')],
    ['in Python quotes', (s: string) => `?t=${encodeURIComponent(s).replaceAll('%2F', '/').replaceAll("'", '%27')}`],
    ['in a form with plus signs', (s: string) => encodeURIComponent(s).replaceAll('%20', '+').replaceAll("'", '%27')],
    ['in lower-case escapes', (s: string) => encodeURIComponent(s).replace(/%../g, (hex) => hex.toLowerCase())],
    ['behind a path', (s: string) => new URL(`http://host/x/${s}`).href],
    ['in a query', (s: string) => new URL(`http://host/?x=${s}`).href],
    ['in credentials', (s: string) => Object.assign(new URL('http://host/'), { username: 'u', password: s }).href],
    ['in hex', (s: string) => Buffer.from(s).toString('hex')],
    ['in JSON in JSON', (s: string) => JSON.stringify(JSON.stringify({ a: s }))],
    ['in JSON that is safe in HTML', (s: string) => JSON.stringify(s).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)],
    ['in HTML', (s: string) => s.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')],
    ['for a shell', (s: string) => s.replace(/[ "'&?;]/g, '\\$&')],
    ['in UTF-8 that was read as Latin-1', (s: string) => Buffer.from(s).toString('latin1')],
    ['in a shell trace', (s: string) => `'${s.replaceAll("'", "'\\''")}'`],
  ])('a secret is masked %s', (_, spell) => {
    const secret = `pä"ss w/ö'rd+&=?${SECRET}`;
    const spelled = spell(secret);
    const masked = createMasker([secret]).text(`<${spelled}>`);
    expect(masked).toContain('***');
    // What is left of an encoded secret are at most the two characters that its neighbours decide too.
    expect(masked.replace('***', '').length).toBeLessThanOrEqual(`<${spelled}>`.length - spelled.length + 20);
    expect(masked).not.toContain(SECRET);
  });

  test('every line of a secret with many lines is masked, and a line end at its end does not matter', () => {
    const masker = createMasker(['-----BEGIN KEY-----\nabcdef\nghijkl\n-----END KEY-----\n', 'token-1\n']);
    expect(masker.text('x abcdef y ghijkl z token-1.')).toBe('x *** y *** z ***.');
  });

  test('values are masked through and through: strings, keys, and numbers that are a secret', () => {
    const masker = createMasker(['hunter22', '48151623']);
    expect(masker.value({ a: ['x hunter22', 1, null, true], 'k-hunter22': 2, pin: 48151623 })).toEqual({ a: ['x ***', 1, null, true], 'k-***': 2, pin: '***' });
    expect(Object.keys(masker.value(JSON.parse('{"__proto__": {"a": "hunter22"}}')) as object)).toEqual(['__proto__']);
  });

  test('a host name that the parser of addresses made of a secret is masked', () => {
    for (const secret of ['S3cr3t-Host-9', 'S3cr3t-Höst-9']) expect(createMasker([secret]).text(new URL(`http://${secret}.example.org/`).href)).toBe('http://***.example.org/');
    expect(createMasker(['back\\slash\\s3cr3t']).text(new URL('http://host/x/back\\slash\\s3cr3t').href)).toBe('http://host/x/***');
  });

  test('of a secret that is an address, its parsed form, its path and its password are masked; of one that is JSON, its keys', () => {
    const hook = createMasker(['https://Hooks.example.org/T0/key with blank?a=b c#x']);
    expect(hook.text(`POST ${new URL('https://Hooks.example.org/T0/key with blank?a=b c').href}`)).toBe('POST ***');
    expect(hook.text('POST https://hooks.example.org/T0/key%20with%20blank?…')).toBe('POST ***?…');
    expect(createMasker(['postgres://me:pa%20ss-1@db/x']).text('password "pa ss-1" is wrong, host db/x')).toBe('password "***" is wrong, host db/x');
    const account = JSON.stringify({ type: 'service_account', key: '-----BEGIN-----\nabcdef123456\n-----END-----\n', uri: 'https://example.org/token/1' });
    expect(createMasker([account]).value(JSON.parse(account))).toEqual({ type: 'service_account', key: '***', uri: 'https://example.org/token/1' });
  });

  test('base64 in lines, a text in Latin-1, and line ends of another kind are masked', () => {
    const long = 'k3y/'.repeat(60);
    const wrapped = (Buffer.from(long).toString('base64').match(/.{1,76}/g) as string[]).join('\n');
    expect(createMasker([long]).text(wrapped)).toBe('***');
    expect(maskInChunks(Buffer.from('x pässwörd-1 y', 'latin1'), ['pässwörd-1'], [4])).toBe('x *** y');
    expect(createMasker(['first-line\r\nsecond-line\r\n']).text('first-line\nsecond-line')).toBe('***\n***');
  });

  test('overlapping secrets and secrets that begin each other are covered as a whole', () => {
    expect(createMasker(['abcd', 'abcdefgh', 'ghijkl']).text('<abcdefghijkl abcdef abc>')).toBe('<*** ***ef abc>');
    expect(maskInChunks(Buffer.from('abcdefgz'), ['abcd', 'abcdefgh'], [1, 2, 3, 4, 5, 6, 7])).toBe('***efgz');
  });

  test('what begins a secret at the end of a stream is masked from four bytes on, as its writer may have been killed there', () => {
    for (let size = 4; size < SECRET.length; size += 1) expect(maskInChunks(Buffer.from(`at ${SECRET.slice(0, size)}`), [SECRET], [5])).toBe('at ***');
    expect(maskInChunks(Buffer.from('at s3c'), [SECRET], [4])).toBe('at s3c');
    expect(maskInChunks(Buffer.from(`${SECRET}s3cr`), [SECRET], [16])).toBe('***');
  });

  test('a part of a text is masked as it is in the whole', () => {
    const masker = createMasker(['left=right?behind']);
    const text = 'é left=right?behind é';
    for (let start = 0; start <= text.length; start += 1) {
      for (let end = start; end <= text.length; end += 1) {
        const part = masker.part(text, start, end);
        expect(part.replace('***', '')).toMatch(/^é? ? ?é?$/);
        if (start > 2 && end < 19 && end > start) expect(part).toBe('***');
      }
    }
  });

  test('data names the secrets that it holds; short values and plain words are none there', () => {
    const masker = createMasker([{ name: 'A', value: 'alpha-1' }, { name: 'B', value: '1' }, { name: 'C', value: 'true' }, { name: 'D', value: '48151623' }]);
    expect(masker.namesIn({ a: ['x alpha-1'], n: 1, t: 'true', d: 48151623 })).toEqual(['A', 'D']);
    expect(masker.namesIn({ 'k-alpha-1': 0 })).toEqual(['A']);
    expect(masker.namesIn(['alpha', 11, 'true'])).toEqual([]);
    expect(masker.text('try 1 is true')).toBe('try *** is ***');
  });

  test('a secret of 100 kB with every kind of character costs a moment', () => {
    const secret = `${'ab+/ "é&<\n'.repeat(10_000)}`;
    const began = performance.now();
    expect(createMasker([secret]).text(`x${encodeURIComponent(secret)}y`)).toBe('x***y');
    expect(performance.now() - began).toBeLessThan(5000);
  });

  test('empty secrets mask nothing', () => {
    const masker = createMasker(['', '']);
    expect(masker.text('abc')).toBe('abc');
    expect(masker.stream().push(Buffer.from('abc')).toString()).toBe('abc');
  });

  test('masking is fast enough to keep up with a command: 20 MB in under 2 s', () => {
    const stream = createMasker([SECRET, 'another-secret', 'x'.repeat(3000)]).stream();
    const chunk = Buffer.from('the quick brown fox jumps over the lazy dog 0123456789\n'.repeat(1200));
    const began = performance.now();
    for (let size = 0; size < 20e6; size += chunk.length) stream.push(chunk);
    expect(performance.now() - began).toBeLessThan(2000);
  });
});
