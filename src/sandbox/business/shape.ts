/** The types of a business: its profile, its products, its collections. */
import type { BusinessProfile, CollectionView, ProductView } from '../interface.ts';
import { type BinaryNode, child, children, node, text } from '../nodes.ts';
import type { Picture } from '../people.ts';

export type Hours = NonNullable<BusinessProfile['hours']>;

/** A profile as it is stored. `cover`: a picture on the media host. */
export type Profile = Omit<BusinessProfile, 'cover'> & { readonly cover?: Picture };

/** A picture or video of a product, on the media host. */
export interface ProductFile {
  readonly id: string;
  readonly url: string;
}

/** A product as it is stored. The keys in `compliance` are names of stanza elements. Elements of the importer's address have the prefix `importer_address.`. */
export type Product = Omit<ProductView, 'images' | 'videos'> & {
  readonly images: readonly ProductFile[];
  readonly videos: readonly ProductFile[];
};

export type Collection = CollectionView;

/** The order of a customer, with the prices at the time of the order. */
export interface Order {
  readonly id: string;
  /** The token that allows its holder to read the order. */
  readonly token: string;
  readonly lines: readonly { readonly product: Product; readonly quantity: number }[];
  /** The sum of the prices, in thousandths of the currency's unit; 0 if no product has a price. */
  readonly total: number;
  readonly currency: string;
}

export const emptyProfile: Profile = { description: '', address: '', email: '', websites: [], categories: [] };

export const emptyProduct: Omit<Product, 'id'> = {
  name: '',
  description: '',
  price: '',
  currency: '',
  salePrice: '',
  retailerId: '',
  url: '',
  isHidden: false,
  status: 'PENDING',
  images: [],
  videos: [],
  complianceCategory: '',
  compliance: {},
};

/** The categories that a profile may name. */
export const categories = [
  { id: '133436743388217', name: 'Arts & Entertainment' },
  { id: '139225689474222', name: 'Beauty, Cosmetic & Personal Care' },
  { id: '273819889375819', name: 'Restaurant' },
  { id: '629412378414563', name: 'Clothing (Brand)' },
  { id: '2223', name: 'Grocery Store' },
] as const;

/** The category of an account that is not a business. */
export const nonBusinessCategory = { id: '1223524174334504', name: 'Not a Business' } as const;

// Products and collections as stanzas of the platform, in both directions.

export const leaf = (tag: string, value: string): BinaryNode => node(tag, {}, Buffer.from(value));
/** Makes an element; none if its value is empty. */
const said = (tag: string, value: string): BinaryNode[] => (value === '' ? [] : [leaf(tag, value)]);

const statusInfo = (status: string): BinaryNode =>
  node('status_info', {}, [leaf('status', status), leaf('can_appeal', String(status === 'REJECTED'))]);

const imageNode = ({ id, url }: ProductFile): BinaryNode =>
  node('image', {}, [
    leaf('id', id),
    leaf('original_image_url', url),
    leaf('request_image_url', url),
    node('original_dimensions', {}, [leaf('width', '720'), leaf('height', '720')]),
  ]);

const complianceNode = (compliance: Product['compliance']): BinaryNode[] => {
  const entries = Object.entries(compliance);
  if (entries.length === 0) return [];
  const isAddress = ([name]: readonly [string, string]): boolean => name.startsWith(addressPrefix);
  const address = entries.filter(isAddress).map(([name, value]) => leaf(name.slice(addressPrefix.length), value));
  const others = entries.filter((entry) => !isAddress(entry)).map(([name, value]) => leaf(name, value));
  return [node('compliance_info', {}, [...others, ...(address.length === 0 ? [] : [node('importer_address', {}, address)])])];
};

export const productNode = (product: Product): BinaryNode =>
  node(
    'product',
    {
      is_hidden: String(product.isHidden),
      availability: 'in stock',
      compliance_category: product.complianceCategory || undefined,
    },
    [
      leaf('id', product.id),
      leaf('name', product.name),
      ...said('description', product.description),
      ...said('url', product.url),
      ...said('retailer_id', product.retailerId),
      ...said('price', product.price),
      ...said('currency', product.currency),
      ...(product.salePrice === '' ? [] : [node('sale_price', {}, [leaf('price', product.salePrice)])]),
      node('media', {}, [
        ...product.images.map(imageNode),
        ...product.videos.map(({ id, url }) => node('video', {}, [leaf('id', id), leaf('url', url)])),
      ]),
      ...complianceNode(product.compliance),
      statusInfo(product.status),
      leaf('image_fetch_status', 'FETCHED'),
      leaf('max_available', '99'),
    ],
  );

/** Makes the node of a product in an order. */
export const orderedProductNode = ({ id, name, images, price, salePrice, currency }: Product, quantity: number): BinaryNode =>
  node('product', {}, [
    leaf('id', id),
    leaf('name', name),
    ...images.slice(0, 1).map(({ url }) => node('image', {}, [leaf('url', url)])),
    leaf('price', salePrice || price || '0'),
    leaf('currency', currency),
    leaf('quantity', String(quantity)),
  ]);

export const collectionNode = ({ id, name, status }: Collection, products: readonly Product[]): BinaryNode =>
  node('collection', {}, [leaf('id', id), leaf('name', name), statusInfo(status), ...products.map(productNode)]);

const addressPrefix = 'importer_address.';

const complianceIn = (info: BinaryNode | undefined): Product['compliance'] => {
  const leaves = (parent: BinaryNode | undefined, prefix: string): [string, string][] =>
    Array.isArray(parent?.content)
      ? (parent.content as BinaryNode[]).flatMap((one) => (one.tag === 'importer_address' ? [] : [[prefix + one.tag, text(one) ?? '']]))
      : [];
  return Object.fromEntries([...leaves(info, ''), ...leaves(child(info, 'importer_address'), addressPrefix)]);
};

const fields = {
  name: 'name',
  description: 'description',
  url: 'url',
  retailerId: 'retailer_id',
  price: 'price',
  currency: 'currency',
} as const;

/** The fields of a product from a client. Files are given as URLs. */
export interface GivenProduct extends Partial<Omit<Product, 'images' | 'videos'>> {
  readonly imageUrls?: readonly string[];
  readonly videoUrls?: readonly string[];
}

const urlsIn = (media: BinaryNode, tag: string): string[] => children(media, tag).map((one) => text(child(one, 'url')) ?? '');

export function givenProduct(given: BinaryNode): GivenProduct {
  const named = Object.entries(fields).flatMap(([field, tag]) => {
    const value = text(child(given, tag));
    return value === undefined ? [] : [[field, value]];
  });
  const media = child(given, 'media');
  const hidden = given.attrs['is_hidden'];
  const category = given.attrs['compliance_category'];
  const sale = child(given, 'sale_price');
  const info = child(given, 'compliance_info');
  return {
    ...(Object.fromEntries(named) as GivenProduct),
    ...(hidden === undefined ? {} : { isHidden: hidden === 'true' }),
    ...(category === undefined ? {} : { complianceCategory: category }),
    ...(sale ? { salePrice: text(child(sale, 'price')) ?? '' } : {}),
    ...(info ? { compliance: complianceIn(info) } : {}),
    ...(media ? { imageUrls: urlsIn(media, 'image'), videoUrls: urlsIn(media, 'video') } : {}),
  };
}
