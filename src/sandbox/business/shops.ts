/** The profiles, products and collections of businesses, with their storage. */
import { SandboxError, type Digits } from '../interface.ts';
import type { Random } from '../random.ts';
import type { Records } from '../store/database.ts';
import { emptyProduct, emptyProfile, type Collection, type Order, type Product, type Profile } from './shape.ts';

const maxProducts = 5000;
const maxCollections = 500;

interface Shop {
  profile: Profile | undefined;
  /** Products by their ids, newest last. */
  readonly products: Map<string, Product>;
  readonly collections: Map<string, Collection>;
}

/** A stored row: a value with its owner. `at` counts up with each new row and defines the order. */
interface Owned<T> {
  readonly owner: Digits;
  readonly at: number;
  readonly value: T;
}

export class Shops {
  readonly #records: Records;
  readonly #random: Random;
  readonly #shops = new Map<Digits, Shop>();
  #at = 0;

  constructor(records: Records, random: Random) {
    this.#records = records;
    this.#random = random;
    for (const { owner, value } of records.all<Owned<Profile>>('profile')) this.#shop(owner).profile = value;
    const inOrder = <T>(kind: string): readonly Owned<T>[] => records.all<Owned<T>>(kind).toSorted((a, b) => a.at - b.at);
    for (const { owner, at, value } of inOrder<Product>('product')) {
      this.#shop(owner).products.set(value.id, value);
      this.#at = Math.max(this.#at, at);
    }
    for (const { owner, value } of inOrder<Collection>('collection')) this.#shop(owner).collections.set(value.id, value);
  }

  /** Returns the profile; undefined for a person without a business. */
  profile(owner: Digits): Profile | undefined {
    return this.#shops.get(owner)?.profile;
  }

  setProfile(owner: Digits, change: Partial<Profile>): Profile {
    const shop = this.#shop(owner);
    shop.profile = { ...emptyProfile, ...shop.profile, ...change };
    this.#put('profile', owner, owner, shop.profile);
    return shop.profile;
  }

  /** Returns the products of a shop, newest first, as the platform lists them. */
  products(owner: Digits): readonly Product[] {
    return [...(this.#shops.get(owner)?.products.values() ?? [])].toReversed();
  }

  product(owner: Digits, id: string): Product {
    const product = this.#shops.get(owner)?.products.get(id);
    if (!product) throw new SandboxError(404, 'item-not-found');
    return product;
  }

  addProduct(owner: Digits, given: Partial<Product>): Product {
    const { products } = this.#shop(owner);
    if (products.size >= maxProducts) throw new SandboxError(406, 'not-acceptable');
    const product = { ...emptyProduct, ...given, id: given.id ?? this.#newId() };
    products.set(product.id, product);
    this.#put('product', `${owner}/${product.id}`, owner, product);
    return product;
  }

  changeProduct(owner: Digits, id: string, change: Partial<Omit<Product, 'id'>>): Product {
    const product = { ...this.product(owner, id), ...change };
    this.#shop(owner).products.set(id, product);
    this.#put('product', `${owner}/${id}`, owner, product);
    return product;
  }

  /** Deletes a product, and removes it from the collections that contain it. Returns false if the shop does not have the product. */
  dropProduct(owner: Digits, id: string): boolean {
    const shop = this.#shop(owner);
    if (!shop.products.delete(id)) return false;
    this.#records.drop('product', `${owner}/${id}`);
    for (const { id: collection, products } of shop.collections.values())
      if (products.includes(id)) this.changeCollection(owner, collection, { products: products.filter((one) => one !== id) });
    return true;
  }

  collections(owner: Digits): readonly Collection[] {
    return [...(this.#shops.get(owner)?.collections.values() ?? [])];
  }

  collection(owner: Digits, id: string): Collection {
    const collection = this.#shops.get(owner)?.collections.get(id);
    if (!collection) throw new SandboxError(404, 'item-not-found');
    return collection;
  }

  addCollection(owner: Digits, name: string, products: readonly string[]): Collection {
    const { collections } = this.#shop(owner);
    if (collections.size >= maxCollections) throw new SandboxError(406, 'not-acceptable');
    const id = this.#newId();
    const collection: Collection = { id, name: checkName(name), status: 'APPROVED', products: this.#checked(owner, products) };
    collections.set(id, collection);
    this.#put('collection', `${owner}/${id}`, owner, collection);
    return collection;
  }

  changeCollection(owner: Digits, id: string, { name, products }: Partial<Pick<Collection, 'name' | 'products'>>): Collection {
    const known = this.collection(owner, id);
    const collection = {
      ...known,
      ...(name === undefined ? {} : { name: checkName(name) }),
      ...(products === undefined ? {} : { products: this.#checked(owner, products) }),
    };
    this.#shop(owner).collections.set(id, collection);
    this.#put('collection', `${owner}/${id}`, owner, collection);
    return collection;
  }

  dropCollection(owner: Digits, id: string): void {
    this.collection(owner, id);
    this.#shop(owner).collections.delete(id);
    this.#records.drop('collection', `${owner}/${id}`);
  }

  addOrder(lines: Order['lines']): Order {
    const priced = lines.filter(({ product }) => product.price !== '');
    const total = priced.reduce((sum, { product, quantity }) => sum + Number(product.salePrice || product.price) * quantity, 0);
    const token = this.#random.bytes(24).toString('base64');
    const order: Order = { id: this.#newId(), token, lines, total, currency: priced[0]?.product.currency ?? '' };
    this.#records.put('order', order.id, order);
    return order;
  }

  order(id: string, token: string): Order {
    const order = this.#records.get<Order>('order', id);
    if (order?.token !== token) throw new SandboxError(404, 'item-not-found');
    return order;
  }

  /** Makes an id of sixteen digits, like the ids of the platform. */
  #newId(): string {
    return `10${this.#random.bytes(6).readUIntBE(0, 6).toString().padStart(14, '0').slice(-14)}`;
  }

  #checked(owner: Digits, products: readonly string[]): readonly string[] {
    for (const id of products) if (!this.#shops.get(owner)?.products.has(id)) throw new SandboxError(404, 'item-not-found');
    return [...new Set(products)];
  }

  #shop(owner: Digits): Shop {
    const known = this.#shops.get(owner);
    if (known) return known;
    const shop: Shop = { profile: undefined, products: new Map(), collections: new Map() };
    this.#shops.set(owner, shop);
    return shop;
  }

  #put(kind: string, id: string, owner: Digits, value: unknown): void {
    const at = this.#records.get<Owned<unknown>>(kind, id)?.at ?? ++this.#at;
    this.#records.put(kind, id, { owner, at, value });
  }
}

function checkName(name: string): string {
  if (name.trim() === '' || name.length > 100) throw new SandboxError(400, 'bad-request');
  return name;
}
