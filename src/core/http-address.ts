// What an address must be for a request to be sent there. The URL class repairs much in silence (`http:/x`, blanks,
// backslashes): a request would go to another place than the one that was written.
import { quote } from './suggest.js';

export interface AddressFault {
  message: string;
  hint?: string;
}

/** Why no request can go to this address; undefined when one can. */
export function addressFault(text: string): AddressFault | undefined {
  const begin = beginningFault(text);
  if (begin !== undefined) return begin;
  const blank = /[\s\\]/.exec(text)?.[0];
  if (blank !== undefined) return { message: `expected an address without ${blank === '\\' ? 'backslashes' : 'white space'}, found ${quote(text)}`, ...(blank === ' ' ? { hint: 'a space in an address is written %20; parameters go in "query", which encodes them' } : {}) };
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { message: `expected an absolute address such as https://example.org/path, found ${quote(text)}` };
  }
  return portFault(url);
}

/** The same for the fixed beginning of an address, whose rest is not known yet. */
export function beginningFault(text: string, whole = true): AddressFault | undefined {
  const [, scheme] = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text) ?? [];
  if (scheme === undefined) {
    if (!whole && ('http://'.startsWith(text.toLowerCase()) || 'https://'.startsWith(text.toLowerCase()))) return undefined;
    const almost = /^https?:?\/{0,2}(?=\w)/i.exec(text)?.[0];
    const hint = almost !== undefined && almost.length > 4 && /[:/]/.test(almost) ? `write ${almost.toLowerCase().startsWith('https') ? 'https' : 'http'}://${text.slice(almost.length)}` : /^[\w-]+(?:\.[\w-]+)+|^localhost/.test(text) ? `write https://${text.replace(/^\/+/, '')}` : undefined;
    return { message: `expected an address that begins with http:// or https://, found ${quote(text)}`, ...(hint === undefined ? {} : { hint }) };
  }
  if (!/^https?$/i.test(scheme)) return { message: `expected http or https, found ${quote(`${scheme}://`)}`, ...(/^h?t{1,3}ps?$/i.test(scheme) ? { hint: `write ${scheme.endsWith('s') ? 'https' : 'http'}://` } : {}) };
  const behind = text.slice(scheme.length + 3);
  if (behind === '' ? whole : /^[/?#:]/.test(behind)) return { message: `expected a host behind ${scheme}://, found ${quote(text)}`, hint: 'write https://example.org/path' };
  return undefined;
}

/** Port 0 is no port; Node would take the usual one instead. */
export function portFault(url: URL): AddressFault | undefined {
  return url.port === '0' ? { message: `expected a port from 1 to 65535, found 0 in ${quote(url.host)}` } : undefined;
}
