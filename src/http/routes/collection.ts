/** Collections of products of the account's catalog. */
import { collectionPageView, collectionView } from '#src/contract/views.ts';
import { mapResult, platformRefusals, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/business.ts';

const common = { credential: 'instance', tag: 'business', refusals: platformRefusals } as const;

const collectionNotFound = { example: 'collection not found' } as const;

/** The mark of calls that the platform's own client makes another way by now. */
export const mayBeGone = 'Not guaranteed: the platform may refuse it to linked devices';

export const collectionRoutes: readonly Route[] = [
  route({
    on: ['GET /business/catalog/collection/list'],
    operationId: 'listCollections',
    ...common,
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
    ...common,
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
    ...common,
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
    ...common,
    summary: `Delete a collection; its products stay. ${mayBeGone}`,
    params: shape.CollectionParams,
    answer: shape.DoneAnswer,
    refusals: { ...platformRefusals, notFound: collectionNotFound },
    run: async ({ gateway, id, params }) =>
      mapResult(await gateway.perform(id, 'collection.delete', { id: params.id }), () => ({ response: 'Deleted collection' })),
  }),
];
