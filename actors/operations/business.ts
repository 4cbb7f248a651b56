/** Operations on businesses. `owner`: a number or an id as a client writes it; '' for the account itself. */
import type {
  BusinessCategory,
  BusinessProfile,
  Catalog,
  Collection,
  CollectionPage,
  Product,
  ProductWish,
  ProfileField,
} from '../model.ts';

export interface BusinessOperations {
  /** Asks for a profile. Refuses with `notFound` for an account that is no business. */
  'business.profile': { readonly input: { readonly owner: string }; readonly answer: BusinessProfile };
  /** Asks for all categories that a profile may have. */
  'business.categories': { readonly input: null; readonly answer: readonly BusinessCategory[] };
  /**
   * Changes fields of the own profile, each in a separate request, so a refused field does not affect the others. Refuses only if no field was
   * changed. `causes` then has the platform's answer for each field.
   */
  'business.changeProfile': {
    readonly input: Readonly<Partial<Record<ProfileField, string>>>;
    readonly answer: { readonly updated: readonly ProfileField[]; readonly failed: Readonly<Partial<Record<ProfileField, string>>> };
  };
  /** Asks for one page of a catalog. `after`: the cursor of the previous page; '' for the first. */
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
  /** Asks for one page of the own collections. */
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
