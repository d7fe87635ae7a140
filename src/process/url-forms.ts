// How a text looks inside an address: as libraries escape it, and as the parser of addresses rewrites it.
import { domainToASCII } from 'node:url';

// A shorter piece of an address, or a shorter host name, would cover ordinary text.
const SHORTEST_PIECE = 6;
const SHORTEST_HOST = 8;

/** All spellings of a text as a part of an address. It must be well-formed. */
export function urlForms(text: string): string[] {
  const component = encodeURIComponent(text);
  const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const escaped = [
    component,
    strict,
    encodeURI(text),
    // Python keeps the slash; Go keeps more where a path is meant.
    strict.replaceAll('%2F', '/'),
    component.replace(/%(?:24|26|2B|3A|3D|40)/g, decodeURIComponent),
    component.replace(/%(?:24|26|2B|2C|2F|3A|3B|3D|40)/g, decodeURIComponent),
    new URLSearchParams([['', text]]).toString().slice(1),
    ...[component, strict, strict.replaceAll('%2F', '/')].map((form) => form.replaceAll('%20', '+')),
    ...parsed(text),
  ];
  return [...escaped.flatMap((form) => [form, form.replace(/%[0-9A-Fa-f]{2}/g, (hex) => hex.toLowerCase())]), ...hostForms(text)];
}

// What stands in the place of the text after the parser took it as the end of a path, a query or the credentials.
function parsed(text: string): string[] {
  const forms: string[] = [];
  for (const before of ['http://h/p', 'http://h/?p', 'http://h/#p']) {
    // Something behind it, because blanks at the end of an address are dropped.
    const href = parse(`${before}${text}e`)?.href;
    if (href?.startsWith(before) === true) forms.push(href.slice(before.length, -1));
  }
  const url = new URL('http://host/');
  url.password = text;
  forms.push(url.password);
  return forms.filter((form) => form.length >= Math.min(SHORTEST_PIECE, text.length));
}

function hostForms(text: string): string[] {
  if (text.length < SHORTEST_HOST) return [];
  const forms = /[\s/?#@:]/.test(text) ? hostAndMore(text) : [text.toLowerCase(), domainToASCII(text), parse(`http://${text}/`)?.hostname ?? ''];
  return forms.filter((form) => form.length >= SHORTEST_HOST);
}

// A text that holds a host and what follows it, with its credentials and without.
function hostAndMore(text: string): string[] {
  const url = parse(`http://${text}`);
  if (url === undefined) return [];
  const { host, pathname, search, hash } = url;
  return [url.href.slice('http://'.length), `${host}${pathname === '/' ? '' : pathname}${search}${hash}`];
}

/** Spellings of a secret that is a whole address: as the parser writes it, without its credentials, by its parts. */
export function addressForms(secret: string): string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(secret)) return [];
  const url = parse(secret);
  if (url === undefined) return [];
  // What is public of an address with credentials is its path.
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return [url.href];
  const forms = [url.href, url.search.slice(1), url.searchParams.toString()];
  const path = `${url.host}${url.pathname}`;
  if (url.pathname.length > 1) forms.push(path, `${url.protocol}//${path}`, `${path}${url.search}`, `${url.protocol}//${path}${url.search}`);
  return forms.filter((form) => form.length >= SHORTEST_PIECE);
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
