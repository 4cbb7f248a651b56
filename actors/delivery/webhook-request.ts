/** The request that a receiver gets: the address with its segments, the envelope around the fields of the event, and the headers. */
import type { Delivery, EventSender, Webhook } from '../model.ts';
import type { Envelope, Signer } from '../ports.ts';

/** The event that is posted. Its `type` may be a name outside the enumeration, such as that of a test event. */
export type Content = Pick<Delivery, 'eventId' | 'messageType' | 'body'> & { readonly type: string };

export interface WebhookRequest {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const segment = (url: string, name: string): string => `${url.replace(/(?<!\/)\/+$/, '')}/${encodeURIComponent(name)}`;

/** Returns the address with its path segments before any query: first the event name, then the message type. */
export function finalUrl(webhook: Webhook, event: Pick<Content, 'type' | 'messageType'>): string {
  if (!webhook.addUrlEvents && !webhook.addUrlTypesMessages) return webhook.url;
  const at = webhook.url.search(/[?#]/);
  let path = at < 0 ? webhook.url : webhook.url.slice(0, at);
  if (webhook.addUrlEvents) path = segment(path, event.type);
  if (webhook.addUrlTypesMessages && event.messageType !== '') path = segment(path, event.messageType);
  return at < 0 ? path : path + webhook.url.slice(at);
}

/** The tools that make bodies and signatures. */
export interface Means {
  readonly envelope: Envelope;
  readonly signer: Signer;
}

const joined = (root: string, body: string): string => (body === '{}' ? root : `${root.slice(0, -1)},${body.slice(1)}`);

/** Returns the whole body. `body` is the JSON object with the fields of the event, and is not parsed again. */
export function enveloped(envelope: Envelope, sender: EventSender, { type, body }: Pick<Content, 'type' | 'body'>): string {
  return joined(JSON.stringify(envelope(sender, type)), body);
}

/** Makes the request of one attempt. The id stays the same over attempts, restarts and replays. The signature belongs to this attempt. */
export function webhookRequestOf(webhook: Webhook, sender: EventSender, content: Content, now: number, means: Means): WebhookRequest {
  return signed(webhook, content, enveloped(means.envelope, sender, content), now, means.signer);
}

function signed(webhook: Webhook, content: Content, body: string, now: number, signer: Signer): WebhookRequest {
  const timestamp = Math.floor(now / 1000);
  const signature = webhook.secret === '' ? {} : { 'webhook-signature': signer.sign(webhook.secret, content.eventId, timestamp, body) };
  const headers = { ...webhook.headers, 'webhook-id': content.eventId, 'webhook-timestamp': String(timestamp), ...signature };
  return { url: finalUrl(webhook, content), body, headers };
}

const isSame = (a: EventSender, b: EventSender): boolean =>
  a.owner === b.owner && a.token === b.token && a.name === b.name && a.baseUrl === b.baseUrl;

/** Makes requests for events of one sender. The envelope of each event type is cached until a field of the sender changes. */
export class WebhookRequests {
  readonly #means: Means;
  #sender: EventSender | null = null;
  readonly #roots = new Map<string, string>();

  constructor(means: Means) {
    this.#means = means;
  }

  of(webhook: Webhook, sender: EventSender, content: Content, now: number): WebhookRequest {
    if (this.#sender === null || !isSame(this.#sender, sender)) this.#roots.clear();
    this.#sender = sender;
    const known = this.#roots.get(content.type);
    const root = known ?? JSON.stringify(this.#means.envelope(sender, content.type));
    if (known === undefined) this.#roots.set(content.type, root);
    return signed(webhook, content, joined(root, content.body), now, this.#means.signer);
  }
}
