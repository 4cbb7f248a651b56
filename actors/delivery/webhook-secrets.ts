/** The rules for the secret and the headers of a webhook, as a pure function. */
import type { WebhookInput } from '../views.ts';
import { done, refuse, type Result, type Webhook } from '../model.ts';
import type { Signer } from '../ports.ts';

type Private = Pick<Webhook, 'secret' | 'headers'>;

/** Headers that the gateway writes, or that belong to the connection. */
const taken = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);
const limits = { headers: 20, characters: 4096 };

/** Returns the reason why the headers are invalid, or null. The text never quotes a value. */
const objectionOf = (headers: Readonly<Record<string, string>>): string | null => {
  const all = Object.entries(headers);
  if (all.length > limits.headers) return `headers must have at most ${limits.headers} entries`;
  if (all.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > limits.characters)
    return `headers must have at most ${limits.characters} characters in total`;
  if (new Set(all.map(([name]) => name.toLowerCase())).size < all.length) return 'headers must not name a header twice';
  for (const [name, value] of all) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/i.test(name)) return 'headers has an invalid header name';
    if (taken.has(name.toLowerCase()) || name.toLowerCase().startsWith('webhook-')) return `headers must not contain ${name}`;
    if (!/^[\t\x20-\x7e]*$/.test(value)) return `headers.${name} must be printable ASCII on one line`;
  }
  return null;
};

/** Returns the new secret and headers. Absent fields keep their values. An empty secret or an empty set of headers removes the old one. */
export function privateOf(before: Private, input: WebhookInput, signer: Signer): Result<Private> {
  const { secret, headers = before.headers } = input;
  const objection = objectionOf(headers) ?? (typeof secret === 'string' && secret !== '' ? signer.objection(secret) : null);
  if (objection !== null) return refuse('invalid', objection);
  return done({ headers, secret: secret === true ? signer.make() : (secret ?? before.secret) });
}
