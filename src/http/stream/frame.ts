/** One event as it goes over the wire, made once and shared by all subscribers. */
import type { GatewayEvent } from '#actors/gateway.ts';

/** A new message is sent as itself, with its chat beside its fields; the other types keep their own keys. */
const dataOf = ({ type, payload }: GatewayEvent): unknown => {
  const message = payload['message'];
  if (type !== 'messages' || typeof message !== 'object' || message === null) return payload;
  return { ...message, chat: payload['chat'] };
};

export const frameOf = (event: GatewayEvent): Buffer =>
  Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify({ type: event.type, data: dataOf(event) })}\nid: ${event.id}\n\n`);

/** Any event; `id` is left out when it is ''. */
export const plainFrame = (event: string, data: unknown, id = ''): Buffer =>
  Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n${id === '' ? '' : `id: ${id}\n`}\n`);

export const comment = (text: string): Buffer => Buffer.from(`: ${text}\n\n`);
