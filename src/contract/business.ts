/** The API representation of businesses: profiles, catalogs, products, collections. */
import { Type } from 'typebox';
import type {
  BusinessCategory,
  BusinessHours,
  BusinessProfile,
  Catalog,
  Collection,
  CollectionPage,
  Product,
  ProductImage,
  ProductWish,
} from '#actors/model.ts';
import { fieldsOf } from './fields.ts';
import { optional } from './shapes.ts';

const text = Type.String();
const flag = Type.Boolean();
const whole = Type.Integer();

const category = fieldsOf<BusinessCategory>()({
  id: [text, ({ id }) => id],
  localized_display_name: [text, ({ name }) => name],
});

const minutes = Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'Minutes of the day' });

const openingTimes = fieldsOf<BusinessHours['days'][number]>()({
  day_of_week: [text, ({ day }) => day],
  mode: [text, ({ mode }) => mode],
  open_time: [minutes, ({ open }) => open],
  close_time: [minutes, ({ close }) => close],
});

const hours = fieldsOf<BusinessHours>()({
  timezone: [text, ({ timezone }) => timezone],
  config: [Type.Array(Type.Object(openingTimes.schemas)), ({ days }) => days.map(openingTimes.view)],
});

const profile = fieldsOf<BusinessProfile>()({
  tag: [text, ({ tag }) => tag],
  description: [text, ({ description }) => description],
  address: [text, ({ address }) => address],
  email: [text, ({ email }) => email],
  websites: [Type.Array(text), ({ websites }) => websites],
  categories: [Type.Array(Type.Object(category.schemas)), ({ categories }) => categories.map(category.view)],
  business_hours: [
    optional(Type.Object(hours.schemas, { description: 'Only where the business tells its hours' })),
    (shown) => (shown.hours === null ? undefined : hours.view(shown.hours)),
  ],
  cover_photo: [optional(Type.String({ description: 'Address of the cover picture' })), ({ cover }) => cover || undefined],
});

export const categoryFields = category.schemas;
export const categoryView = category.view;
export const businessProfileFields = profile.schemas;
export const profileView = profile.view;

// Catalogs, with the platform's own field names.

const account = fieldsOf<string>()({
  User: [text, (jid) => jid.split('@')[0] ?? ''],
  Server: [text, (jid) => jid.split('@')[1] ?? ''],
  RawAgent: [whole, () => 0],
  Device: [whole, () => 0],
  Integrator: [whole, () => 0],
});

const image = fieldsOf<ProductImage>()({
  ID: [text, ({ id }) => id],
  RequestImageUrl: [text, ({ requested }) => requested],
  OriginalImageUrl: [text, ({ original }) => original],
  OriginalDimensions: [Type.Object({ Height: whole, Width: whole }), ({ width, height }) => ({ Height: height, Width: width })],
});

const Price = Type.Unsafe<{ readonly Amount: string; readonly Currency: string } | null>({
  type: ['object', 'null'],
  required: ['Amount', 'Currency'],
  properties: { Amount: text, Currency: text },
});

const listedProduct = fieldsOf<Product>()({
  ID: [text, ({ id }) => id],
  Name: [text, ({ name }) => name],
  Description: [text, ({ description }) => description],
  SalePrice: [text, ({ salePrice }) => salePrice],
  RetailerID: [text, ({ retailerId }) => retailerId],
  Url: [text, ({ url }) => url],
  Availability: [text, ({ availability }) => availability],
  ImageFetchStatus: [text, ({ imageFetchStatus }) => imageFetchStatus],
  Price: [Price, ({ price, currency }) => (price === '' ? null : { Amount: price, Currency: currency })],
  IsHidden: [flag, ({ isHidden }) => isHidden],
  StatusInfo: [Type.Object({ Status: text, CanAppeal: flag }), ({ status, canAppeal }) => ({ Status: status, CanAppeal: canAppeal })],
  MaxAvailable: [whole, ({ maxAvailable }) => maxAvailable],
  Images: [Type.Array(Type.Object(image.schemas)), ({ images }) => images.map(image.view)],
});

const cursor = Type.String({ description: 'Empty where there is no further page' });

const catalog = fieldsOf<Catalog>()({
  JID: [Type.Object(account.schemas), ({ owner }) => account.view(owner)],
  CartEnabled: [flag, ({ cartEnabled }) => cartEnabled],
  Source: [text, ({ source }) => source],
  Products: [Type.Array(Type.Object(listedProduct.schemas)), ({ products }) => products.map(listedProduct.view)],
  Paging: [Type.Object({ Before: cursor, After: cursor }), ({ before, after }) => ({ Before: before, After: after })],
});

export const catalogFields = catalog.schemas;
export const catalogView = catalog.view;

// Collections, and products alone or in a collection.

const product = fieldsOf<Product>()({
  id: [text, ({ id }) => id],
  name: [text, ({ name }) => name],
  description: [text, ({ description }) => description],
  price: [text, ({ price }) => price],
  currency: [text, ({ currency }) => currency],
  sale_price: [text, ({ salePrice }) => salePrice],
  url: [text, ({ url }) => url],
  retailer_id: [text, ({ retailerId }) => retailerId],
  availability: [text, ({ availability }) => availability],
  status: [text, ({ status }) => status],
  is_hidden: [flag, ({ isHidden }) => isHidden],
  image_urls: [Type.Array(text), ({ images }) => images.map(({ original, requested }) => original || requested)],
  video_urls: [Type.Array(text), ({ videos }) => videos],
});

const collection = fieldsOf<Collection>()({
  id: [text, ({ id }) => id],
  name: [text, ({ name }) => name],
  status: [text, ({ status }) => status],
  products: [
    optional(
      Type.Array(Type.Object(product.schemas), {
        description: 'Not in the answers of changes, where the platform does not say: list the collections',
      }),
    ),
    ({ products }) => products?.map(product.view),
  ],
});

const collectionPage = fieldsOf<CollectionPage>()({
  collections: [Type.Array(Type.Object(collection.schemas)), ({ collections }) => collections.map(collection.view)],
  next: [Type.String({ description: 'Cursor of the next page; empty on the last one' }), ({ after }) => after],
});

export const productFields = product.schemas;
export const productView = product.view;
export const collectionFields = collection.schemas;
export const collectionView = collection.view;
export const collectionPageFields = collectionPage.schemas;
export const collectionPageView = collectionPage.view;

/** A product in a request of a client, without its new picture. */
interface WrittenProduct {
  readonly name: string;
  readonly description?: string;
  readonly currency?: string;
  readonly price?: string;
  readonly sale_price?: string;
  readonly url?: string;
  readonly retailer_id?: string;
  readonly is_hidden?: boolean;
  readonly image_urls?: readonly string[];
  readonly video_urls?: readonly string[];
  readonly compliance_category?: string;
  readonly compliance_info?: {
    readonly country_code_origin?: string;
    readonly importer_name?: string;
    readonly importer_address?: Readonly<
      Partial<Record<'street1' | 'street2' | 'city' | 'region' | 'postal_code' | 'country_code', string>>
    >;
  };
  readonly width?: number;
  readonly height?: number;
}

/** Returns the object without its undefined fields. */
const said = <T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };

const complianceOf = ({ country_code_origin, importer_name, importer_address }: NonNullable<WrittenProduct['compliance_info']>) => {
  const { postal_code: postalCode, country_code: countryCode, ...address } = importer_address ?? {};
  return said({
    originCountry: country_code_origin,
    importerName: importer_name,
    importerAddress: importer_address && said({ ...address, postalCode, countryCode }),
  });
};

export const productWish = (written: WrittenProduct): ProductWish => ({
  name: written.name,
  ...(said({
    description: written.description,
    price: written.price,
    currency: written.currency,
    salePrice: written.sale_price,
    retailerId: written.retailer_id,
    url: written.url,
    isHidden: written.is_hidden,
    keptImages: written.image_urls,
    keptVideos: written.video_urls,
    complianceCategory: written.compliance_category,
    compliance: written.compliance_info && complianceOf(written.compliance_info),
    width: written.width,
    height: written.height,
  }) as Partial<ProductWish>),
});
