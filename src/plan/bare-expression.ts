// An expression stands alone, or in one `${{ }}`; both mean the same.
const WRAPPED = /^\s*\$\{\{([\s\S]*)\}\}\s*$/;

/** The expression without the `${{ }}` around it. */
export function bareExpression(written: string | boolean): string {
  return stripExpression(String(written)).text;
}

/** The expression and where it begins in what was written. */
export function stripExpression(written: string): { text: string; offset: number } {
  const inner = WRAPPED.exec(written)?.[1];
  const body = inner !== undefined && !inner.includes('${{') ? inner : written;
  const text = body.trim();
  return { text, offset: text === '' ? 0 : written.indexOf(body) + body.indexOf(text) };
}
