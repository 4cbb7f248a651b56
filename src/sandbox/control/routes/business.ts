/** Routes for the profile, the products and the collections of a business, and for its catalog as a customer sees it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { BusinessView, CollectionView, ProductView, ProfileChange, Sandbox } from '../../interface.ts';
import { answers, Digits, Done, done, mediaBodyLimit, NumberParams } from '../contents.ts';

const tags = ['business'];

const Thousandths = Type.String({ pattern: '^\\d{0,18}$', description: 'a price in thousandths of the currency’s unit; empty for none' });
const File = Type.String({ maxLength: 20_000_000, description: 'a picture in base64' });
const Id = Type.String({ minLength: 1, maxLength: 64, description: 'an id of 1 to 64 characters' });
const Status = Type.Enum(['PENDING', 'APPROVED', 'REJECTED'], { description: 'what the platform’s review says' });

const Hours = Type.Object({
  timezone: Type.String({ maxLength: 64 }),
  days: Type.Array(
    Type.Object({
      day: Type.Enum(['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']),
      mode: Type.Enum(['open_24h', 'specific_hours', 'appointment_only']),
      open: Type.Optional(Type.Integer({ minimum: 0, maximum: 1440 })),
      close: Type.Optional(Type.Integer({ minimum: 0, maximum: 1440 })),
    }),
    { maxItems: 14 },
  ),
});

/** Makes the schemas of text fields. `names` contains the names of the fields, separated by spaces. */
const texts = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, Type.String()]));
const Addresses = Type.Array(Type.String(), { description: 'addresses on the media host' });

const Profile = Type.Object({
  ...texts('description address email'),
  websites: Type.Array(Type.String()),
  categories: Type.Array(Type.Object(texts('id name'))),
  hours: Type.Optional(Hours),
  cover: Type.Optional(Type.String({ description: 'address of the cover picture' })),
});
const Product = Type.Unsafe<ProductView>(
  Type.Object({
    ...texts('id name description'),
    price: Thousandths,
    currency: Type.String(),
    salePrice: Thousandths,
    ...texts('retailerId url'),
    isHidden: Type.Boolean(),
    status: Status,
    images: Addresses,
    videos: Addresses,
    complianceCategory: Type.String(),
    compliance: Type.Record(Type.String(), Type.String()),
  }),
);
const Collection = Type.Unsafe<CollectionView>(
  Type.Object({ ...texts('id name'), status: Status, products: Type.Array(Type.String(), { description: 'ids of products' }) }),
);
const Business = Type.Unsafe<BusinessView>(
  Type.Object({ number: Type.String(), profile: Profile, products: Type.Array(Product), collections: Type.Array(Collection) }),
);

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));

const ProfileBody = Type.Unsafe<ProfileChange>(
  Type.Object({
    description: text(512),
    address: text(256),
    email: text(128),
    websites: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 2 })),
    categories: Type.Optional(Type.Array(Type.Object({ id: Id, name: Type.String({ maxLength: 100 }) }), { maxItems: 3 })),
    hours: Type.Optional(Hours),
    cover: Type.Optional(File),
  }),
);

const productFields = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'a name of 1 to 256 characters' })),
  description: text(4096),
  price: Type.Optional(Thousandths),
  currency: Type.Optional(Type.String({ pattern: '^([A-Z]{3})?$', description: 'a currency in three capital letters' })),
  salePrice: Type.Optional(Thousandths),
  retailerId: text(256),
  url: text(2048),
  isHidden: Type.Optional(Type.Boolean()),
  status: Type.Optional(Status),
  picture: Type.Optional(File),
};

const ProductParams = Type.Object({ number: Digits, id: Id });

export const business: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.get(
    '/businesses/:number',
    {
      schema: {
        tags,
        summary: 'A business with its products and collections, as its owner sees it; with `as=customer` as everybody else does',
        params: NumberParams,
        querystring: Type.Object({ as: Type.Optional(Type.Enum(['owner', 'customer'])) }),
        response: answers(Business),
      },
    },
    async ({ params: { number }, query: { as } }) => (as === 'customer' ? sandbox.storefront(number) : sandbox.business(number)),
  );

  app.put(
    '/businesses/:number',
    {
      bodyLimit: mediaBodyLimit,
      schema: {
        tags,
        summary: 'The owner of the phone changes the profile of the business; what is absent stays',
        params: NumberParams,
        body: ProfileBody,
        response: answers(Business),
      },
    },
    async ({ params: { number }, body }) => sandbox.changeBusiness(number, body),
  );
};

export const catalogs: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.post(
    '/businesses/:number/products',
    {
      bodyLimit: mediaBodyLimit,
      schema: {
        tags,
        summary: 'The owner adds a product to the catalog',
        params: NumberParams,
        body: Type.Object(productFields),
        response: answers(Product),
      },
    },
    async ({ params: { number }, body }) => sandbox.putProduct(number, body),
  );

  app.put(
    '/businesses/:number/products/:id',
    {
      bodyLimit: mediaBodyLimit,
      schema: {
        tags,
        summary: 'The owner changes a product, or the platform reviews it',
        params: ProductParams,
        body: Type.Object(productFields),
        response: answers(Product),
      },
    },
    async ({ params: { number, id }, body }) => sandbox.putProduct(number, { id, ...body }),
  );

  app.delete(
    '/businesses/:number/products/:id',
    { schema: { tags, summary: 'The owner deletes a product', params: ProductParams, response: answers(Done) } },
    async ({ params: { number, id } }) => {
      await sandbox.dropProduct(number, id);
      return done;
    },
  );

  app.post(
    '/businesses/:number/collections',
    {
      schema: {
        tags,
        summary: 'The owner makes a collection of products, or changes the one with this id',
        params: NumberParams,
        body: Type.Object({
          id: Type.Optional(Id),
          name: text(100),
          products: Type.Optional(Type.Array(Id, { maxItems: 1000 })),
        }),
        response: answers(Collection),
      },
    },
    async ({ params: { number }, body }) => sandbox.putCollection(number, body),
  );
};
