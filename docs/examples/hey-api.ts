/**
 * Ten calls with a client that `@hey-api/openapi-ts` makes of the OpenAPI document:
 * npx @hey-api/openapi-ts -i http://127.0.0.1:3000/openapi.json -o client
 */
import { client } from './client/client.gen.js';
import {
  checkNumbers,
  findChats,
  findMessages,
  getInstanceStatus,
  listWebhooks,
  reactToMessage,
  saveWebhook,
  sendLocation,
  sendText,
  type WebhookEvent,
} from './client/index.js';

/** `to`: the number of a person. `hook`: the address of a receiver. Returns the ids of the sent messages. */
export const tenCalls = async (baseUrl: string, token: string, to: string, hook: string): Promise<string[]> => {
  client.setConfig({ baseUrl, auth: token });
  const throwOnError = true;

  const { data: status } = await getInstanceStatus({ throwOnError });
  if (status.instance.status !== 'connected') throw new Error(`the session is ${status.instance.status}`);

  const webhook = { url: hook, enabled: true, events: ['messages'], excludeMessages: ['wasSentByApi'] };
  await saveWebhook({ body: webhook, throwOnError });
  const { data: webhooks } = await listWebhooks({ throwOnError });
  if (webhooks[0]?.url !== hook) throw new Error('the webhook is not saved');

  const { data: checked } = await checkNumbers({ body: { numbers: [to] }, throwOnError });
  if (checked[0]?.isInWhatsapp !== true) throw new Error(`${to} has no account`);

  const { data: text } = await sendText({ body: { number: to, text: 'Hello from hey-api' }, throwOnError });
  const location = { number: to, latitude: -23.55, longitude: -46.63, name: 'Office' };
  const { data: place } = await sendLocation({ body: location, throwOnError });
  await reactToMessage({ body: { number: to, id: text.messageid, text: '👍' }, throwOnError });

  const { data: found } = await findMessages({ body: { chatid: to, limit: 10 }, throwOnError });
  const { data: chats } = await findChats({ body: { wa_chatid: text.chatid }, throwOnError });
  if (chats.chats.length !== 1) throw new Error('the chat is not stored');

  const { error, response } = await sendText({ body: { number: '', text: 'to nobody' } });
  if (response?.status !== 400 || error?.error === undefined) throw new Error('a message to nobody was not refused');

  const sent = new Set([text.messageid, place.messageid]);
  return found.messages.map(({ messageid }) => messageid).filter((id) => sent.has(id));
};

/** Returns what a receiver of webhooks would print. `EventType` narrows the type of the event. */
export const lineOf = (event: WebhookEvent): string => {
  switch (event.EventType) {
    case 'messages':
      return `${event.message.senderName}: ${event.message.text}`;
    case 'messages_update':
      return `${event.state}: ${event.event.MessageIDs.join(', ')}`;
    default:
      return event.EventType;
  }
};
