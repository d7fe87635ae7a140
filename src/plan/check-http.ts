// What of an http step is fixed and can be judged before it runs: the address, or its beginning, and the headers.
import { addressFault, beginningFault, type AddressFault } from '../core/http-address.js';
import { quote } from '../core/suggest.js';
import { bracesHint, forgottenBraces } from './forgotten-braces.js';
import type { PlanContext } from './plan-context.js';
import type { StepDraft } from './step-draft.js';

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export function checkHttp(context: PlanContext, draft: StepDraft): void {
  const { http } = draft.authored;
  if (http === undefined) return;
  const path = [...draft.path, 'http'];
  const fault = http.url === undefined ? undefined : urlFault(http.url);
  if (fault !== undefined) {
    const forgotten = forgottenBraces(context, http.url as string);
    context.fault([...path, 'url'], 'value', 'bad_url', fault.message, forgotten === undefined ? fault.hint : bracesHint(context, forgotten));
    context.problems.damage([...path, 'url']);
  }
  for (const [name, value] of Object.entries(http.headers ?? {})) {
    if (!HEADER_NAME.test(name)) context.fault([...path, 'headers', name], 'key', 'bad_header', `expected the name of a header, found ${quote(name)}`, 'a name has no spaces and no ":"');
    else if (!value.includes('${{') && !HEADER_VALUE.test(value)) context.fault([...path, 'headers', name], 'value', 'bad_header', `the header ${quote(name)} holds a character that HTTP cannot carry`, 'no line ends, no control characters, none beyond Latin-1');
  }
}

function urlFault(url: string): AddressFault | undefined {
  const at = url.indexOf('${{');
  if (at === -1) return addressFault(url);
  return at === 0 ? undefined : beginningFault(url.slice(0, at), false);
}
