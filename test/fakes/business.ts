/** Answers of operations on a business with a catalog. */
import type { AnswerOf, OperationName } from '#actors/gateway.ts';
import type { Product } from '#actors/model.ts';

export const product: Product = {
  id: '10000000000000001',
  name: 'Mug',
  description: 'Holds tea',
  price: '19900',
  currency: 'BRL',
  salePrice: '',
  retailerId: 'mug-1',
  url: 'https://example.com/mug',
  availability: 'in stock',
  isHidden: false,
  status: 'APPROVED',
  canAppeal: false,
  maxAvailable: 99,
  imageFetchStatus: 'FETCHED',
  images: [{ id: '1', requested: 'https://mmg.whatsapp.net/small', original: 'https://mmg.whatsapp.net/large', width: 720, height: 720 }],
  videos: [],
};

const category = { id: '2223', name: 'Grocery Store' };
const collection = { id: '10000000000000002', name: 'Kitchen', status: 'APPROVED', canAppeal: false, products: [product] };

export const businessAnswers: Readonly<Partial<{ [N in OperationName]: AnswerOf<N> }>> = {
  'business.profile': {
    tag: '1',
    description: 'Everything for the kitchen',
    address: 'Rua das Flores, 123',
    email: 'shop@example.com',
    websites: ['https://example.com'],
    categories: [category],
    hours: { timezone: 'America/Sao_Paulo', days: [{ day: 'mon', mode: 'specific_hours', open: 480, close: 1080 }] },
    cover: '',
  },
  'business.categories': [category],
  'business.changeProfile': { updated: ['description', 'address', 'email'], failed: {} },
  'catalog.list': {
    owner: '5511999999999@s.whatsapp.net',
    cartEnabled: true,
    source: '',
    products: [product, { ...product, id: '10000000000000003', price: '', currency: '' }],
    before: '',
    after: 'cursor',
  },
  'catalog.get': product,
  'catalog.hide': null,
  'catalog.delete': null,
  'collection.list': { collections: [collection], after: 'cursor' },
  'collection.create': { ...collection, products: null },
  'collection.change': { ...collection, products: null },
  'collection.delete': null,
};
