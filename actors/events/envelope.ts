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

export interface Letter {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const segment = (url: string, name: string): string => `${url.replace(/\/+$/, '')}/${encodeURIComponent(name)}`;

/** Path segments go before any query: event name first, then the message type. */
export function finalUrl(webhook: Webhook, event: Pick<Content, 'type' | 'messageType'>): string {
  const at = webhook.url.search(/[?#]/);
  let path = at < 0 ? webhook.url : webhook.url.slice(0, at);
  if (webhook.addUrlEvents) path = segment(path, event.type);
  if (webhook.addUrlTypesMessages && event.messageType !== '') path = segment(path, event.messageType);
  return at < 0 ? path : path + webhook.url.slice(at);
}

/** `body` is the JSON object of the event's own keys; it is not parsed again. */
export function envelope(sender: Sender, content: Pick<Content, 'type' | 'body'>): string {
  const root = JSON.stringify({
    BaseUrl: sender.baseUrl,
    EventType: content.type,
    owner: sender.owner,
    token: sender.token,
    instanceName: sender.name,
  });
  return content.body === '{}' ? root : `${root.slice(0, -1)},${content.body.slice(1)}`;
}

/** The id stays the same over attempts, restarts and replays; the signature is of this attempt. */
export function letterOf(webhook: Webhook, sender: Sender, content: Content, now: number, signer: Signer): Letter {
  const body = envelope(sender, content);
  const timestamp = Math.floor(now / 1000);
  const signature = webhook.secret === '' ? {} : { 'webhook-signature': signer.sign(webhook.secret, content.eventId, timestamp, body) };
  const headers = { ...webhook.headers, 'webhook-id': content.eventId, 'webhook-timestamp': String(timestamp), ...signature };
  return { url: finalUrl(webhook, content), body, headers };
}
