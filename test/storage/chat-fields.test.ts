/** Tests every row of the table of chat fields: stored by a partial update, shown, empty elsewhere, and found by a filter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatPatch } from '#actors/model.ts';
import { chatFields, chatView, type ChatField, type FieldType } from '#src/contract/views.ts';
import { instance, owner } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const of = { id: instance.record.id, owner, epoch: instance.record.epoch };
await storage.instances.insert(instance.record);

const identity = ['id', 'wa_chatid'];
const walked = Object.entries(chatFields).filter(([name]) => !identity.includes(name));

/** Returns a value that no other field has. */
const valueOf: Readonly<Record<FieldType, (at: number) => unknown>> = {
  text: (at) => `text ${at}`,
  number: (at) => 1_000 + at,
  boolean: () => true,
  list: (at) => [`one ${at}`, `two ${at}`],
};
const empty: Readonly<Record<FieldType, unknown>> = { text: '', number: 0, boolean: false, list: [] };
const chatIdOf = (at: number): string => `${at}@newsletter`;
const patchOf = (at: number, name: string, { type, key }: ChatField): ChatPatch => {
  const value = valueOf[type](at);
  return { chatId: chatIdOf(at), ...(key === null ? { extra: { [name]: value } } : { [key]: value }) };
};

// Each field has one chat, whose other fields are empty.
for (const [at, [name, field]] of walked.entries()) {
  await storage.journal.commit(of, [{ kind: 'chat', chat: { chatId: chatIdOf(at) }, create: true }], () => []);
  await storage.journal.commit(of, [{ kind: 'chat', chat: patchOf(at, name, field), create: false }], () => []);
}

/** Fields whose value is also the name of a chat without a better name. */
const alsoName = ['wa_contactName', 'wa_name', 'phone'];

for (const [at, [name, { type }]] of walked.entries())
  test(`chat fields: ${name} is stored, shown and found by its filter, and is empty in all other chats`, async () => {
    const value = valueOf[type](at);
    const chat = await storage.chats.get(of.id, chatIdOf(at));
    const view = chatView(chat!, owner);
    const rest = walked.map(([other, field]) => [other, other === name ? value : empty[field.type]]);
    const shown = { ...Object.fromEntries(rest), ...(alsoName.includes(name) ? { name: value } : {}) };
    const made = { id: chat?.id, wa_chatid: chatIdOf(at), wa_fastid: `${owner}:${at}`, owner };
    assert.deepEqual(view, { ...shown, ...made });
    const wanted = Array.isArray(value) ? String(value[0]) : (value as string | number | boolean);
    const query = { filters: [{ field: name, operator: '=', value: wanted } as const], any: false, sort: null, limit: 10, offset: 0 };
    const { chats } = await storage.chats.find(of.id, query);
    assert.deepEqual(
      chats.map(({ chatId }) => chatId),
      [chatIdOf(at)],
    );
  });
