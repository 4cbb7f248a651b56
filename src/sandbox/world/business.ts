/** Businesses: changes by their owners on the phone, and the catalog as customers see it. */
import { keepPicture } from '../account.ts';
import type { Collection, Product, Profile } from '../business/shape.ts';
import { SandboxError, type BusinessMethods, type BusinessView, type CollectionView, type ProductView } from '../interface.ts';
import type { Parts } from '../parts.ts';
import { knownPerson } from './people.ts';

const viewProduct = ({ images, videos, ...product }: Product): ProductView => ({
  ...product,
  images: images.map(({ url }) => url),
  videos: videos.map(({ url }) => url),
});

const viewCollection = (collection: Collection): CollectionView => ({ ...collection });

/** Returns the profile of a business. Throws a 404 if the person has none. */
const profileOf = ({ shops }: Parts, number: string): Profile => {
  const profile = shops.profile(number);
  if (!profile) throw new SandboxError(404, `${number} is no business`);
  return profile;
};

const picture = (parts: Parts, base64: string) => keepPicture(parts, Buffer.from(base64, 'base64'));

function view(parts: Parts, number: string, products: readonly Product[]): BusinessView {
  const { cover, ...profile } = profileOf(parts, number);
  const ids = new Set(products.map(({ id }) => id));
  const collections = parts.shops.collections(number).map((one) => ({ ...one, products: one.products.filter((id) => ids.has(id)) }));
  return {
    number,
    profile: { ...profile, ...(cover ? { cover: parts.media.url(cover.path) } : {}) },
    products: products.map(viewProduct),
    collections: collections.map(viewCollection),
  };
}

function putProduct(parts: Parts, number: string, { id, picture: file, ...change }: Parameters<BusinessMethods['putProduct']>[1]): Product {
  const { media, random, shops } = parts;
  const added = file === undefined ? undefined : picture(parts, file);
  const images = id === undefined ? [] : shops.product(number, id).images;
  const pictured = added ? { images: [...images, { id: random.id(), url: media.url(added.path) }] } : {};
  return id === undefined
    ? shops.addProduct(number, { ...change, ...pictured })
    : shops.changeProduct(number, id, { ...change, ...pictured });
}

export function businessMethods(parts: Parts): BusinessMethods {
  const { db, people, shops } = parts;
  const whole = (number: string): BusinessView => view(parts, number, shops.products(number));
  return {
    async changeBusiness(number, { cover, ...change }) {
      const person = people.ensure(number);
      db.atomically(() => {
        person.business = true;
        people.save(person);
        shops.setProfile(number, { ...change, ...(cover === undefined ? {} : { cover: picture(parts, cover) }) } as Partial<Profile>);
      });
      return whole(number);
    },
    business: whole,
    storefront: (number) =>
      view(
        parts,
        number,
        shops.products(number).filter(({ isHidden, status }) => !isHidden && status === 'APPROVED'),
      ),
    async putProduct(number, product) {
      profileOf(parts, number);
      return viewProduct(db.atomically(() => putProduct(parts, number, product)));
    },
    async dropProduct(number, id) {
      knownPerson(parts, number);
      if (!db.atomically(() => shops.dropProduct(number, id))) throw new SandboxError(404, `${number} has no product ${id.slice(0, 40)}`);
    },
    async putCollection(number, { id, name, products }) {
      profileOf(parts, number);
      const change = { ...(name === undefined ? {} : { name }), ...(products === undefined ? {} : { products }) };
      const put = (): Collection =>
        id === undefined ? shops.addCollection(number, name ?? '', products ?? []) : shops.changeCollection(number, id, change);
      return viewCollection(db.atomically(put));
    },
  };
}
