/** Operations on the account itself, on pictures, on calls, and on businesses. */
import type {
  AccountLimits,
  BusinessCategory,
  BusinessProfile,
  Catalog,
  Collection,
  CollectionPage,
  Picture,
  PictureKind,
  PrivacySettings,
  Product,
  ProductWish,
  ProfileField,
} from '../model.ts';

export interface AccountOperations {
  /** Sets the presence of the account. Resolves when the stanza is written, because the platform does not answer it. */
  'account.presence': { readonly input: { readonly presence: 'available' | 'unavailable' }; readonly answer: null };
  /** Asks for the limits on beginning new chats. */
  'account.limits': { readonly input: null; readonly answer: AccountLimits };
  /** Asks for the current privacy settings. */
  'account.privacy': { readonly input: null; readonly answer: PrivacySettings };
  /** Changes the given privacy settings one by one, and returns all settings. A refusal names the setting that failed. */
  'account.changePrivacy': { readonly input: PrivacySettings; readonly answer: PrivacySettings };
  /** Sets the account's picture, a square JPEG; null removes the picture. The link then updates the record of the instance by `platform.identity`. */
  'account.picture': { readonly input: { readonly jpeg: Uint8Array | null }; readonly answer: null };
  /** Changes the profile name of the account. The link then updates the record of the instance by `platform.identity`. */
  'account.rename': { readonly input: { readonly name: string }; readonly answer: null };
}

export interface PictureOperations {
  /** Asks for the picture of a person or group, by chat id. A hidden or absent picture is an ordinary answer. */
  'picture.look': { readonly input: { readonly id: string; readonly kind: PictureKind }; readonly answer: Picture };
}

export interface CallOperations {
  /**
   * Rejects a ringing call: the call with this id, the call from this number, or the latest call if both are ''. Refuses with `notFound` if no such
   * call rings.
   */
  'call.reject': { readonly input: { readonly number: string; readonly id: string }; readonly answer: null };
  /** Places a call. Always refuses a valid number with `notSupported`. */
  'call.make': { readonly input: { readonly number: string }; readonly answer: null };
}

/** Operations on businesses. `owner`: a number or an id as a client writes it; '' for the account itself. */
export interface BusinessOperations {
  /** Asks for the profile of a business. Refuses with `notFound` for an account that is no business. */
  'business.profile': { readonly input: { readonly owner: string }; readonly answer: BusinessProfile };
  /** Asks for all categories that a profile may have. */
  'business.categories': { readonly input: null; readonly answer: readonly BusinessCategory[] };
  /**
   * Changes fields of the own profile, each in a separate request. A refused field therefore does not affect the other fields. Refuses only if no
   * field was changed. The `causes` of the refusal then contain the platform's answer for each field.
   */
  'business.changeProfile': {
    readonly input: Readonly<Partial<Record<ProfileField, string>>>;
    readonly answer: { readonly updated: readonly ProfileField[]; readonly failed: Readonly<Partial<Record<ProfileField, string>>> };
  };
  /** Asks for one page of a catalog. `after`: the cursor from the previous page; '' for the first page. */
  'catalog.list': { readonly input: { readonly owner: string; readonly after: string }; readonly answer: Catalog };
  'catalog.get': { readonly input: { readonly owner: string; readonly id: string }; readonly answer: Product };
  /** Adds a product to the own catalog, or changes the product with this id. `jpeg`: a new picture. */
  'catalog.save': {
    readonly input: { readonly id: string | null; readonly product: ProductWish; readonly jpeg: Uint8Array | null };
    readonly answer: Product;
  };
  'catalog.hide': { readonly input: { readonly id: string; readonly hidden: boolean }; readonly answer: null };
  /** Deletes a product. Refuses with `notFound` if the platform deleted nothing. */
  'catalog.delete': { readonly input: { readonly id: string }; readonly answer: null };
  /** Asks for one page of the account's own collections. `after` as in `catalog.list`. */
  'collection.list': { readonly input: { readonly after: string }; readonly answer: CollectionPage };
  'collection.create': { readonly input: { readonly name: string; readonly productIds: readonly string[] }; readonly answer: Collection };
  'collection.change': {
    readonly input: {
      readonly id: string;
      readonly name: string | null;
      readonly add: readonly string[];
      readonly remove: readonly string[];
    };
    readonly answer: Collection;
  };
  /** Deletes a collection. The products of the collection stay. */
  'collection.delete': { readonly input: { readonly id: string }; readonly answer: null };
}
