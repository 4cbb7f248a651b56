/** The types of a business: its profile, its products, its collections. */
import type { BusinessProfile, CollectionView, ProductView } from '../face.ts';
import type { Picture } from '../people.ts';

export type Hours = NonNullable<BusinessProfile['hours']>;

/** `cover`: a picture of the media host. */
export type Profile = Omit<BusinessProfile, 'cover'> & { readonly cover?: Picture };

/** A picture or video of a product, on the media host. */
export interface ProductFile {
  readonly id: string;
  readonly url: string;
}

/** The names in `compliance` are those of the elements, those of the address with `importer_address.` before them. */
export type Product = Omit<ProductView, 'images' | 'videos'> & {
  readonly images: readonly ProductFile[];
  readonly videos: readonly ProductFile[];
};

export type Collection = CollectionView;

/** The order of a customer, with the prices of that moment. */
export interface Order {
  readonly id: string;
  /** The token that allows its holder to read the order. */
  readonly token: string;
  readonly lines: readonly { readonly product: Product; readonly quantity: number }[];
  /** Thousandths; 0 where nothing has a price. */
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

/** The category of what is no business. */
export const noBusiness = { id: '1223524174334504', name: 'Not a Business' } as const;
