/** Businesses: their profiles and catalogs, from the view of owners and of customers. */
import type { Digits } from './common.ts';

export interface BusinessProfile {
  readonly description: string;
  readonly address: string;
  readonly email: string;
  readonly websites: readonly string[];
  readonly categories: readonly { readonly id: string; readonly name: string }[];
  /**
   * `mode`: `open_24h`, `specific_hours` or `appointment_only`. With `specific_hours`, `open` and `close` are minutes since midnight. The business is closed on
   * a missing day.
   */
  readonly hours?: {
    readonly timezone: string;
    readonly days: readonly { readonly day: string; readonly mode: string; readonly open?: number; readonly close?: number }[];
  };
  /** Address of the cover picture. */
  readonly cover?: string;
}

type ReviewStatus = 'PENDING' | 'APPROVED' | 'REJECTED';

/** A product. `price` and `salePrice` are in thousandths of the currency's unit; '' for none. */
export interface ProductView {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly price: string;
  readonly currency: string;
  readonly salePrice: string;
  readonly retailerId: string;
  readonly url: string;
  readonly isHidden: boolean;
  /** Customers see only approved products that are not hidden. */
  readonly status: ReviewStatus;
  /** Addresses on the media host. */
  readonly images: readonly string[];
  readonly videos: readonly string[];
  readonly complianceCategory: string;
  readonly compliance: Readonly<Record<string, string>>;
}

export interface CollectionView {
  readonly id: string;
  readonly name: string;
  readonly status: ReviewStatus;
  /** Ids of products. */
  readonly products: readonly string[];
}

export interface BusinessView {
  readonly number: Digits;
  readonly profile: BusinessProfile;
  readonly products: readonly ProductView[];
  readonly collections: readonly CollectionView[];
}

/** A change of the profile. Absent fields stay unchanged. `cover` is a picture in base64; '' removes the cover. */
export type ProfileChange = Partial<Omit<BusinessProfile, 'cover'>> & { readonly cover?: string };

/** A change of a product. `picture` adds a picture in base64. */
type ProductChange = Partial<Omit<ProductView, 'id' | 'images' | 'videos'>> & { readonly picture?: string };

export interface BusinessMethods {
  /**
   * Changes the profile of the business for the owner of the phone. A person without a business gets one, and the phone gets the app for
   * businesses.
   */
  changeBusiness(number: Digits, change: ProfileChange): Promise<BusinessView>;
  /** Returns the whole business as its owner sees it. */
  business(number: Digits): BusinessView;
  /** Returns the view of a customer: the approved products that are not hidden, with their collections. */
  storefront(number: Digits): BusinessView;
  /** Adds or changes a product for the owner. Can also set the result of the platform's review. */
  putProduct(number: Digits, product: ProductChange & { readonly id?: string }): Promise<ProductView>;
  dropProduct(number: Digits, id: string): Promise<void>;
  putCollection(
    number: Digits,
    collection: { readonly id?: string; readonly name?: string; readonly products?: readonly string[] },
  ): Promise<CollectionView>;
}
