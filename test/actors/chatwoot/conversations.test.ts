/** Tests how the contact and the conversation of a chat are found in Chatwoot. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Conversations, untold } from '#actors/chatwoot/conversations.ts';
import type { ToldChat } from '#actors/model.ts';
import type { ChatwootAnswer, ChatwootApi, ChatwootContact } from '#actors/ports.ts';
import { FakeChatwootRows, noChatwoot } from '#test/fakes/chatwoot.ts';
import { ChatwootWorld, type Contact, isRefused, type Refused } from '#test/support/chatwoot/world.ts';

const inboxId = 5;
const answer = <T extends object | string, V>(made: T | Refused, view: (made: T) => V): ChatwootAnswer<V> =>
  isRefused(made) ? { ok: false, status: made.status, error: made.message } : { ok: true, value: view(made as T) };
const contactView = ({ id, name, identifier, phone_number, sources }: Contact): ChatwootContact => ({
  id,
  name,
  identifier,
  phone: phone_number,
  sourceId: sources.get(inboxId) ?? '',
});

/** A Chatwoot server with one inbox, and the connector's conversations in it. */
class Desk {
  readonly world = new ChatwootWorld(inboxId);
  readonly rows = new FakeChatwootRows();
  readonly at = { claim: { instanceId: 'r1', epoch: 1 }, target: {} as never, inbox: 'a', newConversations: false };
  readonly #conversations = new Conversations(this.#api(), this.rows);

  /** Returns the conversation for a message of this chat. */
  async of(told: ToldChat): Promise<number> {
    const found = await this.#conversations.of(this.at, told);
    assert.ok(found.ok, JSON.stringify(found));
    return found.value;
  }

  #api(): ChatwootApi {
    const { world } = this;
    return {
      ...noChatwoot,
      searchContacts: async (_, text) => ({ ok: true, value: world.search(text).map(contactView) }),
      createContact: async (_, { name, identifier, phone }) =>
        answer(world.addContact({ name, identifier, phone_number: phone }), contactView),
      updateContact: async (_, id, { name, identifier, imageUrl }) =>
        answer(
          world.changeContact(id, { ...(name && { name }), ...(identifier && { identifier }), ...(imageUrl && { avatar_url: imageUrl }) }),
          () => null,
        ),
      addToInbox: async (_, id) => answer(world.addToInbox(id), (source) => source),
      conversations: async (_, id) => ({
        ok: true,
        value: [...world.conversations.values()].flatMap((one) => (one.contactId === id ? [{ id: one.id, isResolved: false }] : [])),
      }),
      createConversation: async (_, { contactId, sourceId }) => answer(world.addConversation(contactId, sourceId), ({ id }) => id),
    };
  }
}

const [long, short] = ['5531987654321', '553187654321'];
const told = (number: string, name = 'Ana', image = ''): ToldChat => ({ chatId: `${number}@s.whatsapp.net`, name, image });

for (const [saved, known] of [
  [long, short],
  [short, long],
] as const)
  test(`conversations: a Brazilian contact saved as ${saved} is found when the platform knows the number as ${known}`, async () => {
    const desk = new Desk();
    const contact = desk.world.addContact({ name: 'Ana of the shop', phone_number: `+${saved}` });
    const conversation = await desk.of(told(known));
    assert.equal(desk.world.contacts.size, 1);
    assert.ok(!isRefused(contact));
    assert.deepEqual([contact.identifier, desk.world.conversations.get(conversation)?.contactId], [`${known}@s.whatsapp.net`, contact.id]);
  });

test('conversations: one that began with the other form of a Brazilian number goes on', async () => {
  const desk = new Desk();
  const first = await desk.of(told(long));
  assert.equal(await desk.of(told(short)), first);
  assert.deepEqual([desk.world.contacts.size, desk.world.conversations.size], [1, 1]);
  desk.world.removeConversation(first);
  const next = await desk.of(told(short));
  assert.equal(await desk.of(told(short)), next);
});

test('conversations: a number of another country is searched in one form', async () => {
  const desk = new Desk();
  desk.world.addContact({ name: 'Bob', phone_number: '+491512345678' });
  await desk.of(told('49151234567'));
  assert.equal(desk.world.contacts.size, 2);
});

test('conversations: a contact of an agent keeps its name and picture until they change on the platform', async () => {
  const desk = new Desk();
  const contact = desk.world.addContact({ name: 'Ana of the shop', phone_number: `+${short}`, avatar_url: 'https://shop.test/ana.png' });
  assert.ok(!isRefused(contact));
  const conversation = desk.world.addConversation(contact.id, `source-${contact.id}`);
  assert.ok(!isRefused(conversation));
  const { chatId } = told(short);
  const begun = { chatId, contactId: contact.id, sourceId: `source-${contact.id}`, conversationId: conversation.id };
  await desk.rows.saveChat(desk.at.claim, desk.at.inbox, { ...begun, ...untold });
  for (const first of [told(short, ''), told(short, 'ana', 'https://p.test/1')]) assert.equal(await desk.of(first), conversation.id);
  assert.deepEqual([contact.name, contact.avatar_url], ['Ana of the shop', 'https://shop.test/ana.png']);
  await desk.of(told(short, 'Ana Lima', 'https://p.test/1'));
  assert.deepEqual([contact.name, contact.avatar_url], ['Ana Lima', 'https://shop.test/ana.png']);
  await desk.of(told(short, 'Ana Lima', 'https://p.test/2'));
  assert.deepEqual([contact.name, contact.avatar_url], ['Ana Lima', 'https://p.test/2']);
});

test('conversations: a contact without a name gets the first name that the platform tells', async () => {
  const desk = new Desk();
  await desk.of(told(short, ''));
  await desk.of(told(short, 'Ana'));
  assert.deepEqual(
    [...desk.world.contacts.values()].map(({ name }) => name),
    ['Ana'],
  );
});
