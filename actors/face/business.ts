/** What the gateway offers on businesses, beside their operations. */
import type { InstanceId, Product, ProductWish, Result } from '../model.ts';

export interface ProductInput {
  /** Null: a new product. */
  readonly id: string | null;
  readonly product: ProductWish;
  /** A new picture: an address, a data URL or base64; null for none. */
  readonly picture: string | null;
}

export interface BusinessFace {
  /** Adds a product to the account's catalog, or changes one. Refused like a file of a message when the picture is none. */
  saveProduct(id: InstanceId, input: ProductInput): Promise<Result<Product>>;
}
