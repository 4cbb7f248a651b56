/** Operations on profiles of businesses and on their catalogs. */
import { type BinaryNode, DEF_MEDIA_HOST, getBinaryNodeChild } from '@whiskeysockets/baileys';
import { done, type Product, type ProductWish, type ProfileField, profileFields, refuse, type Result } from '#actors/model.ts';
import type { BusinessOperations, Outcome } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { addressOn, areMediaHosts } from '../outbound/download.ts';
import { answered, refused } from '../wire/outcomes.ts';
import {
  askBusiness,
  categoriesIn,
  collectionOf,
  collectionsIn,
  cursorIn,
  leaf,
  namedProduct,
  ownerOf,
  productElement,
  productOf,
  productsIn,
  profileOf,
  sizes,
  whereOffered,
} from './business-requests.ts';
import { meant, reasonOf } from './refusal-words.ts';
import { element, type Handlers } from './requests.ts';

// Operations on catalogs: products and collections. The requests are the gateway's own, because the library throws for products without
// pictures, and loses cursors.

type CatalogOperations = Omit<BusinessOperations, 'business.profile' | 'business.categories' | 'business.changeProfile'>;

/** Page sizes: products of a catalog, collections, and products of each collection. */
const pageSizes = { products: 100, collections: 50, items: 100 } as const;

const ask = (connection: LiveConnection, type: 'get' | 'set', content: BinaryNode, smax?: string): Promise<BinaryNode> =>
  askBusiness(connection, type, content, { xmlns: 'w:biz:catalog', ...(smax === undefined ? {} : { smax }) });

const after = (cursor: string): readonly BinaryNode[] => (cursor === '' ? [] : [leaf('after', cursor)]);

const noProduct = refuse('notFound', 'product not found');
const noCollection = refuse('notFound', 'collection not found');
/** The refusal for a missing collection or product. The platform does not report which of them is missing. */
const noneOfThem = refuse('notFound', 'the collection or one of the products was not found');

const find = async (connection: LiveConnection, owner: string, id: string): Promise<Result<Product>> => {
  const wanted = element('product_list', { jid: owner }, [namedProduct(id), ...sizes()]);
  const found = productsIn(getBinaryNodeChild(await ask(connection, 'get', wanted, '24'), 'product_list'));
  const product = found.find((one) => one.id === id);
  return product ? done(product) : noProduct;
};

const urlsOf = ({ images }: Product): readonly string[] => images.map(({ original, requested }) => original || requested);

/** Fills absent fields from the existing product, because a change replaces the whole product on the platform. */
const merged = (known: Product, wish: ProductWish, hasPicture: boolean): ProductWish => ({
  description: known.description,
  price: known.price,
  currency: known.currency,
  salePrice: known.salePrice,
  retailerId: known.retailerId,
  url: known.url,
  isHidden: known.isHidden,
  keptVideos: known.videos,
  keptImages: hasPicture ? [] : urlsOf(known),
  ...wish,
});

const uploaded = async (connection: LiveConnection, jpeg: Uint8Array | null): Promise<Result<readonly string[]>> => {
  if (jpeg === null) return done([]);
  const placed = await connection.uploads.plain(jpeg, 'product/image');
  if (!placed.ok) return placed;
  const url = placed.value.url || addressOn(DEF_MEDIA_HOST, placed.value.directPath);
  return url === null ? refused(null, 'the media host named no usable path') : done([url]);
};

const foreignHost = refuse('invalid', 'image_urls and video_urls must be addresses of the platform’s media hosts');

const save: Handlers<CatalogOperations>['catalog.save'] = async (connection, { id, product, jpeg }) => {
  const named = [...(product.keptImages ?? []), ...(product.keptVideos ?? [])];
  if (!(await areMediaHosts(connection.sock, named))) return foreignHost;
  const known = id === null ? null : await find(connection, connection.directory.me.pn, id);
  if (known && !known.ok) return known;
  const wish = known ? merged(known.value, product, jpeg !== null) : product;
  const added = await uploaded(connection, jpeg);
  if (!added.ok) return added;
  const sent = productElement(id, { ...wish, keptImages: [...(wish.keptImages ?? []), ...added.value] });
  const tag = id === null ? 'product_catalog_add' : 'product_catalog_edit';
  const answer = await ask(connection, 'set', element(tag, { v: '1' }, [sent, ...sizes(product.width, product.height)]));
  const node = getBinaryNodeChild(getBinaryNodeChild(answer, tag), 'product');
  return node ? answered(productOf(node)) : refused(null, 'the platform answered without the product');
};

/** Reads a changed collection. The platform answers with the whole collection or with its id alone. `products` is null if the answer has none. */
const changedCollection = (answer: BinaryNode, id: string, name: string): Outcome<ReturnType<typeof collectionOf>> => {
  const node = getBinaryNodeChild(answer, 'collection');
  const { products, ...collection } = collectionOf(node ?? element('collection'));
  return answered({ ...collection, id: collection.id || id, name: collection.name || name, products: products?.length ? products : null });
};

const collectionHandlers = {
  'collection.list': async (connection, { after: cursor }) => {
    const limits = [leaf('collection_limit', String(pageSizes.collections)), leaf('item_limit', String(pageSizes.items))];
    const wanted = element('collections', { biz_jid: connection.directory.me.pn }, [...limits, ...after(cursor), ...sizes()]);
    const node = getBinaryNodeChild(await ask(connection, 'get', wanted, '35'), 'collections');
    return answered({ collections: collectionsIn(node), after: cursorIn(node, 'after') });
  },

  'collection.create': async (connection, { name, productIds }) => {
    const made = element('collection', { op: 'create' }, [leaf('name', name), ...productIds.map(namedProduct)]);
    const asked = await meant(connection, ask(connection, 'set', made, '36'), { 404: noProduct });
    return asked.ok ? changedCollection(asked.value, '', name) : asked;
  },

  'collection.change': async (connection, { id, name, add, remove }) => {
    const changed = element('collection', { op: 'update' }, [
      leaf('id', id),
      ...(name === null ? [] : [leaf('name', name)]),
      ...(add.length === 0 ? [] : [element('add', {}, add.map(namedProduct))]),
      ...(remove.length === 0 ? [] : [element('remove', {}, remove.map(namedProduct))]),
    ]);
    const asked = await meant(connection, ask(connection, 'set', changed, '40'), { 404: add.length === 0 ? noCollection : noneOfThem });
    return asked.ok ? changedCollection(asked.value, id, name ?? '') : asked;
  },

  'collection.delete': async (connection, { id }) => {
    const gone = ask(connection, 'set', element('collections', { op: 'delete' }, [leaf('id', id)]), '43');
    const asked = await meant(connection, gone, { 404: noCollection });
    return asked.ok ? answered(null) : asked;
  },
} satisfies Partial<Handlers<CatalogOperations>>;

const catalogHandlers: Handlers<CatalogOperations> = {
  'catalog.list': async (connection, { owner, after: cursor }) => {
    const jid = await ownerOf(connection, owner);
    if (!jid.ok) return jid;
    const wanted = [leaf('limit', String(pageSizes.products)), ...sizes(), ...after(cursor)];
    const answer = await ask(connection, 'get', element('product_catalog', { jid: jid.value, allow_shop_source: 'true' }, wanted));
    const node = getBinaryNodeChild(answer, 'product_catalog');
    return answered({
      owner: jid.value,
      cartEnabled: node?.attrs['cart_enabled'] === 'true',
      source: node?.attrs['source'] ?? '',
      products: productsIn(node),
      before: cursorIn(node, 'before'),
      after: cursorIn(node, 'after'),
    });
  },

  'catalog.get': async (connection, { owner, id }) => {
    const jid = await ownerOf(connection, owner);
    if (!jid.ok) return jid;
    const found = await find(connection, jid.value, id);
    return found.ok ? answered(found.value) : found;
  },

  'catalog.save': save,

  'catalog.hide': async (connection, { id, hidden }) => {
    const product = element('product', { is_hidden: String(hidden) }, [leaf('id', id)]);
    const changed = ask(connection, 'set', element('product_visibility_update', { v: '1' }, [product]), '23');
    const asked = await meant(connection, changed, { 404: noProduct });
    return asked.ok ? answered(null) : asked;
  },

  'catalog.delete': async (connection, { id }) => {
    const answer = await ask(connection, 'set', element('product_catalog_delete', { v: '1' }, [namedProduct(id)]));
    const deleted = Number(getBinaryNodeChild(answer, 'product_catalog_delete')?.attrs['deleted_count'] ?? 1);
    return deleted === 0 ? noProduct : answered(null);
  },

  ...collectionHandlers,
};

// Operations on profiles of businesses.

const profiles = { xmlns: 'w:biz' } as const;

const changeField = (connection: LiveConnection, field: ProfileField, text: string) =>
  meant(
    connection,
    askBusiness(connection, 'set', element('business_profile', { v: '3', mutation_type: 'delta' }, [leaf(field, text)]), profiles),
    {},
  );

type ProfileOperations = Pick<BusinessOperations, 'business.profile' | 'business.categories' | 'business.changeProfile'>;

const profileHandlers: Handlers<ProfileOperations> = {
  'business.profile': async (connection, { owner }) => {
    const jid = await ownerOf(connection, owner);
    if (!jid.ok) return jid;
    const wanted = element('business_profile', { v: '244' }, [element('profile', { jid: jid.value })]);
    const answer = getBinaryNodeChild(await askBusiness(connection, 'get', wanted, profiles), 'business_profile');
    const node = answer && getBinaryNodeChild(answer, 'profile');
    return node ? answered(profileOf(node)) : refuse('notFound', 'there is no business profile');
  },

  'business.categories': async (connection) => {
    const wanted = element('request', { op: 'profile_typeahead', type: 'catkit', v: '1' }, [element('query')]);
    const response = getBinaryNodeChild(await askBusiness(connection, 'get', wanted, { xmlns: 'fb:thrift_iq' }), 'response');
    return answered(categoriesIn(getBinaryNodeChild(response, 'categories')));
  },

  'business.changeProfile': async (connection, wishes) => {
    const updated: ProfileField[] = [];
    const failed: Partial<Record<ProfileField, string>> = {};
    let code: number | null = null;
    for (const field of profileFields) {
      const text = wishes[field];
      if (text === undefined) continue;
      const done = await changeField(connection, field, text);
      if (done.ok) updated.push(field);
      else {
        const { code: given = 0, message } = done.refusal;
        failed[field] = reasonOf('business.changeProfile', given, message);
        code ??= done.refusal.code ?? null;
      }
    }
    if (updated.length > 0) return answered({ updated, failed });
    const causes = Object.entries(failed).map(([field, message]) => `${field}: ${message}`);
    const refusal = refused(code, `the platform refused to change the business profile: ${causes.join('; ')}`);
    return { ok: false, refusal: { ...refusal.refusal, causes } };
  },
};

export const businessHandlers: Handlers<BusinessOperations> = whereOffered({ ...profileHandlers, ...catalogHandlers });
