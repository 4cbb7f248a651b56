/** The form of businesses in the interface: profiles, catalogs, products, collections. */
import type {
  BusinessCategory,
  BusinessProfile,
  Catalog,
  Channel,
  ChannelPicture,
  ChannelText,
  Collection,
  CollectionPage,
  Product,
  ProductImage,
  ProductWish,
} from '#actors/model.ts';

export const categoryView = ({ id, name }: BusinessCategory) => ({ id, localized_display_name: name });

export const profileView = ({ tag, description, address, email, websites, categories, hours, cover }: BusinessProfile) => ({
  tag,
  description,
  address,
  email,
  websites,
  categories: categories.map(categoryView),
  ...(hours === null
    ? {}
    : {
        business_hours: {
          timezone: hours.timezone,
          config: hours.days.map(({ day, mode, open, close }) => ({ day_of_week: day, mode, open_time: open, close_time: close })),
        },
      }),
  ...(cover === '' ? {} : { cover_photo: cover }),
});

const idOf = (jid: string) => {
  const [user = '', server = ''] = jid.split('@');
  return { User: user, RawAgent: 0, Device: 0, Integrator: 0, Server: server };
};

const imageView = ({ id, requested, original, width, height }: ProductImage) => ({
  ID: id,
  OriginalDimensions: { Height: height, Width: width },
  RequestImageUrl: requested,
  OriginalImageUrl: original,
});

const listedProductView = (product: Product) => ({
  ID: product.id,
  Name: product.name,
  Description: product.description,
  Price: product.price === '' ? null : { Amount: product.price, Currency: product.currency },
  SalePrice: product.salePrice,
  RetailerID: product.retailerId,
  Url: product.url,
  Availability: product.availability,
  IsHidden: product.isHidden,
  StatusInfo: { Status: product.status, CanAppeal: product.canAppeal },
  MaxAvailable: product.maxAvailable,
  ImageFetchStatus: product.imageFetchStatus,
  Images: product.images.map(imageView),
});

export const catalogView = ({ owner, cartEnabled, source, products, before, after }: Catalog) => ({
  JID: idOf(owner),
  CartEnabled: cartEnabled,
  Source: source,
  Products: products.map(listedProductView),
  Paging: { Before: before, After: after },
});

/** Makes the view of a product, alone or as part of a collection. */
export const productView = ({ images, videos, ...product }: Product) => ({
  id: product.id,
  name: product.name,
  description: product.description,
  price: product.price,
  currency: product.currency,
  sale_price: product.salePrice,
  url: product.url,
  retailer_id: product.retailerId,
  is_hidden: product.isHidden,
  availability: product.availability,
  status: product.status,
  image_urls: images.map(({ original, requested }) => original || requested),
  video_urls: videos,
});

export const collectionView = ({ id, name, status, products }: Collection) => ({
  id,
  name,
  status,
  ...(products === null ? {} : { products: products.map(productView) }),
});

export const collectionPageView = ({ collections, after }: CollectionPage) => ({
  collections: collections.map(collectionView),
  next: after,
});

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

// The form of channels in the interface: the platform's own field names, words in lower case, numbers and times as texts.

/** Returns the id of a channel from a whole id or its digits; '' for other texts. */
export const channelIdOf = (written: string): string => {
  const digits = /^(\d{5,25})(?:@newsletter)?$/.exec(written.trim())?.[1];
  return digits === undefined ? '' : `${digits}@newsletter`;
};

/** Returns the code of a channel from its link or from the code itself; '' for other texts. */
export const channelCodeOf = (written: string): string =>
  /^(?:(?:https?:\/\/)?(?:www\.)?whatsapp\.com\/channel\/)?([\w-]{8,64})\/?(?:[?#].*)?$/.exec(written.trim())?.[1] ?? '';

const textView = ({ text, id, at }: ChannelText) => ({ text, id, update_time: at === null ? '' : String(at * 1000) });

const pictureView = (picture: ChannelPicture, type: 'image' | 'preview') => ({
  url: `https://pps.whatsapp.net${picture.path}`,
  id: picture.id,
  type,
  direct_path: picture.path,
});

/** Returns the view of a channel. Facts that the platform did not send are absent. */
export const channelView = (channel: Channel) => ({
  id: channel.id,
  state: { type: channel.state },
  thread_metadata: {
    ...(channel.createdAt === null ? {} : { creation_time: String(Math.floor(channel.createdAt / 1000)) }),
    invite: channel.invite,
    name: textView(channel.name),
    description: textView(channel.description),
    ...(channel.handle === null ? {} : { handle: channel.handle }),
    ...(channel.subscribers === null ? {} : { subscribers_count: String(channel.subscribers) }),
    verification: channel.verification,
    ...(channel.picture === null ? {} : { picture: pictureView(channel.picture, 'image') }),
    ...(channel.preview === null ? {} : { preview: pictureView(channel.preview, 'preview') }),
    ...(channel.reactions === '' ? {} : { settings: { reaction_codes: { value: channel.reactions } } }),
  },
  ...(channel.role === null
    ? {}
    : {
        viewer_metadata: {
          role: channel.role,
          ...(channel.muted === null ? {} : { mute: channel.muted ? ('on' as const) : ('off' as const) }),
        },
      }),
});
