/** Bodies that name a chat by the `id` of `/chat/find`: the platform's id takes its place before anything is asked for. */
import type { Gateway, InstanceId } from '#actors/gateway.ts';

const shortId = /^r[0-9a-f]{14}$/;
const usualFields = ['number', 'chatid'] as const;

/** The body as it was when it names no chat like this, or one that is not stored. `more`: further fields that name a chat. */
export const withChatIds = async <Body>(gateway: Gateway, id: InstanceId, body: Body, more: readonly string[] = []): Promise<Body> => {
  if (typeof body !== 'object' || body === null) return body;
  const given = body as Readonly<Record<string, unknown>>;
  const named: Record<string, string> = {};
  for (const field of [...usualFields, ...more]) {
    const value = given[field];
    if (typeof value !== 'string' || !shortId.test(value.trim())) continue;
    const filters = [{ field: 'id', operator: '=' as const, value: value.trim() }];
    const { chats } = await gateway.findChats(id, { filters, any: false, sort: null, limit: 1, offset: 0 });
    if (chats[0]) named[field] = chats[0].chatId;
  }
  return Object.keys(named).length === 0 ? body : { ...body, ...named };
};
