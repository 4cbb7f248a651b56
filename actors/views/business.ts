/** Gateway methods for businesses, in addition to the operations. */
import type { InstanceId, Product, ProductWish, Result } from '../model.ts';

export interface ProductInput {
  /** The id of the product to change; null for a new product. */
  readonly id: string | null;
  readonly product: ProductWish;
  /** A new picture: a URL, a data URL or base64; null for none. */
  readonly picture: string | null;
}

export interface BusinessFace {
  /** Adds a product to the account's catalog, or changes one. Refuses like a file of a message if the picture is not valid. */
  saveProduct(id: InstanceId, input: ProductInput): Promise<Result<Product>>;
}
