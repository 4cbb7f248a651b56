/** Channels: their followers and roles, their facts and invitations, and their storage. Posts are in `posts.ts`. */
import { type ChannelRole, type ChannelView, type Digits, type ReactionCodes, SandboxError } from '../interface.ts';
import type { Device, People, Person, Picture } from '../people.ts';
import type { Random } from '../random.ts';
import type { Records } from '../store/database.ts';

/** A name or description, with the id and the time of its last change. Answers of the platform contain the text, the id and the time. */
export interface ChannelText {
  readonly text: string;
  readonly id: string;
  /** The time of the last change, in Unix milliseconds. */
  readonly at: number;
}

export interface Follower {
  readonly number: Digits;
  role: ChannelRole;
  muted: boolean;
  followersMuted: boolean;
  readonly since: number;
}

export interface Channel {
  readonly jid: string;
  readonly createdAt: number;
  name: ChannelText;
  description: ChannelText;
  picture?: Picture | undefined;
  readonly invite: string;
  handle: string | null;
  reactions: ReactionCodes;
  state: ChannelView['state'];
  verified: boolean;
  country: string;
  followers: Follower[];
  invitations: { readonly number: Digits; readonly expiresAt: number }[];
}

const maxChannels = 20_000;
export const maxName = 100;
export const maxDescription = 2048;
/** The validity of an invitation. In milliseconds. */
const invitationMs = 7 * 86_400_000;

export class Channels {
  readonly #channels = new Map<string, Channel>();
  readonly #byInvite = new Map<string, Channel>();
  readonly #records: Records;
  readonly #people: People;
  readonly #random: Random;

  constructor(records: Records, people: People, random: Random) {
    this.#records = records;
    this.#people = people;
    this.#random = random;
    for (const channel of records.all<Channel>('channel')) this.#index(channel);
  }

  all(): Channel[] {
    return [...this.#channels.values()];
  }

  /** Returns a channel, even if it is deleted. */
  find(jid: string): Channel | undefined {
    return this.#channels.get(jid);
  }

  /** Returns a channel that is not deleted. Throws 404 if there is none. */
  get(jid: string): Channel {
    const channel = this.#channels.get(jid);
    if (!channel || channel.state === 'DELETED') throw new SandboxError(404, 'item-not-found');
    return channel;
  }

  byInvite(code: string): Channel | undefined {
    return this.#byInvite.get(code);
  }

  followedBy(number: Digits): Channel[] {
    return this.all().filter((channel) => roleOf(channel, number) !== undefined);
  }

  create(name: string, description: string, owner: Person, picture: Picture | undefined): Channel {
    if (this.#channels.size >= maxChannels) throw new SandboxError(507, 'too many channels');
    const channel: Channel = {
      jid: `120363${this.#random.bytes(6).readUIntBE(0, 6).toString().padStart(12, '0').slice(-12)}@newsletter`,
      createdAt: Date.now(),
      name: this.text(checked(name, 1, maxName, 'name')),
      description: this.text(checked(description, 0, maxDescription, 'description')),
      picture,
      invite: `0029Va${this.#random.bytes(12).toString('base64url')}`,
      handle: null,
      reactions: 'ALL',
      state: 'ACTIVE',
      verified: false,
      country: '',
      followers: [],
      invitations: [],
    };
    this.#index(channel);
    this.follow(channel, owner, 'OWNER');
    this.save(channel);
    return channel;
  }

  /** Makes a text with a new id and the current time. */
  text(text: string): ChannelText {
    return { text, id: String(Date.now() * 1000 + this.#random.bytes(1).readUInt8(0)), at: Date.now() };
  }

  /** Adds a follower. An existing follower gets the role, unless the role is `SUBSCRIBER`. */
  follow(channel: Channel, { number }: Person, role: ChannelRole = 'SUBSCRIBER'): void {
    const known = followerOf(channel, number);
    if (!known) channel.followers.push({ number, role, muted: false, followersMuted: false, since: Date.now() });
    else if (role !== 'SUBSCRIBER') known.role = role;
  }

  invite(channel: Channel, { number }: Person): { readonly expiresAt: number } {
    const invitation = { number, expiresAt: Date.now() + invitationMs };
    channel.invitations = [...channel.invitations.filter((one) => one.number !== number), invitation];
    return invitation;
  }

  save(channel: Channel): void {
    this.#records.put('channel', channel.jid, channel);
    this.#people.emit({ type: 'channel', channel: viewChannel(channel) });
  }

  #index(channel: Channel): void {
    this.#channels.set(channel.jid, channel);
    this.#byInvite.set(channel.invite, channel);
  }
}

export const followerOf = ({ followers }: Channel, number: Digits): Follower | undefined => followers.find((one) => one.number === number);

/** Returns the role of a follower; `undefined` for other people. */
export const roleOf = (channel: Channel, number: Digits): ChannelRole | undefined => followerOf(channel, number)?.role;

/** Returns true for the owner and the admins, who may post and change the channel. */
export const isAdmin = (channel: Channel, number: Digits): boolean => ['OWNER', 'ADMIN'].includes(roleOf(channel, number) ?? '');

export const ownerOf = ({ followers }: Channel): Digits => followers.find(({ role }) => role === 'OWNER')?.number ?? '';

export function checked(text: string, least: number, most: number, what: string): string {
  if (text.length < least || text.length > most) throw new SandboxError(400, `${what}: ${least} to ${most} characters`);
  return text;
}

export const viewChannel = (channel: Channel): ChannelView => {
  const { name, description, picture, ...rest } = channel;
  return {
    ...rest,
    name: name.text,
    description: description.text,
    ...(picture ? { picture: picture.id } : {}),
    followers: channel.followers.map((one) => ({ ...one })),
    invitations: channel.invitations.map((one) => ({ ...one })),
  };
};

/** The devices that get live updates of channels, with the end of each subscription. A restart of the platform forgets them. */
export class LiveUpdates {
  /** The end of the subscription in Unix milliseconds, by channel and device. */
  readonly #subscribed = new Map<string, Map<Device, number>>();

  subscribe(channel: string, device: Device, seconds: number): void {
    const devices = this.#subscribed.get(channel) ?? new Map<Device, number>();
    this.#subscribed.set(channel, devices.set(device, Date.now() + seconds * 1000));
  }

  of(channel: string): Device[] {
    const now = Date.now();
    const devices = this.#subscribed.get(channel);
    for (const [device, until] of devices ?? []) if (until < now) devices?.delete(device);
    return [...(devices?.keys() ?? [])];
  }
}

// The public directory of channels: lists by view and country, a search by words, pages by cursor.

const byFollowers = (a: Channel, b: Channel): number => b.followers.length - a.followers.length || a.jid.localeCompare(b.jid);
const byAge = (a: Channel, b: Channel): number => b.createdAt - a.createdAt || a.jid.localeCompare(b.jid);

const orders: Readonly<Record<string, typeof byAge>> = {
  RECOMMENDED: byFollowers,
  TRENDING: byFollowers,
  POPULAR: byFollowers,
  FEATURED: byFollowers,
  NEW: byAge,
};

export interface Page {
  readonly channels: readonly Channel[];
  /** The encoded position of the last channel on this page, after which the next page begins; null on the last page. */
  readonly endCursor: string | null;
}

const mostInPage = 100;

const cursorOf = (position: number): string => Buffer.from(`arrayconnection:${position}`).toString('base64');

function positionOf(cursor: unknown): number {
  if (cursor === undefined || cursor === null || cursor === '') return 0;
  const [, position] = /^arrayconnection:(\d{1,9})$/.exec(Buffer.from(String(cursor), 'base64').toString()) ?? [];
  if (position === undefined) throw new SandboxError(400, 'bad-request');
  return Number(position) + 1;
}

export function pageOf(channels: readonly Channel[], limit: unknown, cursor: unknown): Page {
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > mostInPage) throw new SandboxError(400, 'bad-request');
  const from = positionOf(cursor);
  const to = from + Number(limit);
  return { channels: channels.slice(from, to), endCursor: channels.length > to ? cursorOf(to - 1) : null };
}

const listed = ({ state }: Channel): boolean => state === 'ACTIVE';

export function inView(channels: readonly Channel[], view: unknown, countries: readonly unknown[]): Channel[] {
  const order = typeof view === 'string' && Object.hasOwn(orders, view) ? orders[view] : undefined;
  if (!order) throw new SandboxError(400, 'bad-request');
  return channels.filter((one) => listed(one) && (countries.length === 0 || countries.includes(one.country))).toSorted(order);
}

export function searchChannels(channels: readonly Channel[], words: string): Channel[] {
  const wanted = words.toLowerCase();
  const texts = ({ name, description, handle }: Channel) => `${name.text}\n${description.text}\n${handle ?? ''}`.toLowerCase();
  return channels.filter((one) => listed(one) && texts(one).includes(wanted)).toSorted(byFollowers);
}
