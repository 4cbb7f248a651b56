/** Requests of clients about businesses: profiles, catalogs and orders. */
import { jidOf } from '../address.ts';
import {
  categories,
  collectionNode,
  givenProduct,
  type GivenProduct,
  type Hours,
  leaf,
  nonBusinessCategory,
  orderedProductNode,
  type Product,
  type ProductFile,
  productNode,
  type Profile,
} from '../business/shape.ts';
import { SandboxError } from '../interface.ts';
import { type BinaryNode, child, children, node, text } from '../nodes.ts';
import type { Person } from '../people.ts';
import type { Answer, DeviceQueries, DeviceQuery } from './query.ts';

const saidLeaf = (tag: string, value: string): BinaryNode[] => (value === '' ? [] : [node(tag, {}, Buffer.from(value))]);
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
    ...saidLeaf('address', address),
    ...saidLeaf('description', description),
    ...websites.flatMap((website) => saidLeaf('website', website)),
    ...saidLeaf('email', email),
    ...(chosen.length === 0 ? [] : [node('categories', {}, chosen.map(categoryNode))]),
    ...(hours ? [hoursNode(hours)] : []),
    ...(cover ? [node('cover_photo', { id: cover.id, url: parts.media.url(cover.path) })] : []),
  ]);
};

/** Returns the person of the account. Throws 403 if the account is no business. */
function businessOf({ parts, device }: DeviceQuery): Person {
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
    return [
      node('response', {}, [node('not_a_biz', {}, [categoryNode(nonBusinessCategory)]), node('categories', {}, found.map(categoryNode))]),
    ];
  },
};

// Requests of clients about catalogs of businesses: products and collections.

/** Largest number of rows on one page. */
const maxPage = 100;

const bad = (): SandboxError => new SandboxError(400, 'bad-request');

/** Refuses a request with a wrong `smax_id`, the platform's number for this kind of request. Only some kinds of requests have such a number. */
function numbered({ stanza }: DeviceQuery, number: string): void {
  if (stanza.attrs['smax_id'] !== number) throw bad();
}

const count = (request: BinaryNode | undefined, tag: string): number => {
  const value = Number(text(child(request, tag)) ?? 10);
  if (!Number.isInteger(value) || value < 1) throw bad();
  return Math.min(value, maxPage);
};

const cursorOf = (id: string): string => Buffer.from(`after:${id}`).toString('base64url');

/** Returns one page of rows. If more rows follow, also returns the element with the cursor of the next page. */
function page<T extends { readonly id: string }>(
  rows: readonly T[],
  limit: number,
  after: string | undefined,
): readonly [T[], BinaryNode[]] {
  const at = after === undefined || after === '' ? -1 : rows.findIndex(({ id }) => cursorOf(id) === after);
  if (at === -1 && after) throw bad();
  const found = rows.slice(at + 1, at + 1 + limit);
  const last = found.at(-1);
  const isMore = last !== undefined && at + 1 + limit < rows.length;
  return [found, isMore ? [node('paging', {}, [node('after', {}, Buffer.from(cursorOf(last.id)))])] : []];
}

/** Returns the visible products of a catalog. The owner sees all products. Customers see the approved products that are not hidden. */
function catalogOf({ parts, device }: DeviceQuery, jid: string | undefined): readonly Product[] {
  const owner = parts.people.resolve(jid)?.person;
  if (!owner || !parts.shops.profile(owner.number)) throw new SandboxError(404, 'item-not-found');
  const products = parts.shops.products(owner.number);
  return owner.number === device.number ? products : products.filter(({ isHidden, status }) => !isHidden && status === 'APPROVED');
}

/** The common media host. Clients may name this host instead of the host to which they uploaded. */
const commonHost = 'mmg.whatsapp.net';

/** Returns the files that a client names by their URLs. Refuses a URL that is neither on the media host nor on the common media host. */
function filesOf({ parts }: DeviceQuery, urls: readonly string[] | undefined): readonly ProductFile[] {
  const { media, random } = parts;
  return (urls ?? []).slice(0, 10).map((url) => {
    const { host = '', pathname = '', search = '' } = URL.parse(url) ?? {};
    const path = pathname + search;
    if (![commonHost, ...media.hosts].includes(host) || media.locate(path) === undefined) throw bad();
    return { id: random.id(), url: media.url(path) };
  });
}

const check = ({ name, price = '', currency = '' }: GivenProduct): void => {
  if (name !== undefined && (name.trim() === '' || name.length > 256)) throw bad();
  if (!/^\d{0,18}$/.test(price) || !/^([A-Z]{3})?$/.test(currency) || (price !== '' && currency === '')) throw bad();
};

function stored(query: DeviceQuery, given: BinaryNode): Partial<Product> {
  const { imageUrls, videoUrls, ...product } = givenProduct(given);
  check(product);
  return { ...product, ...(imageUrls ? { images: filesOf(query, imageUrls), videos: filesOf(query, videoUrls) } : {}) };
}

const idsIn = (parent: BinaryNode | undefined): string[] =>
  children(parent, 'product')
    .slice(0, 1000)
    .map((one) => text(child(one, 'id')) ?? '');

const productQueries: DeviceQueries = {
  'w:biz:catalog/get/product_catalog': (query) => {
    const { request } = query;
    const [products, paging] = page(catalogOf(query, request?.attrs['jid']), count(request, 'limit'), text(child(request, 'after')));
    return [node('product_catalog', { cart_enabled: 'true' }, [...products.map(productNode), ...paging])];
  },
  'w:biz:catalog/get/product_list': (query) => {
    numbered(query, '24');
    const wanted = new Set(idsIn(query.request));
    const found = catalogOf(query, query.request?.attrs['jid']).filter(({ id }) => wanted.has(id));
    return [node('product_list', {}, found.map(productNode))];
  },
  'w:biz:catalog/set/product_catalog_add': (query) => {
    const { number } = businessOf(query);
    const given = child(query.request, 'product');
    if (!given || text(child(given, 'name')) === undefined) throw bad();
    return [node('product_catalog_add', {}, [productNode(query.parts.shops.addProduct(number, stored(query, given)))])];
  },
  'w:biz:catalog/set/product_catalog_edit': (query) => {
    const { number } = businessOf(query);
    const given = child(query.request, 'product');
    if (!given) throw bad();
    const id = text(child(given, 'id')) ?? '';
    // A change is reviewed like a new product.
    const changed = query.parts.shops.changeProduct(number, id, { ...stored(query, given), status: 'PENDING' });
    return [node('product_catalog_edit', {}, [productNode(changed)])];
  },
  'w:biz:catalog/set/product_catalog_delete': (query) => {
    const { number } = businessOf(query);
    const gone = idsIn(query.request).filter((id) => query.parts.shops.dropProduct(number, id));
    return [node('product_catalog_delete', { deleted_count: String(gone.length) })];
  },
  'w:biz:catalog/set/product_visibility_update': (query) => {
    numbered(query, '23');
    const { number } = businessOf(query);
    const named = children(query.request, 'product');
    if (named.length === 0) throw bad();
    for (const one of named)
      query.parts.shops.changeProduct(number, text(child(one, 'id')) ?? '', { isHidden: one.attrs['is_hidden'] === 'true' });
    return [node('product_visibility_update')];
  },
};

function changeCollection(query: DeviceQuery): Answer {
  numbered(query, '40');
  const { number } = businessOf(query);
  const { shops } = query.parts;
  const id = text(child(query.request, 'id')) ?? '';
  const gone = new Set(idsIn(child(query.request, 'remove')));
  const products = [...shops.collection(number, id).products, ...idsIn(child(query.request, 'add'))].filter((one) => !gone.has(one));
  const name = text(child(query.request, 'name'));
  const changed = shops.changeCollection(number, id, { products, ...(name === undefined ? {} : { name }) });
  return [collectionNode(changed, [])];
}

const collectionQueries: DeviceQueries = {
  'w:biz:catalog/get/collections': (query) => {
    numbered(query, '35');
    const { request, parts } = query;
    const products = new Map(catalogOf(query, request?.attrs['biz_jid']).map((product) => [product.id, product]));
    const owner = parts.people.resolve(request?.attrs['biz_jid'])?.person.number ?? '';
    const all = parts.shops.collections(owner);
    const [found, paging] = page(all, count(request, 'collection_limit'), text(child(request, 'after')));
    const items = count(request, 'item_limit');
    const rows = found.map((one) => collectionNode(one, one.products.flatMap((id) => products.get(id) ?? []).slice(0, items)));
    return [node('collections', {}, [...rows, ...paging])];
  },
  'w:biz:catalog/set/collection': (query) => {
    const { op } = query.request?.attrs ?? {};
    if (op === 'update') return changeCollection(query);
    if (op !== 'create') throw bad();
    numbered(query, '36');
    const { number } = businessOf(query);
    const made = query.parts.shops.addCollection(number, text(child(query.request, 'name')) ?? '', idsIn(query.request));
    return [collectionNode(made, [])];
  },
  'w:biz:catalog/set/collections': (query) => {
    if (query.request?.attrs['op'] !== 'delete') throw bad();
    numbered(query, '43');
    const { number } = businessOf(query);
    for (const one of children(query.request, 'id')) query.parts.shops.dropCollection(number, text(one) ?? '');
    return [node('collections')];
  },
};

/** Queries for an order. They need the token from the message with the order. */
const orderQueries: DeviceQueries = {
  'fb:thrift_iq/get/order': (query) => {
    numbered(query, '5');
    const { parts, request } = query;
    const { lines, total, currency } = parts.shops.order(request?.attrs['id'] ?? '', text(child(request, 'token')) ?? '');
    const price = [leaf('total', String(total)), leaf('currency', currency)];
    return [node('order', {}, [...lines.map(({ product, quantity }) => orderedProductNode(product, quantity)), node('price', {}, price)])];
  },
};

export const catalogQueries: DeviceQueries = { ...productQueries, ...collectionQueries, ...orderQueries };
