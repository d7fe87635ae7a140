// What of a secret is secret by itself: its lines, and the texts and passwords inside one that is JSON or an address.

// A shorter line would cover ordinary text (a brace, the word "id").
const SHORTEST_LINE = 4;
// Of a JSON document only what looks like a key: the rest ("type", "service_account") is public.
const SHORTEST_MEMBER = 16;
const SHORTEST_PASSWORD = 4;
// What an address makes a path or a query of, where the secret has a question mark or a hash.
const SHORTEST_ADDRESS_PART = 6;

/** The secret itself, and its parts. An empty one has none. */
export function secretParts(secret: string): Set<string> {
  const parts = new Set<string>();
  if (secret === '') return parts;
  for (const text of [secret, ...members(secret), ...passwords(secret), ...addressParts(secret)]) {
    parts.add(text);
    const lines = text.split(/[\r\n]+/).map((line) => line.trim()).filter((line) => line !== '');
    for (const line of lines) if (lines.length === 1 || line.length >= SHORTEST_LINE) parts.add(line);
  }
  return parts;
}

function members(secret: string): string[] {
  if (!/^\s*[{[]/.test(secret)) return [];
  let value: unknown;
  try {
    value = JSON.parse(secret);
  } catch {
    return [];
  }
  const found: string[] = [];
  const stack = [value];
  while (stack.length > 0) {
    const item = stack.pop();
    if (typeof item === 'string' && item.length >= SHORTEST_MEMBER && /\d/.test(item) && !/^https?:/.test(item)) found.push(item);
    else if (typeof item === 'object' && item !== null) stack.push(...(Object.values(item) as unknown[]));
  }
  return found;
}

function addressParts(secret: string): string[] {
  if (!/[?#]/.test(secret) || /^\s*[a-z][a-z0-9+.-]*:\/\//i.test(secret)) return [];
  const [sent = ''] = secret.split('#', 1);
  const at = sent.indexOf('?');
  const parts = at === -1 ? [sent] : [sent, sent.slice(0, at), sent.slice(at + 1)];
  return parts.filter((part) => part.length >= SHORTEST_ADDRESS_PART);
}

function passwords(secret: string): string[] {
  const written = /^\s*[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]*:([^/?#@\s]+)@/i.exec(secret)?.[1];
  if (written === undefined || written.length < SHORTEST_PASSWORD) return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}
