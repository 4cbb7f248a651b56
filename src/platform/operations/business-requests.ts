/** Requests about businesses, and the parsing of profiles, products and collections. */
import {
  type BinaryNode,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  getBinaryNodeChildString,
  isWABusinessPlatform,
} from '@whiskeysockets/baileys';
import {
  type BusinessCategory,
  type BusinessHours,
  type BusinessProfile,
  type Collection,
  done,
  type Product,
  type ProductImage,
  type ProductWish,
  refuse,
  type Result,
} from '#actors/model.ts';
import type { OperationControl, Outcome } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { addressesOf, isLid, isPerson, personServer, resolveTarget } from '../wire/jid.ts';
import { answerOf } from '../wire/outcomes.ts';
import { element, inKnownForms } from './requests.ts';

// Requests about businesses.

/** Returns the address of a business: its number if known, and otherwise its LID. `owner`: '' for the account itself. */
export const ownerOf = async (connection: LiveConnection, owner: string): Promise<Result<string>> => {
  const { directory } = connection;
  if (owner === '') return done(directory.me.pn);
  const target = resolveTarget(owner);
  if (!target.ok || !(isPerson(target.jid) || isLid(target.jid))) return refuse('invalid', 'jid must be a number or the id of a person');
  const [jid = target.jid] = await inKnownForms(connection, [target.jid]);
  return done(addressesOf(directory, jid).pn || jid);
};

const notOffered = refuse('notSupported', 'the platform does not offer this to linked devices');
/** The platform's code for an unknown request. */
const notImplemented = 501;

const noBusiness = refuse(
  'notSupported',
  'profiles and catalogs of its own are a feature of business accounts: this one was none when it was paired',
);
/** The platform's codes for a forbidden request, and for a missing profile or catalog. */
const refusedCodes: ReadonlySet<number | undefined> = new Set([403, 404]);

/** Returns true if a refused request concerned the account itself, and the account is not a business. */
const needsBusiness = ({ sock, directory }: LiveConnection, { owner = '' }: { readonly owner?: string }): boolean => {
  const { platform } = sock.authState.creds;
  const isOwn = owner === '' || owner === directory.me.pn || owner === directory.me.pn.split('@')[0];
  return isOwn && (platform === undefined || !isWABusinessPlatform(platform));
};

type AnyHandler = (connection: LiveConnection, input: never, control: OperationControl) => Promise<Outcome<unknown>>;

/** Returns the handlers with separate outcomes for a request that the platform does not know, and for a request that only businesses may make. */
export const whereOffered = <Table extends Readonly<Record<string, AnyHandler>>>(handlers: Table): Table =>
  Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [
      name,
      async (...[connection, input, control]: Parameters<AnyHandler>): Promise<Outcome<unknown>> => {
        const asked = await answerOf(handler(connection, input, control), () => connection.sock.ws.isOpen);
        const outcome = asked.ok ? asked.value : asked;
        if (outcome.ok || outcome.refusal.reason !== 'refused') return outcome;
        const { code } = outcome.refusal;
        if (code === notImplemented) return notOffered;
        return refusedCodes.has(code) && needsBusiness(connection, input ?? {}) ? noBusiness : outcome;
      },
    ]),
  ) as unknown as Table;

/** Sends a query. `smax`: the platform's number of the request, if it has one. Rejects with the library's error if the platform refuses. */
export const askBusiness = (
  { sock }: LiveConnection,
  type: 'get' | 'set',
  content: BinaryNode,
  { xmlns, smax }: { readonly xmlns: 'w:biz' | 'w:biz:catalog' | 'fb:thrift_iq'; readonly smax?: string },
): Promise<BinaryNode> =>
  sock.query({
    tag: 'iq',
    attrs: { to: personServer, xmlns, type, ...(smax === undefined ? {} : { smax_id: smax }) },
    content: [content],
  });

// The parsing of profiles, products and collections. The library reads only one picture, one website and one category, and no sale price.

const textOf = ({ content }: BinaryNode): string =>
  typeof content === 'string' ? content : content instanceof Uint8Array ? Buffer.from(content).toString('utf8') : '';

const textIn = (node: BinaryNode | undefined, tag: string): string => (node && getBinaryNodeChildString(node, tag)) ?? '';

const childrenIn = (node: BinaryNode | undefined, tag: string): readonly BinaryNode[] =>
  node === undefined ? [] : getBinaryNodeChildren(node, tag);

const count = (text: string): number => Math.max(0, Math.trunc(Number(text)) || 0);

export const categoriesIn = (node: BinaryNode | undefined): readonly BusinessCategory[] =>
  childrenIn(node, 'category').map((one) => ({ id: one.attrs['id'] ?? '', name: textOf(one) }));

const minutes = (text: string | undefined): number | null => (text === undefined ? null : count(text));

const hoursOf = (node: BinaryNode): BusinessHours => ({
  timezone: node.attrs['timezone'] ?? '',
  days: childrenIn(node, 'business_hours_config').map(({ attrs }) => ({
    day: attrs['day_of_week'] ?? '',
    mode: attrs['mode'] ?? '',
    open: minutes(attrs['open_time']),
    close: minutes(attrs['close_time']),
  })),
});

export const profileOf = (node: BinaryNode): BusinessProfile => {
  const hours = getBinaryNodeChild(node, 'business_hours');
  return {
    tag: node.attrs['tag'] ?? '',
    description: textIn(node, 'description'),
    address: textIn(node, 'address'),
    email: textIn(node, 'email'),
    websites: childrenIn(node, 'website').map(textOf),
    categories: categoriesIn(getBinaryNodeChild(node, 'categories')),
    hours: hours === undefined ? null : hoursOf(hours),
    cover: getBinaryNodeChild(node, 'cover_photo')?.attrs['url'] ?? '',
  };
};

const imageOf = (node: BinaryNode): ProductImage => {
  const size = getBinaryNodeChild(node, 'original_dimensions');
  return {
    id: textIn(node, 'id'),
    requested: textIn(node, 'request_image_url'),
    original: textIn(node, 'original_image_url'),
    width: count(textIn(size, 'width')),
    height: count(textIn(size, 'height')),
  };
};

export const productOf = (node: BinaryNode): Product => {
  const media = getBinaryNodeChild(node, 'media');
  const info = getBinaryNodeChild(node, 'status_info');
  return {
    id: textIn(node, 'id'),
    name: textIn(node, 'name'),
    description: textIn(node, 'description'),
    price: textIn(node, 'price'),
    currency: textIn(node, 'currency'),
    salePrice: textIn(getBinaryNodeChild(node, 'sale_price'), 'price'),
    retailerId: textIn(node, 'retailer_id'),
    url: textIn(node, 'url'),
    availability: node.attrs['availability'] ?? '',
    isHidden: node.attrs['is_hidden'] === 'true',
    status: textIn(info, 'status'),
    canAppeal: textIn(info, 'can_appeal') === 'true',
    maxAvailable: count(textIn(node, 'max_available')),
    imageFetchStatus: textIn(node, 'image_fetch_status'),
    images: childrenIn(media, 'image').map(imageOf),
    videos: childrenIn(media, 'video').map((one) => textIn(one, 'url')),
  };
};

export const productsIn = (node: BinaryNode | undefined): readonly Product[] => childrenIn(node, 'product').map(productOf);

export const collectionOf = (node: BinaryNode): Collection => {
  const info = getBinaryNodeChild(node, 'status_info');
  return {
    id: textIn(node, 'id'),
    name: textIn(node, 'name'),
    status: textIn(info, 'status'),
    canAppeal: textIn(info, 'can_appeal') === 'true',
    products: productsIn(node),
  };
};

export const collectionsIn = (node: BinaryNode | undefined): readonly Collection[] => childrenIn(node, 'collection').map(collectionOf);

/** Returns the cursor of the previous or the next page; '' if there is none. */
export const cursorIn = (node: BinaryNode | undefined, which: 'before' | 'after'): string =>
  textIn(node && getBinaryNodeChild(node, 'paging'), which);

/** Builds an element with a text. */
export const leaf = (tag: string, text: string): BinaryNode => element(tag, {}, Buffer.from(text, 'utf8'));

const said = (tag: string, text: string | undefined): readonly BinaryNode[] => (text === undefined || text === '' ? [] : [leaf(tag, text)]);

export const namedProduct = (id: string): BinaryNode => element('product', {}, [leaf('id', id)]);

/** Builds the elements that request a size for the pictures in the answer, in pixels. */
export const sizes = (width = 100, height = 100): readonly BinaryNode[] => [leaf('width', String(width)), leaf('height', String(height))];

const mediaElement = (images: readonly string[], videos: readonly string[]): readonly BinaryNode[] => {
  const files = (tag: string, urls: readonly string[]) => urls.map((url) => element(tag, {}, [leaf('url', url)]));
  return images.length + videos.length === 0 ? [] : [element('media', {}, [...files('image', images), ...files('video', videos)])];
};

const addressElement = (address: NonNullable<NonNullable<ProductWish['compliance']>['importerAddress']>): BinaryNode =>
  element('importer_address', {}, [
    ...said('street1', address.street1),
    ...said('street2', address.street2),
    ...said('city', address.city),
    ...said('region', address.region),
    ...said('postal_code', address.postalCode),
    ...said('country_code', address.countryCode),
  ]);

const complianceElement = ({ originCountry, importerName, importerAddress }: NonNullable<ProductWish['compliance']>): BinaryNode =>
  element('compliance_info', {}, [
    ...said('country_code_origin', originCountry),
    ...said('importer_name', importerName),
    ...(importerAddress === undefined ? [] : [addressElement(importerAddress)]),
  ]);

/** Builds the element of a product. `id`: null for a new product. */
export const productElement = (id: string | null, wish: ProductWish): BinaryNode => {
  const { salePrice, compliance, complianceCategory } = wish;
  const attrs = {
    is_hidden: String(wish.isHidden ?? false),
    ...(complianceCategory === undefined ? {} : { compliance_category: complianceCategory }),
  };
  return element('product', attrs, [
    ...said('id', id ?? ''),
    leaf('name', wish.name),
    ...said('description', wish.description),
    ...said('url', wish.url),
    ...said('retailer_id', wish.retailerId),
    ...mediaElement(wish.keptImages ?? [], wish.keptVideos ?? []),
    ...said('price', wish.price),
    ...said('currency', wish.currency),
    ...(salePrice === undefined || salePrice === '' ? [] : [element('sale_price', {}, [leaf('price', salePrice)])]),
    ...(compliance === undefined ? [] : [complianceElement(compliance)]),
  ]);
};
