// Pieces of secrets in texts that somebody else cut before they could be masked: `JSON.parse` quotes ten characters.

const SHORTEST = 6;

export class SharedPieces {
  readonly #pieces = new Set<string>();
  readonly #short: readonly string[];

  constructor(secrets: readonly string[]) {
    for (const secret of secrets) for (let at = 0; at + SHORTEST <= secret.length; at += 1) this.#pieces.add(secret.slice(at, at + SHORTEST));
    this.#short = secrets.filter((secret) => secret.length < SHORTEST);
  }

  standIn(text: string): boolean {
    if (this.#short.some((secret) => text.includes(secret))) return true;
    for (let at = 0; at + SHORTEST <= text.length; at += 1) if (this.#pieces.has(text.slice(at, at + SHORTEST))) return true;
    return false;
  }
}
