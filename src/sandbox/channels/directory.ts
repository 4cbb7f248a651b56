/** The public directory of channels: lists by view and country, a search by words, pages by cursor. */
import { SandboxError } from '../face.ts';
import type { Channel } from './channels.ts';

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
  /** The position of the last one, for the next page; null on the last page. */
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

export function found(channels: readonly Channel[], words: string): Channel[] {
  const wanted = words.toLowerCase();
  const texts = ({ name, description, handle }: Channel) => `${name.text}\n${description.text}\n${handle ?? ''}`.toLowerCase();
  return channels.filter((one) => listed(one) && texts(one).includes(wanted)).toSorted(byFollowers);
}
