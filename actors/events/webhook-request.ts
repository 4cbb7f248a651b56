/** What a receiver gets: the address with its segments, the envelope around the event's own keys, the headers (specification 6.2). */
import type { Delivery, Webhook } from '../model.ts';
import type { Signer } from '../ports.ts';

/** What the envelope says about the instance; read at every attempt, so that a rotated token is never sent. */
export interface Sender {
  readonly owner: string;
  readonly token: string;
  readonly name: string;
  readonly baseUrl: string;
}

/** What is told; `type` may be a name outside the enumeration (a test). */
export type Content = Pick<Delivery, 'eventId' | 'messageType' | 'body'> & { readonly type: string };

export interface WebhookRequest {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const segment = (url: string, name: string): string => `${url.replace(/\/+$/, '')}/${encodeURIComponent(name)}`;

/** Path segments go before any query: event name first, then the message type. */
export function finalUrl(webhook: Webhook, event: Pick<Content, 'type' | 'messageType'>): string {
  if (!webhook.addUrlEvents && !webhook.addUrlTypesMessages) return webhook.url;
  const at = webhook.url.search(/[?#]/);
  let path = at < 0 ? webhook.url : webhook.url.slice(0, at);
  if (webhook.addUrlEvents) path = segment(path, event.type);
  if (webhook.addUrlTypesMessages && event.messageType !== '') path = segment(path, event.messageType);
  return at < 0 ? path : path + webhook.url.slice(at);
}

const rootOf = (sender: Sender, type: string): string =>
  JSON.stringify({ BaseUrl: sender.baseUrl, EventType: type, owner: sender.owner, token: sender.token, instanceName: sender.name });

const joined = (root: string, body: string): string => (body === '{}' ? root : `${root.slice(0, -1)},${body.slice(1)}`);

/** `body` is the JSON object of the event's own keys; it is not parsed again. */
export function envelope(sender: Sender, { type, body }: Pick<Content, 'type' | 'body'>): string {
  return joined(rootOf(sender, type), body);
}

/** The id stays the same over attempts, restarts and replays; the signature is of this attempt. */
export function webhookRequestOf(webhook: Webhook, sender: Sender, content: Content, now: number, signer: Signer): WebhookRequest {
  return sealed(webhook, content, envelope(sender, content), now, signer);
}

function sealed(webhook: Webhook, content: Content, body: string, now: number, signer: Signer): WebhookRequest {
  const timestamp = Math.floor(now / 1000);
  const signature = webhook.secret === '' ? {} : { 'webhook-signature': signer.sign(webhook.secret, content.eventId, timestamp, body) };
  const headers = { ...webhook.headers, 'webhook-id': content.eventId, 'webhook-timestamp': String(timestamp), ...signature };
  return { url: finalUrl(webhook, content), body, headers };
}

const isSame = (a: Sender, b: Sender): boolean =>
  a.owner === b.owner && a.token === b.token && a.name === b.name && a.baseUrl === b.baseUrl;

/** Letters of one sender after the other: what stands around the events of a type is made once, until something of it changes. */
export class WebhookRequests {
  #sender: Sender | null = null;
  readonly #roots = new Map<string, string>();

  of(webhook: Webhook, sender: Sender, content: Content, now: number, signer: Signer): WebhookRequest {
    if (this.#sender === null || !isSame(this.#sender, sender)) this.#roots.clear();
    this.#sender = sender;
    const known = this.#roots.get(content.type);
    const root = known ?? rootOf(sender, content.type);
    if (known === undefined) this.#roots.set(content.type, root);
    return sealed(webhook, content, joined(root, content.body), now, signer);
  }
}
