/** Businesses as the platform describes them: profile, products, collections. Texts are '' where the platform says nothing. */

export interface BusinessCategory {
  readonly id: string;
  readonly name: string;
}

/** Opening hours. `mode`: the platform's word, such as `open_24h`; `open` and `close` in minutes of the day, null where they mean nothing. */
export interface BusinessHours {
  readonly timezone: string;
  readonly days: readonly { readonly day: string; readonly mode: string; readonly open: number | null; readonly close: number | null }[];
}

export interface BusinessProfile {
  /** The version of the profile, as the platform counts it. */
  readonly tag: string;
  readonly description: string;
  readonly address: string;
  readonly email: string;
  readonly websites: readonly string[];
  readonly categories: readonly BusinessCategory[];
  /** Null when the business tells none. */
  readonly hours: BusinessHours | null;
  /** Address of the cover picture. */
  readonly cover: string;
}

/** Fields of a profile that the API changes. */
export const profileFields = ['description', 'address', 'email'] as const;

export type ProfileField = (typeof profileFields)[number];

export interface ProductImage {
  readonly id: string;
  /** In the size that was asked for. */
  readonly requested: string;
  readonly original: string;
  /** Pixels of the original; 0 when they are unknown. */
  readonly width: number;
  readonly height: number;
}

/** A product of a catalog. Prices are whole thousandths of the currency's unit, in digits. */
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
  /** What the platform's review says, in its own word. */
  readonly status: string;
  readonly canAppeal: boolean;
  readonly maxAvailable: number;
  readonly imageFetchStatus: string;
  readonly images: readonly ProductImage[];
  readonly videos: readonly string[];
}

/** What `importer_address` holds in the platform's language. */
export type ImporterAddress = Readonly<Partial<Record<'street1' | 'street2' | 'city' | 'region' | 'postalCode' | 'countryCode', string>>>;

/** Where a product comes from, which some countries want to know. */
export interface Compliance {
  readonly originCountry?: string;
  readonly importerName?: string;
  readonly importerAddress?: ImporterAddress;
}

/** What a client says of a product; of one that is changed, what is absent stays. */
export interface ProductWish {
  readonly name: string;
  readonly description?: string;
  readonly price?: string;
  readonly currency?: string;
  readonly salePrice?: string;
  readonly retailerId?: string;
  readonly url?: string;
  readonly isHidden?: boolean;
  /** Addresses of pictures that the platform has already, to be kept. */
  readonly keptImages?: readonly string[];
  readonly keptVideos?: readonly string[];
  readonly complianceCategory?: string;
  readonly compliance?: Compliance;
  /** Pixels of the pictures in the answer. */
  readonly width?: number;
  readonly height?: number;
}

export interface Catalog {
  /** Whose it is. */
  readonly owner: string;
  readonly cartEnabled: boolean;
  readonly source: string;
  readonly products: readonly Product[];
  /** Cursors of the neighbouring pages; '' where there is none. */
  readonly before: string;
  readonly after: string;
}

export interface Collection {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly canAppeal: boolean;
  /** null: not said, as after a change. */
  readonly products: readonly Product[] | null;
}

export interface CollectionPage {
  readonly collections: readonly Collection[];
  /** Cursor of the next page; '' on the last one. */
  readonly after: string;
}
