/** Businesses as the platform describes them: profile, products, collections. A text is '' if the platform leaves the text out. */

export interface BusinessCategory {
  readonly id: string;
  readonly name: string;
}

/** Opening hours. `mode`: the platform's word, such as `open_24h`; `open` and `close`: minutes since midnight; null if the mode has no times. */
export interface BusinessHours {
  readonly timezone: string;
  readonly days: readonly { readonly day: string; readonly mode: string; readonly open: number | null; readonly close: number | null }[];
}

export interface BusinessProfile {
  /** The platform's version of the profile. */
  readonly tag: string;
  readonly description: string;
  readonly address: string;
  readonly email: string;
  readonly websites: readonly string[];
  readonly categories: readonly BusinessCategory[];
  /** The opening hours; null if the business publishes none. */
  readonly hours: BusinessHours | null;
  /** URL of the cover picture. */
  readonly cover: string;
}

/** Fields of a profile that the API can change. */
export const profileFields = ['description', 'address', 'email'] as const;

export type ProfileField = (typeof profileFields)[number];

export interface ProductImage {
  readonly id: string;
  /** URL of the picture in the requested size. */
  readonly requested: string;
  readonly original: string;
  /** The width and the height of the original; 0 if unknown. In pixels. */
  readonly width: number;
  readonly height: number;
}

/** A product of a catalog. Prices are digits, in thousandths of the currency unit. */
export interface Product {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly price: string;
  readonly currency: string;
  readonly salePrice: string;
  readonly retailerId: string;
  readonly url: string;
  readonly availability: string;
  readonly isHidden: boolean;
  /** The platform's word for the result of its review of the product. */
  readonly status: string;
  readonly canAppeal: boolean;
  readonly maxAvailable: number;
  readonly imageFetchStatus: string;
  readonly images: readonly ProductImage[];
  readonly videos: readonly string[];
}

/** The fields of `importer_address` in the platform's protocol. */
type ImporterAddress = Readonly<Partial<Record<'street1' | 'street2' | 'city' | 'region' | 'postalCode' | 'countryCode', string>>>;

/** The origin of a product. Some countries require these fields. */
export interface Compliance {
  readonly originCountry?: string;
  readonly importerName?: string;
  readonly importerAddress?: ImporterAddress;
}

/** The fields of a product that a client sets. On an update, absent fields keep their values. */
export interface ProductWish {
  readonly name: string;
  readonly description?: string;
  readonly price?: string;
  readonly currency?: string;
  readonly salePrice?: string;
  readonly retailerId?: string;
  readonly url?: string;
  readonly isHidden?: boolean;
  /** URLs of existing pictures that the product keeps. */
  readonly keptImages?: readonly string[];
  readonly keptVideos?: readonly string[];
  readonly complianceCategory?: string;
  readonly compliance?: Compliance;
  /** The requested width and height of the pictures in the answer. In pixels. */
  readonly width?: number;
  readonly height?: number;
}

export interface Catalog {
  /** The business that owns the catalog. */
  readonly owner: string;
  readonly cartEnabled: boolean;
  readonly source: string;
  readonly products: readonly Product[];
  /** Cursors of the previous and the next page; '' for none. */
  readonly before: string;
  readonly after: string;
}

export interface Collection {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly canAppeal: boolean;
  /** The products; null if the platform leaves the products out, as it does after a change of the collection. */
  readonly products: readonly Product[] | null;
}

export interface CollectionPage {
  readonly collections: readonly Collection[];
  /** Cursor of the next page; '' on the last page. */
  readonly after: string;
}
