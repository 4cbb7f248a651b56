/** Requests of clients about profiles of businesses. */
import { categories, noBusiness, type Hours, type Profile } from '../business/shape.ts';
import { SandboxError } from '../face.ts';
import { jidOf } from '../address.ts';
import { child, children, node, text, type BinaryNode } from '../nodes.ts';
import type { Person } from '../people.ts';
import type { DeviceQueries, DeviceQuery } from './query.ts';

const leaf = (tag: string, value: string): BinaryNode[] => (value === '' ? [] : [node(tag, {}, Buffer.from(value))]);
const categoryNode = ({ id, name }: { readonly id: string; readonly name: string }): BinaryNode =>
  node('category', { id }, Buffer.from(name));

const minutes = (value: number | undefined): string | undefined => (value === undefined ? undefined : String(value));

const hoursNode = ({ timezone, days }: Hours): BinaryNode =>
  node(
    'business_hours',
    { timezone },
    days.map(({ day, mode, open, close }) =>
      node('business_hours_config', { day_of_week: day, mode, open_time: minutes(open), close_time: minutes(close) }),
    ),
  );

const profileNode = ({ parts }: DeviceQuery, person: Person, profile: Profile): BinaryNode => {
  const { description, address, email, websites, categories: chosen, hours, cover } = profile;
  return node('profile', { jid: jidOf(person, 'pn'), tag: '1' }, [
    ...leaf('address', address),
    ...leaf('description', description),
    ...websites.flatMap((website) => leaf('website', website)),
    ...leaf('email', email),
    ...(chosen.length === 0 ? [] : [node('categories', {}, chosen.map(categoryNode))]),
    ...(hours ? [hoursNode(hours)] : []),
    ...(cover ? [node('cover_photo', { id: cover.id, url: parts.media.url(cover.path) })] : []),
  ]);
};

/** Returns the business that the account may change: its own. */
export function businessOf({ parts, device }: DeviceQuery): Person {
  const person = parts.people.ensure(device.number);
  if (!person.business) throw new SandboxError(403, 'forbidden');
  return person;
}

const limits = { description: 512, address: 256, email: 128 } as const;

function changeIn(request: BinaryNode | undefined): Partial<Profile> {
  const change: Record<string, unknown> = {};
  for (const [field, most] of Object.entries(limits)) {
    const value = text(child(request, field));
    if (value === undefined) continue;
    if (value.length > most) throw new SandboxError(406, 'not-acceptable');
    if (field === 'email' && value !== '' && !/^[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+$/.test(value)) throw new SandboxError(400, 'bad-request');
    change[field] = value;
  }
  const websites = children(request, 'website').map((one) => text(one) ?? '');
  return { ...(change as Partial<Profile>), ...(websites.length === 0 ? {} : { websites }) };
}

export const businessQueries: DeviceQueries = {
  'w:biz/get/business_profile': (query) => {
    const asked = children(query.request, 'profile').slice(0, 20);
    const profiles = asked.flatMap(({ attrs }) => {
      const person = query.parts.people.resolve(attrs['jid'])?.person;
      const profile = person && query.parts.shops.profile(person.number);
      return person && profile ? [profileNode(query, person, profile)] : [];
    });
    return [node('business_profile', { v: '244' }, profiles)];
  },

  'w:biz/set/business_profile': (query) => {
    const person = businessOf(query);
    if (query.request?.attrs['mutation_type'] !== 'delta') throw new SandboxError(400, 'bad-request');
    query.parts.shops.setProfile(person.number, changeIn(query.request));
    return [node('business_profile', { v: '3' })];
  },

  'fb:thrift_iq/get/request': ({ parts, request }) => {
    const { op, type, v } = request?.attrs ?? {};
    if (op !== 'profile_typeahead' || type !== 'catkit' || v !== '1') {
      parts.counters.unknown(`fb:thrift_iq/get/request/${op ?? ''}`);
      throw new SandboxError(501, 'feature-not-implemented');
    }
    const wanted = (text(child(request, 'query')) ?? '').toLowerCase();
    const found = categories.filter(({ name }) => name.toLowerCase().includes(wanted));
    return [node('response', {}, [node('not_a_biz', {}, [categoryNode(noBusiness)]), node('categories', {}, found.map(categoryNode))])];
  },
};
