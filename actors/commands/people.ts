/** Commands on people, groups, channels and catalogs: existence, pictures, known facts, the address book, stored lists, and invitations. */
import { type Channel, done, type InstanceId, type Kept, type PictureKind, refuse, type Result, unknownInstance } from '../model.ts';
import type { Identified } from '../operations.ts';
import type { Ports, Time } from '../ports.ts';
import { type Addressable, type Addressed, type Known, performIn, recipientOf } from '../session/requests.ts';
import type { Pictures } from '../session/pictures.ts';
import type {
  BusinessMethods,
  ChannelMethods,
  ChatDetails,
  CheckedNumber,
  ContactMethods,
  GroupMethods,
  MessageMethods,
  PeopleMethods,
} from '../views.ts';
import { portraitOf, type WithCells, type WithPolicy, type WithPorts } from './host.ts';

// Commands on people: existence, pictures, known facts, and the address book.

/** The parts of the supervisor that these commands need. */
type Host = WithCells & WithPorts<'chats' | 'contacts' | 'groups' | 'portraits'>;

// Collects the details of a chat: its stored data, its picture, its business name, and the groups in common with the account.

/** An instance whose pictures are looked up. */
interface Pictured {
  readonly pictures: Pick<Pictures, 'look'>;
}

/** Returns the verified business name of a person. Returns '' for a person without one and for other chats, and null if the name is unknown. */
async function businessNameOf(cell: Addressable, signal: AbortSignal, { id, kind }: Identified): Promise<string | null> {
  const chat = kind === 'person' ? cell.link.chatOf(id) : null;
  if (!chat?.ok || chat.value.forms.length === 0) return kind === 'person' ? null : '';
  return cell.recipients.businessName({ chatId: id, forms: [id] }, (numbers) => performIn(cell, signal, 'chat.lookUp', { numbers }));
}

/** Returns the details of a chat. Needs a live session. */
async function detailsOf(
  ports: Pick<Ports, 'chats' | 'groups'>,
  cell: Addressable & Pictured,
  signal: AbortSignal,
  { number, kind }: { readonly number: string; readonly kind: PictureKind },
): Promise<Result<ChatDetails>> {
  const recipient = await recipientOf(cell, signal, number);
  if (!recipient.ok) return recipient;
  const { chatId } = recipient.value;
  const identified = await performIn(cell, signal, 'chat.identify', { ids: [chatId] });
  if (!identified.ok) return identified;
  const [who] = identified.value;
  const lid = who?.lid ?? '';
  const isPerson = who?.kind === 'person' || who?.kind === 'lid';
  const instance = cell.record.id;
  const [chat, commonGroups, picture, businessName] = await Promise.all([
    ports.chats.get(instance, chatId),
    isPerson
      ? ports.groups.common(
          instance,
          [...new Set([chatId, lid])].filter((one) => one !== ''),
        )
      : [],
    cell.pictures.look(chatId, kind, false),
    who ? businessNameOf(cell, signal, who) : null,
  ]);
  return done({ chatId, lid, chat, picture: picture.ok ? { ...picture.value, kind } : null, businessName, commonGroups });
}

// Checks which numbers have accounts. Numbers with a remembered answer cause no request. All other numbers share one request, within the rate limit of all
// look-ups.

const nothing = { chatId: '', lid: '', exists: false, businessName: '', groupName: '', error: '' } as const;

const identify = async (
  cell: Addressable,
  signal: AbortSignal,
  ids: readonly string[],
): Promise<Result<ReadonlyMap<string, Identified>>> => {
  const unique = [...new Set(ids)];
  const identified = await performIn(cell, signal, 'chat.identify', { ids: unique });
  return identified.ok ? done(new Map(unique.map((id, at) => [id, identified.value[at]!]))) : identified;
};

type Found = ReadonlyMap<string, Known>;

/** Returns the result of one query. `chat`: the chat of the query. `found`: the results of the look-ups by chat id. `names`: the found accounts by chat id. */
const resultOf = (query: string, chat: Identified, found: Found, names: ReadonlyMap<string, Identified>): CheckedNumber => {
  const { id, lid, kind, groupName } = chat;
  if (kind === 'other') return { ...nothing, query, error: 'only contacts and groups can be checked' };
  if (kind === 'group')
    return {
      ...nothing,
      query,
      chatId: id,
      groupName,
      exists: groupName !== '',
      error: groupName === '' ? 'the account is in no such group' : '',
    };
  if (kind === 'lid') return { ...nothing, query, chatId: id, lid, exists: null, error: 'the number of this LID is not known' };
  const known = found.get(id);
  // Only the account's own number is missing in the results, because it is not looked up.
  if (known === undefined) return { ...nothing, query, chatId: id, lid, exists: true };
  if (known === null) return { ...nothing, query, chatId: id, exists: null, error: 'the platform did not say' };
  if (known.chatId === '') return { ...nothing, query, chatId: id };
  const account = names.get(known.chatId);
  return { ...nothing, query, chatId: known.chatId, lid: account?.lid ?? '', exists: true, businessName: known.businessName ?? '' };
};

/** Checks numbers on a live session. If `Recipients.check` refuses, the whole call is refused. A query that is no number and no id gets an error of its own. */
async function checkNumbers(cell: Addressable, signal: AbortSignal, numbers: readonly string[]): Promise<Result<readonly CheckedNumber[]>> {
  const chats = numbers.map((number) => cell.link.chatOf(number));
  const asked = await identify(
    cell,
    signal,
    chats.flatMap((chat) => (chat.ok ? [chat.value.chatId] : [])),
  );
  if (!asked.ok) return asked;
  const people = new Map<string, Addressed>();
  for (const { id, kind } of asked.value.values()) {
    const chat = kind === 'person' ? cell.link.chatOf(id) : null;
    if (chat?.ok && chat.value.forms.length > 0) people.set(id, { chatId: id, forms: chat.value.forms });
  }
  const found = await cell.recipients.check([...people.values()], (forms) => performIn(cell, signal, 'chat.lookUp', { numbers: forms }));
  if (!found.ok) return found;
  const accounts = [...found.value.values()].flatMap((known) => (known === null || known.chatId === '' ? [] : [known.chatId]));
  const names = await identify(cell, signal, accounts);
  if (!names.ok) return names;
  return done(
    chats.map((chat, at) => {
      const query = numbers[at] ?? '';
      if (!chat.ok) return { ...nothing, query, error: chat.refusal.message };
      return resultOf(query, asked.value.get(chat.value.chatId)!, found.value, names.value);
    }),
  );
}

// Commands on people and groups: existence, pictures, known facts.

export const peopleCommands = (host: Host): PeopleMethods => ({
  checkNumbers: (id, numbers) => host.cells.live(id, (cell, signal) => checkNumbers(cell, signal, numbers)),
  chatDetails: (id, number, kind) => host.cells.live(id, (cell, signal) => detailsOf(host.ports, cell, signal, { number, kind })),
  async setOwnPicture(id, source) {
    const picture = await portraitOf(host.ports, id, source);
    return picture.ok ? host.cells.perform(id, 'account.picture', { jpeg: picture.value }) : picture;
  },
  picture: (id, number, kind, force) =>
    host.cells.live(id, async (cell, signal) => {
      const chat = cell.link.chatOf(number);
      if (!chat.ok) return chat;
      const { chatId, certain } = chat.value;
      const resolved = certain ? done(chatId) : await performIn(cell, signal, 'chat.resolve', { number });
      if (!resolved.ok) return resolved;
      // Only a number with two forms needs a look-up. If this look-up is refused, the picture of the number as written is requested.
      const known = chat.value.forms.length > 1 ? await recipientOf(cell, signal, number) : null;
      const account = known?.ok ? known.value.chatId : (cell.recipients.remembered(resolved.value) ?? resolved.value);
      return cell.pictures.look(account, kind, force);
    }),
});

/** Commands on the address book, which the phone and its devices share. */
export function contactCommands(host: Host): ContactMethods {
  const { contacts } = host.ports;

  /** Returns the contact in the address book for a number, in either of its forms. */
  const find = (id: InstanceId, number: string) => {
    const named = host.cells.get(id)?.link.chatOf(number);
    return named?.ok ? contacts.saved(id, [named.value.chatId, ...named.value.forms]) : Promise.resolve(null);
  };

  return {
    contacts: (id, query) => contacts.list(id, query),
    saveContact: (id, number, name) =>
      host.cells.live(id, async (cell, signal) => {
        const recipient = await recipientOf(cell, signal, number);
        if (!recipient.ok) return recipient;
        const { chatId } = recipient.value;
        const saved = await performIn(cell, signal, 'contact.save', { chatId, name });
        return saved.ok ? done((await contacts.saved(id, [chatId])) ?? { contactId: chatId, lid: '', name, pushName: '' }) : saved;
      }),
    removeContact: (id, number) =>
      host.cells.live(id, async (cell, signal) => {
        const contact = await find(id, number);
        if (!contact) return refuse('notFound', 'contact not found');
        const removed = await performIn(cell, signal, 'contact.remove', { chatId: contact.contactId });
        return removed.ok ? done(contact) : removed;
      }),
  };
}

// Commands on groups, channels and catalogs that take more than one request: stored lists, pictures, invitations of admins.

/** The parts of the supervisor that these commands need. */
type GroupHost = WithCells & WithPorts<'definitions' | 'groups' | 'portraits' | 'time'> & WithPolicy<'groups'>;

// Commands on groups that take more than one request: the stored list, and pictures.

/** Limits how often each session may list its groups at the platform on a caller's request (`force`). */
class ForcedListings {
  readonly #time: Pick<Time, 'monotonic'>;
  readonly #every: number;
  /** The time of the last forced listing of each session, by the monotonic clock. */
  readonly #last = new WeakMap<object, number>();

  /** `every`: the shortest time between two forced listings of one session. In milliseconds. */
  constructor(time: Pick<Time, 'monotonic'>, every: number) {
    this.#time = time;
    this.#every = every;
  }

  /** Returns true if the session may ask the platform now. The caller must then send the request. */
  take(cell: object): boolean {
    const now = this.#time.monotonic();
    if (now - (this.#last.get(cell) ?? -Infinity) < this.#every) return false;
    this.#last.set(cell, now);
    return true;
  }
}

export function groupCommands(host: GroupHost): GroupMethods {
  const { ports, policy } = host;
  const forced = new ForcedListings(ports.time, policy.groups.forceEvery);
  return {
    async listGroups(id, { force, ...query }) {
      const cell = host.cells.get(id);
      if (!cell) return unknownInstance;
      const isForced = force && forced.take(cell);
      if (isForced || (await ports.groups.listedAt(id)) === null) {
        const listed = await host.cells.perform(id, 'group.refresh', null);
        if (!listed.ok) return listed;
      }
      return done(await ports.groups.find(id, query));
    },
    async setGroupPicture(id, groupId, source) {
      const picture = await portraitOf(ports, id, source);
      return picture.ok ? host.cells.perform(id, 'group.picture', { groupId, jpeg: picture.value }) : picture;
    },
  };
}

// Commands on channels that take more than one request: the stored list, pictures, invitations of admins.

const plain = ({ created: _made, updated: _changed, ...channel }: Kept<'channel'>): Channel => channel;

export function channelCommands(host: GroupHost, { send }: Pick<MessageMethods, 'send'>): ChannelMethods {
  const { ports } = host;
  const stored = async (id: InstanceId): Promise<readonly Channel[]> => (await ports.definitions.all(id, 'channel')).map(plain);
  return {
    async listChannels(id) {
      const channels = await stored(id);
      if ((await ports.definitions.all(id, 'channelListing')).length > 0) return done(channels);
      return host.cells.perform(id, 'channel.refresh', { known: channels.map((channel) => channel.id) });
    },
    async createChannel(id, { name, description, picture }) {
      const jpeg = await portraitOf(ports, id, picture);
      return jpeg.ok ? host.cells.perform(id, 'channel.create', { name, description, jpeg: jpeg.value }) : jpeg;
    },
    async setChannelPicture(id, channelId, picture) {
      const jpeg = await portraitOf(ports, id, picture);
      return jpeg.ok ? host.cells.perform(id, 'channel.change', { channelId, wish: { of: 'picture', jpeg: jpeg.value } }) : jpeg;
    },
    async inviteChannelAdmin(id, channelId, person, payload) {
      const invited = await host.cells.perform(id, 'channel.inviteAdmin', { channelId, person });
      if (!invited.ok) return invited;
      const { expiresAt, name } = invited.value;
      const content = { kind: 'channelInvite', channel: channelId, name, expiresAt, text: '' } as const;
      const options = { delay: 0, readChat: false, readMessages: false, trackSource: '', trackId: '', async: false };
      const sent = await send(
        id,
        { number: person, content, replyTo: '', mentions: [], forward: false },
        { ...options, label: 'channelInvite', payload },
      );
      return sent.ok ? done(null) : sent;
    },
  };
}

/** Commands on catalogs that take more than one request: products with their pictures. */
export function businessCommands(host: GroupHost): BusinessMethods {
  const { portraits } = host.ports;
  return {
    async saveProduct(id, { id: productId, product, picture }) {
      const taken = picture === null ? done(null) : await portraits.take(id, picture, 'product');
      return taken.ok ? host.cells.perform(id, 'catalog.save', { id: productId, product, jpeg: taken.value }) : taken;
    },
  };
}
