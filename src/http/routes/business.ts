/** Routes of business profiles, and of the catalog of the account with its products and collections. */
import {
  catalogView,
  categoryView,
  collectionPageView,
  collectionView,
  productView,
  productWish,
  profileView,
} from '#src/contract/views.ts';
import { answered, done, mapResult, performs, platformRefusals, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/business.ts';
import { pictureBodyLimit, pictureRefusals } from './account.ts';

// Collections of products of the account's catalog.

const tag = 'business';

const collectionNotFound = { example: 'collection not found' } as const;
const productNotFound = { example: 'product not found' } as const;
const noChange = 'one of name, add_product_ids, remove_product_ids is required';

/** The note in the summaries of requests that the platform's own client no longer uses. */
const mayBeGone = 'Not guaranteed: the platform may refuse it to linked devices';

const collectionRoutes: readonly Route[] = [
  performs({
    on: ['GET /business/catalog/collection/list'],
    operationId: 'listCollections',
    tag,
    summary: 'List the collections of the catalog, in pages',
    query: shape.CollectionsQuery,
    answer: shape.CollectionsAnswer,
    operation: 'collection.list',
    input: ({ query }) => ({ after: query.after ?? '' }),
    shown: (page) => ({ response: collectionPageView(page) }),
  }),
  performs({
    on: ['POST /business/catalog/collection/create'],
    operationId: 'createCollection',
    tag,
    summary: `Make a collection of products. ${mayBeGone}`,
    body: shape.CreateCollectionBody,
    answer: shape.CollectionAnswer,
    refusals: { notFound: productNotFound },
    operation: 'collection.create',
    input: ({ body }) => ({ name: body.name, productIds: body.product_ids }),
    shown: (collection) => ({ response: collectionView(collection) }),
  }),
  performs({
    on: ['PATCH /business/catalog/collection/:id'],
    operationId: 'changeCollection',
    tag,
    summary: `Rename a collection, add products to it, take products out of it. ${mayBeGone}`,
    params: shape.CollectionParams,
    body: shape.ChangeCollectionBody,
    answer: shape.CollectionAnswer,
    refusals: { notFound: collectionNotFound, invalid: { example: noChange } },
    operation: 'collection.change',
    input({ params: { id }, body }) {
      const { name = null, add_product_ids: add = [], remove_product_ids: remove = [] } = body;
      return name === null && add.length + remove.length === 0 ? refuse('invalid', noChange) : { id, name, add, remove };
    },
    shown: (collection) => ({ response: collectionView(collection) }),
  }),
  performs({
    on: ['DELETE /business/catalog/collection/:id'],
    operationId: 'deleteCollection',
    tag,
    summary: `Delete a collection; its products stay. ${mayBeGone}`,
    params: shape.CollectionParams,
    answer: shape.DoneAnswer,
    refusals: { notFound: collectionNotFound },
    operation: 'collection.delete',
    input: ({ params }) => ({ id: params.id }),
    shown: () => ({ response: 'Deleted collection' }),
  }),
];

const invalidPayload = { '*': 'invalid payload' } as const;

/** Makes the outcome of each field, for a change that was applied only in part or failed. */
const countsView = (updated: readonly string[], failed: Readonly<Record<string, string>>) => ({
  response: { ...Object.fromEntries(updated.map((field) => [field, 'updated'])), ...failed },
  updated: updated.length,
  failed: Object.keys(failed).length,
});

const profileRoutes: readonly Route[] = [
  performs({
    on: ['POST /business/get/profile'],
    operationId: 'getBusinessProfile',
    tag,
    summary: 'Show the profile of a business',
    body: shape.ProfileBody,
    answer: shape.ProfileAnswer,
    invalidTexts: invalidPayload,
    refusals: { notFound: { example: 'there is no business profile' } },
    operation: 'business.profile',
    input: ({ body }) => ({ owner: String(body.jid ?? '') }),
    shown: (profile) => ({ response: profileView(profile) }),
  }),
  performs({
    on: ['GET /business/get/categories'],
    operationId: 'listBusinessCategories',
    tag,
    summary: `List the categories that a business profile may name. ${mayBeGone}`,
    answer: shape.CategoriesAnswer,
    operation: 'business.categories',
    input: () => null,
    shown: (categories) => ({ response: categories.map(categoryView) }),
  }),
  route({
    on: ['POST /business/update/profile'],
    operationId: 'changeBusinessProfile',
    credential: 'instance',
    tag,
    summary: 'Change fields of the own business profile. Each field is a separate request. The status 207 means that some were refused',
    body: shape.UpdateProfileBody,
    examples: { body: { description: 'Flowers for every day', address: 'Rua das Flores, 123', email: 'shop@example.com' } },
    answer: shape.UpdateProfileAnswer,
    also: { 207: shape.UpdateProfileAnswer },
    refusals: {
      ...platformRefusals,
      refused: {
        fields: shape.updateCounts,
        details: ({ causes = [] }) => ({ response: { causes }, updated: 0, failed: causes.length }),
      },
      invalid: { example: 'one of description, address, email is required' },
    },
    failure: { fields: shape.updateCounts, details: () => countsView([], {}) },
    run: async ({ gateway, id, body }) => {
      const { description, address, email } = body;
      const wishes = Object.entries({ description, address, email }).filter(([, value]) => value !== undefined);
      if (wishes.length === 0) return refuse('invalid', 'one of description, address, email is required');
      const changed = await gateway.perform(id, 'business.changeProfile', Object.fromEntries(wishes));
      if (!changed.ok) return changed;
      const counts = countsView(changed.value.updated, changed.value.failed);
      return counts.failed === 0 ? done(counts) : answered(207, counts);
    },
  }),
];

const visibilityRoute = (path: 'show' | 'hide', operationId: string, summary: string, hidden: boolean): Route =>
  performs({
    on: [`POST /business/catalog/${path}`],
    operationId,
    tag,
    summary,
    body: shape.ProductBody,
    answer: shape.DoneAnswer,
    invalidTexts: invalidPayload,
    refusals: { notFound: productNotFound },
    operation: 'catalog.hide',
    input: ({ body }) => ({ id: body.id, hidden }),
    shown: () => ({ response: hidden ? 'Product hidden' : 'Product shown' }),
  });

const catalogRoutes: readonly Route[] = [
  performs({
    on: ['POST /business/catalog/list'],
    operationId: 'listProducts',
    tag,
    summary: 'List the products of a business, in pages of at most 100',
    body: shape.CatalogBody,
    answer: shape.CatalogAnswer,
    invalidTexts: invalidPayload,
    operation: 'catalog.list',
    input: ({ body }) => ({ owner: String(body.jid), after: body.after ?? '' }),
    shown: (catalog) => ({ response: catalogView(catalog) }),
  }),
  performs({
    on: ['POST /business/catalog/info'],
    operationId: 'getProduct',
    tag,
    summary: 'Show one product of a business',
    body: shape.ProductOfBody,
    answer: shape.ProductAnswer,
    invalidTexts: invalidPayload,
    refusals: { notFound: productNotFound },
    operation: 'catalog.get',
    input: ({ body }) => ({ owner: String(body.jid), id: body.id }),
    shown: (product) => ({ response: productView(product) }),
  }),
  route({
    on: ['POST /business/catalog/save'],
    operationId: 'saveProduct',
    credential: 'instance',
    tag,
    summary: `Add a product to the catalog, or change the one with this id; what a change does not name stays. ${mayBeGone}`,
    body: shape.SaveBody,
    examples: { body: { name: 'Mug', currency: 'BRL', price: '19900', image_url: 'https://example.com/mug.jpg' } },
    answer: shape.ProductAnswer,
    bodyLimit: pictureBodyLimit,
    refusals: {
      ...platformRefusals,
      ...pictureRefusals,
      notFound: productNotFound,
      invalid: { example: 'only one of image_data and image_url can be given' },
    },
    run: async ({ gateway, id, body }) => {
      const { id: productId = null, image_data: data, image_url: url, ...product } = body;
      if (data !== undefined && url !== undefined) return refuse('invalid', 'only one of image_data and image_url can be given');
      // An address belongs to `image_url`, and must be public.
      if (data !== undefined && /^\s*https?:/i.test(data)) return refuse('invalid', 'image_data must be base64 or a data URL');
      const saved = await gateway.saveProduct(id, { id: productId, product: productWish(product), picture: data ?? url ?? null });
      return mapResult(saved, (value) => ({ response: productView(value) }));
    },
  }),
  visibilityRoute('show', 'showProduct', `Show a product to customers. ${mayBeGone}`, false),
  visibilityRoute('hide', 'hideProduct', `Hide a product from customers. ${mayBeGone}`, true),
  performs({
    on: ['POST /business/catalog/delete'],
    operationId: 'deleteProduct',
    tag,
    summary: `Delete a product of the catalog. ${mayBeGone}`,
    body: shape.ProductBody,
    answer: shape.DoneAnswer,
    invalidTexts: invalidPayload,
    refusals: { notFound: productNotFound },
    operation: 'catalog.delete',
    input: ({ body }) => ({ id: body.id }),
    shown: () => ({ response: 'Deleted product' }),
  }),
];

export const businessRoutes: readonly Route[] = [...profileRoutes, ...catalogRoutes, ...collectionRoutes];
