/** Profiles of businesses, and the catalog of the account. Collections have rows of their own. */
import {
  catalogView,
  categoryView,
  collectionPageView,
  collectionView,
  productView,
  productWish,
  profileView,
} from '#src/contract/views.ts';
import { answered, done, mapResult, platformRefusals, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/business.ts';
import { pictureBodyLimit, pictureRefusals } from './account.ts';

// Collections of products of the account's catalog.

const ofCollections = { credential: 'instance', tag: 'business', refusals: platformRefusals } as const;

const collectionNotFound = { example: 'collection not found' } as const;

/** The mark of calls that the platform's own client makes another way by now. */
const mayBeGone = 'Not guaranteed: the platform may refuse it to linked devices';

const collectionRoutes: readonly Route[] = [
  route({
    on: ['GET /business/catalog/collection/list'],
    operationId: 'listCollections',
    ...ofCollections,
    summary: 'List the collections of the catalog, in pages',
    query: shape.CollectionsQuery,
    answer: shape.CollectionsAnswer,
    run: async ({ gateway, id, query }) =>
      mapResult(await gateway.perform(id, 'collection.list', { after: query.after ?? '' }), (page) => ({
        response: collectionPageView(page),
      })),
  }),
  route({
    on: ['POST /business/catalog/collection/create'],
    operationId: 'createCollection',
    ...ofCollections,
    summary: `Make a collection of products. ${mayBeGone}`,
    body: shape.CreateCollectionBody,
    answer: shape.CollectionAnswer,
    refusals: { ...platformRefusals, notFound: { example: 'product not found' } },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'collection.create', { name: body.name, productIds: body.product_ids }), (collection) => ({
        response: collectionView(collection),
      })),
  }),
  route({
    on: ['PATCH /business/catalog/collection/:id'],
    operationId: 'changeCollection',
    ...ofCollections,
    summary: `Rename a collection, add products to it, take products out of it. ${mayBeGone}`,
    params: shape.CollectionParams,
    body: shape.ChangeCollectionBody,
    answer: shape.CollectionAnswer,
    refusals: {
      ...platformRefusals,
      notFound: collectionNotFound,
      invalid: { example: 'one of name, add_product_ids, remove_product_ids is required' },
    },
    run: async ({ gateway, id, params, body }) => {
      const { name = null, add_product_ids: add = [], remove_product_ids: remove = [] } = body;
      if (name === null && add.length + remove.length === 0)
        return refuse('invalid', 'one of name, add_product_ids, remove_product_ids is required');
      return mapResult(await gateway.perform(id, 'collection.change', { id: params.id, name, add, remove }), (collection) => ({
        response: collectionView(collection),
      }));
    },
  }),
  route({
    on: ['DELETE /business/catalog/collection/:id'],
    operationId: 'deleteCollection',
    ...ofCollections,
    summary: `Delete a collection; its products stay. ${mayBeGone}`,
    params: shape.CollectionParams,
    answer: shape.DoneAnswer,
    refusals: { ...platformRefusals, notFound: collectionNotFound },
    run: async ({ gateway, id, params }) =>
      mapResult(await gateway.perform(id, 'collection.delete', { id: params.id }), () => ({ response: 'Deleted collection' })),
  }),
];

const common = { credential: 'instance', tag: 'business' } as const;
const invalidPayload = { '*': 'invalid payload' } as const;
const productNotFound = { example: 'product not found' } as const;

/** The outcome of each field of a change that was applied in part, or not at all. */
const countsView = (updated: readonly string[], failed: Readonly<Record<string, string>>) => ({
  response: { ...Object.fromEntries(updated.map((field) => [field, 'updated'])), ...failed },
  updated: updated.length,
  failed: Object.keys(failed).length,
});

const profileRoutes: readonly Route[] = [
  route({
    on: ['POST /business/get/profile'],
    operationId: 'getBusinessProfile',
    ...common,
    summary: 'Show the profile of a business',
    body: shape.ProfileBody,
    answer: shape.ProfileAnswer,
    invalidTexts: invalidPayload,
    refusals: { ...platformRefusals, notFound: { example: 'there is no business profile' } },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'business.profile', { owner: String(body.jid ?? '') }), (profile) => ({
        response: profileView(profile),
      })),
  }),
  route({
    on: ['GET /business/get/categories'],
    operationId: 'listBusinessCategories',
    ...common,
    summary: `List the categories that a business profile may name. ${mayBeGone}`,
    answer: shape.CategoriesAnswer,
    refusals: platformRefusals,
    run: async ({ gateway, id }) =>
      mapResult(await gateway.perform(id, 'business.categories', null), (categories) => ({ response: categories.map(categoryView) })),
  }),
  route({
    on: ['POST /business/update/profile'],
    operationId: 'changeBusinessProfile',
    ...common,
    summary: 'Change fields of the own business profile; each field is a request of its own, and 207 says that some were refused',
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
  route({
    on: [`POST /business/catalog/${path}`],
    operationId,
    ...common,
    summary,
    body: shape.ProductBody,
    answer: shape.DoneAnswer,
    invalidTexts: invalidPayload,
    refusals: { ...platformRefusals, notFound: productNotFound },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'catalog.hide', { id: body.id, hidden }), () => ({
        response: hidden ? 'Product hidden' : 'Product shown',
      })),
  });

const catalogRoutes: readonly Route[] = [
  route({
    on: ['POST /business/catalog/list'],
    operationId: 'listProducts',
    ...common,
    summary: 'List the products of a business, in pages of at most 100',
    body: shape.CatalogBody,
    answer: shape.CatalogAnswer,
    invalidTexts: invalidPayload,
    refusals: platformRefusals,
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'catalog.list', { owner: String(body.jid), after: body.after ?? '' }), (catalog) => ({
        response: catalogView(catalog),
      })),
  }),
  route({
    on: ['POST /business/catalog/info'],
    operationId: 'getProduct',
    ...common,
    summary: 'Show one product of a business',
    body: shape.ProductOfBody,
    answer: shape.ProductAnswer,
    invalidTexts: invalidPayload,
    refusals: { ...platformRefusals, notFound: productNotFound },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'catalog.get', { owner: String(body.jid), id: body.id }), (product) => ({
        response: productView(product),
      })),
  }),
  route({
    on: ['POST /business/catalog/save'],
    operationId: 'saveProduct',
    ...common,
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
      // An address is for image_url, where it has to be a public one.
      if (data !== undefined && /^\s*https?:/i.test(data)) return refuse('invalid', 'image_data must be base64 or a data URL');
      const saved = await gateway.saveProduct(id, { id: productId, product: productWish(product), picture: data ?? url ?? null });
      return mapResult(saved, (value) => ({ response: productView(value) }));
    },
  }),
  visibilityRoute('show', 'showProduct', `Show a product to customers. ${mayBeGone}`, false),
  visibilityRoute('hide', 'hideProduct', `Hide a product from customers. ${mayBeGone}`, true),
  route({
    on: ['POST /business/catalog/delete'],
    operationId: 'deleteProduct',
    ...common,
    summary: `Delete a product of the catalog. ${mayBeGone}`,
    body: shape.ProductBody,
    answer: shape.DoneAnswer,
    invalidTexts: invalidPayload,
    refusals: { ...platformRefusals, notFound: productNotFound },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.perform(id, 'catalog.delete', { id: body.id }), () => ({ response: 'Deleted product' })),
  }),
];

export const businessRoutes: readonly Route[] = [...profileRoutes, ...catalogRoutes, ...collectionRoutes];
