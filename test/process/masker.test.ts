import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMasker } from '../../src/process/masker.js';
import { secretForms } from '../../src/process/secret-forms.js';

// Masks by marking every occurrence of every form, byte by byte: slow, and plainly right.
function maskPlainly(text: Buffer, secrets: string[]): string {
  const covered = new Uint8Array(text.length);
  for (const form of secretForms(secrets)) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) covered.fill(1, at, at + form.length);
  }
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
        const plain = maskPlainly(text, secrets);
        expect(maskInChunks(text, secrets, cuts)).toBe(plain);
        expect(Buffer.from(createMasker(secrets).text(text.toString('utf8')), 'utf8').toString('latin1')).toBe(plain);
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
    ['in a shell trace', (s: string) => `'${s.replaceAll("'", "'\\''")}'`],
  ])('a secret is masked %s', (_, spell) => {
    const secret = `pä"ss w/ö'rd+&=?${SECRET}`;
    const spelled = spell(secret);
    const masked = createMasker([secret]).text(`<${spelled}>`);
    expect(masked).toContain('***');
    // What is left of an encoded secret are at most the two characters that its neighbours decide too.
    expect(masked.replace('***', '').length).toBeLessThanOrEqual(`<${spelled}>`.length - spelled.length + 14);
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
