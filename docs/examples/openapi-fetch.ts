/**
 * Ten calls with types that `openapi-typescript` makes of the OpenAPI document:
 * npx openapi-typescript http://127.0.0.1:3000/openapi.json -o client/schema.ts
 */
import createClient from 'openapi-fetch';
import type { components, paths } from './client/schema.js';

/** Returns the data of an answer. Throws the error text of the gateway. */
const dataOf = <T>({ data, error }: { data?: T; error?: { error: string } }): T => {
  if (data === undefined) throw new Error(error?.error ?? 'the answer is empty');
  return data;
};

/** `to`: the number of a person. `hook`: the address of a receiver. Returns the ids of the sent messages. */
export const tenCalls = async (baseUrl: string, token: string, to: string, hook: string): Promise<string[]> => {
  const { GET, POST } = createClient<paths>({ baseUrl, headers: { token } });

  const { instance } = dataOf(await GET('/instance/status'));
  if (instance.status !== 'connected') throw new Error(`the session is ${instance.status}`);

  const webhook = { url: hook, enabled: true, events: ['messages'], excludeMessages: ['wasSentByApi'] };
  dataOf(await POST('/webhook', { body: webhook }));
  const [saved] = dataOf(await GET('/webhook'));
  if (saved?.url !== hook) throw new Error('the webhook is not saved');

  const [checked] = dataOf(await POST('/chat/check', { body: { numbers: [to] } }));
  if (checked?.isInWhatsapp !== true) throw new Error(`${to} has no account`);

  const text = dataOf(await POST('/send/text', { body: { number: to, text: 'Hello from openapi-fetch' } }));
  const place = dataOf(await POST('/send/location', { body: { number: to, latitude: -23.55, longitude: -46.63, name: 'Office' } }));
  dataOf(await POST('/message/react', { body: { number: to, id: text.messageid, text: '👍' } }));

  const { messages } = dataOf(await POST('/message/find', { body: { chatid: to, limit: 10 } }));
  const { chats } = dataOf(await POST('/chat/find', { body: { wa_chatid: text.chatid } }));
  if (chats.length !== 1) throw new Error('the chat is not stored');

  const { error, response } = await POST('/send/text', { body: { number: '', text: 'to nobody' } });
  if (response.status !== 400 || error?.error === undefined) throw new Error('a message to nobody was not refused');

  const sent = new Set([text.messageid, place.messageid]);
  return messages.map(({ messageid }) => messageid).filter((id) => sent.has(id));
};

/** Returns what a receiver of webhooks would print. `EventType` narrows the type of the event. */
export const lineOf = (event: components['schemas']['WebhookEvent']): string => {
  switch (event.EventType) {
    case 'messages':
      return `${event.message.senderName}: ${event.message.text}`;
    case 'messages_update':
      return `${event.state}: ${event.event.MessageIDs.join(', ')}`;
    default:
      return event.EventType;
  }
};
