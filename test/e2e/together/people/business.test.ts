/** Tests businesses: the profile, the catalog and its collections through the API, as the platform stores them and customers see them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { BusinessView, ProductView } from '#src/sandbox/interface.ts';
import type { Account } from '#test/support/account.ts';
import { picked, type Json } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';

const jpeg = (
  await sharp({ create: { width: 40, height: 20, channels: 3, background: 'teal' } })
    .jpeg()
    .toBuffer()
).toString('base64');
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  await scene.platform.sandbox.changeBusiness(contact, { description: 'Theirs' });
  await scene.platform.sandbox.changeBusiness(account.number, {
    description: 'Mugs',
    websites: ['https://one.example', 'https://two.example'],
    categories: [
      { id: '2223', name: 'Grocery Store' },
      { id: '273819889375819', name: 'Restaurant' },
    ],
    hours: { timezone: 'America/Sao_Paulo', days: [{ day: 'mon', mode: 'specific_hours', open: 480, close: 1080 }] },
  });
});
after(() => scene.close());

const ask = async (call: string, body?: Json, status = 200): Promise<Json> => {
  const [method = '', path = ''] = call.split(' ');
  const answered = await account.call(method, `/business${path}`, body);
  assert.equal(answered.status, status, JSON.stringify(answered.body));
  return answered.body;
};

const own = (): BusinessView => scene.platform.sandbox.business(account.number);
const stored = (id: unknown): ProductView => own().products.find((one) => one.id === id)!;
const me = (): string => `${account.number}@s.whatsapp.net`;
const save = async (body: Json): Promise<Json> => (await ask('POST /catalog/save', body))['response'] as Json;

test('business profile: the answer has all fields of the platform, also those that the library drops', async () => {
  const { response } = await ask('POST /get/profile', {});
  assert.deepEqual(response, {
    tag: '1',
    description: 'Mugs',
    address: '',
    email: '',
    websites: ['https://one.example', 'https://two.example'],
    categories: [
      { id: '2223', localized_display_name: 'Grocery Store' },
      { id: '273819889375819', localized_display_name: 'Restaurant' },
    ],
    business_hours: {
      timezone: 'America/Sao_Paulo',
      config: [{ day_of_week: 'mon', mode: 'specific_hours', open_time: 480, close_time: 1080 }],
    },
  });
  for (const jid of [contact, `${contact}@s.whatsapp.net`])
    assert.equal(((await ask('POST /get/profile', { jid }))['response'] as Json)['description'], 'Theirs');
});

test('business profile: fields are changed one by one, and a refused field does not affect the others', async () => {
  const whole = await ask('POST /update/profile', {
    description: 'Mugs and cups',
    address: 'Rua das Flores, 123',
    email: 'shop@example.com',
  });
  assert.deepEqual(whole, { response: { description: 'updated', address: 'updated', email: 'updated' }, updated: 3, failed: 0 });
  assert.deepEqual(picked(own().profile, { description: 0, address: 0, email: 0 }), {
    description: 'Mugs and cups',
    address: 'Rua das Flores, 123',
    email: 'shop@example.com',
  });
  const notAccepted = 'it does not accept the request in this form, or one of its values (400 bad-request)';
  const part = await ask('POST /update/profile', { description: 'Cups', email: 'shop@nowhere' }, 207);
  assert.deepEqual(part, { response: { description: 'updated', email: notAccepted }, updated: 1, failed: 1 });
  assert.deepEqual(picked(own().profile, { description: 0, email: 0 }), { description: 'Cups', email: 'shop@example.com' });
  const none = await ask('POST /update/profile', { email: 'shop@nowhere' }, 500);
  assert.deepEqual(picked(none, { error: 0, provider_code: 0, updated: 0, failed: 0, response: 0 }), {
    error: `the platform refused to change the business profile: email: ${notAccepted}`,
    provider_code: 400,
    updated: 0,
    failed: 1,
    response: { causes: [`email: ${notAccepted}`] },
  });
});

test('business categories: the answer lists all categories of the platform', async () => {
  const categories = (await ask('GET /get/categories'))['response'] as readonly Json[];
  assert.deepEqual(categories[2], { id: '273819889375819', localized_display_name: 'Restaurant' });
});

test('catalog save: a new product is stored with a picture from base64, and with every field of the platform', async () => {
  const product = await save({
    name: 'Mug',
    description: 'Holds tea',
    price: '19900',
    currency: 'BRL',
    sale_price: '14900',
    url: 'https://example.com/mug',
    retailer_id: 'mug-1',
    image_data: png,
    compliance_category: 'DEFAULT',
    compliance_info: {
      country_code_origin: 'BR',
      importer_name: 'Ana',
      importer_address: { street1: 'One', city: 'Recife', postal_code: '1' },
    },
  });
  const there = stored(product['id']);
  assert.deepEqual(picked(there, { ...there, id: 0 }), {
    id: product['id'],
    name: 'Mug',
    description: 'Holds tea',
    price: '19900',
    currency: 'BRL',
    salePrice: '14900',
    retailerId: 'mug-1',
    url: 'https://example.com/mug',
    isHidden: false,
    status: 'PENDING',
    images: there.images,
    videos: [],
    complianceCategory: 'DEFAULT',
    compliance: {
      country_code_origin: 'BR',
      importer_name: 'Ana',
      'importer_address.street1': 'One',
      'importer_address.city': 'Recife',
      'importer_address.postal_code': '1',
    },
  });
  assert.equal(there.images.length, 1);
  assert.deepEqual(product['image_urls'], there.images);
  assert.deepEqual(picked(product, { price: 0, sale_price: 0, status: 0, is_hidden: 0 }), {
    price: '19900',
    sale_price: '14900',
    status: 'PENDING',
    is_hidden: false,
  });
});

test('catalog save: a request with an id changes the product, and keeps the fields that it does not name', async () => {
  const { id } = own().products[0]!;
  const before = stored(id);
  await save({ id, name: 'Big mug' });
  assert.deepEqual(stored(id), { ...before, name: 'Big mug' });
  const [kept = ''] = before.images;
  const two = await save({ id, name: 'Big mug', price: '25000', image_urls: [kept], image_data: `data:image/jpeg;base64,${jpeg}` });
  assert.equal((two['image_urls'] as readonly string[]).length, 2);
  assert.equal(stored(id).images[0], kept);
  const replaced = await save({ id, name: 'Big mug', image_data: png });
  assert.deepEqual([(replaced['image_urls'] as readonly string[]).length, stored(id).price], [1, '25000']);
  assert.equal((await ask('POST /catalog/save', { id: '404', name: 'None' }, 404))['error'], 'product not found');
});

test('catalog save: a product without a picture is stored, although the library cannot send it', async () => {
  const product = await save({ name: 'Voucher', is_hidden: true });
  assert.deepEqual(picked(stored(product['id']), { images: 0, isHidden: 0, price: 0 }), { images: [], isHidden: true, price: '' });
});

test('catalog show, hide, info: customers see a product according to its review and its visibility', async () => {
  const { sandbox } = scene.platform;
  const { id } = own().products.find(({ name }) => name === 'Big mug')!;
  const seen = (): boolean => sandbox.storefront(account.number).products.some((one) => one.id === id);
  assert.equal(seen(), false, 'it is not reviewed yet');
  await sandbox.putProduct(account.number, { id, status: 'APPROVED' });
  assert.equal(seen(), true);
  assert.deepEqual(await ask('POST /catalog/hide', { id }), { response: 'Product hidden' });
  assert.equal(seen(), false);
  assert.equal(((await ask('POST /catalog/info', { jid: me(), id }))['response'] as Json)['is_hidden'], true);
  assert.deepEqual(await ask('POST /catalog/show', { id }), { response: 'Product shown' });
  assert.equal(seen(), true);
  const info = (await ask('POST /catalog/info', { jid: me(), id }))['response'] as Json;
  assert.deepEqual(picked(info, { id: 0, name: 0, price: 0, currency: 0, status: 0 }), {
    id,
    name: 'Big mug',
    price: '25000',
    currency: 'BRL',
    status: 'APPROVED',
  });
});

test('catalog list: the own catalog is complete, and catalogs of others have the products that customers see', async () => {
  const { sandbox } = scene.platform;
  const listed = (await ask('POST /catalog/list', { jid: me() }))['response'] as Json;
  assert.deepEqual(picked(listed, { JID: 0, CartEnabled: 0, Source: 0, Paging: 0 }), {
    JID: { User: account.number, RawAgent: 0, Device: 0, Integrator: 0, Server: 's.whatsapp.net' },
    CartEnabled: true,
    Source: '',
    Paging: { Before: '', After: '' },
  });
  const products = listed['Products'] as readonly Json[];
  assert.deepEqual(
    products.map((one) => [one['Name'], one['Price'], (one['StatusInfo'] as Json)['Status'], one['IsHidden']]),
    [
      ['Voucher', null, 'PENDING', true],
      ['Big mug', { Amount: '25000', Currency: 'BRL' }, 'APPROVED', false],
    ],
  );
  const [image] = products[1]!['Images'] as readonly Json[];
  assert.deepEqual(image?.['OriginalDimensions'], { Height: 720, Width: 720 });
  for (const [name, status, isHidden] of [
    ['Shown', 'APPROVED', false],
    ['Hidden', 'APPROVED', true],
    ['Rejected', 'REJECTED', false],
  ] as const)
    await sandbox.putProduct(contact, { name, status, isHidden });
  const theirs = (await ask('POST /catalog/list', { jid: contact }))['response'] as Json;
  assert.deepEqual(
    (theirs['Products'] as readonly Json[]).map((one) => one['Name']),
    ['Shown'],
  );
});

test('collections: a collection is created, listed with its products, changed and deleted, and its products stay', async () => {
  const [voucher, mug] = own().products.map(({ id }) => id);
  const made = (await ask('POST /catalog/collection/create', { name: 'Kitchen', product_ids: [mug] }))['response'] as Json;
  assert.equal('products' in made, false, 'the platform does not say');
  const id = String(made['id']);
  const there = () => own().collections.find((one) => one.id === id);
  assert.deepEqual(picked(there(), { name: 0, products: 0 }), { name: 'Kitchen', products: [mug] });
  const listed = (await ask('GET /catalog/collection/list'))['response'] as Json;
  const [collection] = listed['collections'] as readonly Json[];
  assert.deepEqual(picked(collection, { id: 0, name: 0, status: 0 }), { id, name: 'Kitchen', status: 'APPROVED' });
  assert.deepEqual(
    (collection!['products'] as readonly Json[]).map((one) => one['id']),
    [mug],
  );
  assert.equal(listed['next'], '');
  const changed = await ask(`PATCH /catalog/collection/${id}`, { name: 'Gifts', add_product_ids: [voucher], remove_product_ids: [mug] });
  assert.deepEqual(changed['response'], { id, name: 'Gifts', status: 'APPROVED' });
  assert.deepEqual(picked(there(), { name: 0, products: 0 }), { name: 'Gifts', products: [voucher] });
  assert.deepEqual(await ask(`DELETE /catalog/collection/${id}`), { response: 'Deleted collection' });
  assert.equal(there(), undefined);
  assert.equal(own().products.length, 2);
  assert.equal((await ask(`DELETE /catalog/collection/${id}`, undefined, 404))['error'], 'collection not found');
});

test('collections: the next page begins after the previous one', async () => {
  const { sandbox } = scene.platform;
  for (let n = 0; n < 70; n += 1) await sandbox.putCollection(account.number, { name: `Shelf ${n}` });
  const names: unknown[] = [];
  for (let after: unknown = ''; ;) {
    const query = after === '' ? '' : `?after=${encodeURIComponent(String(after))}`;
    const page = (await ask(`GET /catalog/collection/list${query}`))['response'] as Json;
    names.push(...(page['collections'] as readonly Json[]).map((one) => one['name']));
    after = page['next'];
    if (after === '') break;
  }
  assert.deepEqual(
    names,
    Array.from({ length: 70 }, (_, n) => `Shelf ${n}`),
  );
});

test('catalog delete: the product is deleted, and removed from collections too', async () => {
  const { sandbox } = scene.platform;
  const { id } = own().products.find(({ name }) => name === 'Voucher')!;
  const collection = await sandbox.putCollection(account.number, { name: 'With voucher', products: [id] });
  assert.deepEqual(await ask('POST /catalog/delete', { id }), { response: 'Deleted product' });
  assert.equal(stored(id), undefined);
  assert.deepEqual(own().collections.find((one) => one.id === collection.id)?.products, []);
  assert.equal((await ask('POST /catalog/delete', { id }, 404))['error'], 'product not found');
});

test('catalog list: a thousand products are read in pages, each of at most a hundred', async () => {
  const { sandbox } = scene.platform;
  const shop = '5511988880009';
  await sandbox.changeBusiness(shop, { description: 'Large' });
  for (let n = 0; n < 1000; n += 1)
    await sandbox.putProduct(shop, {
      name: `Product ${n}`,
      description: 'x'.repeat(500),
      price: String(n),
      currency: 'BRL',
      status: 'APPROVED',
    });
  const names = new Set<unknown>();
  let pages = 0;
  for (let after = ''; ; pages += 1) {
    const { Products, Paging } = (await ask('POST /catalog/list', { jid: shop, after }))['response'] as Record<string, Json>;
    const products = Products as unknown as readonly Json[];
    assert.ok(products.length <= 100, `${products.length} in one page`);
    for (const { Name } of products) names.add(Name);
    after = String(Paging?.['After']);
    if (after === '') break;
  }
  assert.deepEqual([names.size, pages], [1000, 9]);
});

const missing = '10000000000000404';
const refusals: readonly (readonly [call: string, body: Json | undefined, status: number, error: string])[] = [
  ['POST /get/profile', { jid: '5511988880404' }, 404, 'there is no business profile'],
  ['POST /get/profile', { jid: 'nobody@g.us' }, 400, 'jid must be a number or the id of a person'],
  ['POST /get/profile', { jid: [] }, 400, 'invalid payload'],
  ['POST /update/profile', {}, 400, 'one of description, address, email is required'],
  ['POST /update/profile', { email: 'nomail' }, 400, 'email is not valid'],
  ['POST /update/profile', { email: 7 }, 400, 'email must be a text'],
  ['POST /catalog/list', {}, 400, 'invalid payload'],
  ['POST /catalog/info', { jid: contact }, 400, 'invalid payload'],
  ['POST /catalog/info', { jid: contact, id: missing }, 404, 'product not found'],
  ['POST /catalog/hide', { id: missing }, 404, 'product not found'],
  ['POST /catalog/show', { id: missing }, 404, 'product not found'],
  ['DELETE /catalog/collection/404', undefined, 404, 'collection not found'],
  ['PATCH /catalog/collection/404', { name: 'x' }, 404, 'collection not found'],
  ['POST /catalog/hide', {}, 400, 'invalid payload'],
  ['POST /catalog/show', { id: 7 }, 400, 'invalid payload'],
  ['POST /catalog/delete', {}, 400, 'invalid payload'],
  ['POST /catalog/save', { price: '1' }, 400, 'name is required'],
  ['POST /catalog/save', { name: 'x', price: '1.50' }, 400, 'price is not valid'],
  ['POST /catalog/save', { name: 'x', currency: 'real' }, 400, 'currency is not valid'],
  [
    'POST /catalog/save',
    { name: 'x', image_data: png, image_url: 'https://example.com/x.jpg' },
    400,
    'only one of image_data and image_url can be given',
  ],
  ['POST /catalog/save', { name: 'x', image_data: 'http://127.0.0.1/x.jpg' }, 400, 'image_data must be base64 or a data URL'],
  ['POST /catalog/save', { name: 'x', image_url: 'http://example.com/x.jpg' }, 400, 'image_url is not valid'],
  [
    'POST /catalog/save',
    { name: 'x', image_urls: ['https://example.com/x.jpg'] },
    400,
    'image_urls and video_urls must be addresses of the platform’s media hosts',
  ],
  ['POST /catalog/collection/create', { name: 'x' }, 400, 'product_ids is required'],
  ['POST /catalog/collection/create', { name: 'x', product_ids: [] }, 400, 'product_ids must have at least 1 entries'],
  ['POST /catalog/collection/create', { product_ids: [missing] }, 400, 'name is required'],
  ['PATCH /catalog/collection/1', {}, 400, 'one of name, add_product_ids, remove_product_ids is required'],
  ['PATCH /catalog/collection/1', { name: 7 }, 400, 'name must be a text'],
];
for (const [call, body, status, error] of refusals)
  test(`business: ${call} ${JSON.stringify(body ?? null).slice(0, 60)} is refused with ${status}, "${error}"`, async () =>
    assert.equal((await ask(call, body, status))['error'], error));

test('catalog save: an address within the own network is not fetched', async () => {
  const refused = await ask('POST /catalog/save', { name: 'x', image_url: 'https://127.0.0.1:1/x.jpg' }, 400);
  assert.match(String(refused['error']), /address|fetched/);
});

/** Every operation, with its query to the platform. */
const operations: readonly (readonly [call: string, body: Json | undefined, query: string])[] = [
  ['POST /get/profile', {}, 'w:biz/get/business_profile'],
  ['GET /get/categories', undefined, 'fb:thrift_iq/get/request'],
  ['POST /update/profile', { address: 'x' }, 'w:biz/set/business_profile'],
  ['POST /catalog/list', { jid: contact }, 'w:biz:catalog/get/product_catalog'],
  ['POST /catalog/info', { jid: contact, id: missing }, 'w:biz:catalog/get/product_list'],
  ['POST /catalog/save', { name: 'x' }, 'w:biz:catalog/set/product_catalog_add'],
  ['POST /catalog/show', { id: missing }, 'w:biz:catalog/set/product_visibility_update'],
  ['POST /catalog/hide', { id: missing }, 'w:biz:catalog/set/product_visibility_update'],
  ['POST /catalog/delete', { id: missing }, 'w:biz:catalog/set/product_catalog_delete'],
  ['GET /catalog/collection/list', undefined, 'w:biz:catalog/get/collections'],
  ['POST /catalog/collection/create', { name: 'x', product_ids: [missing] }, 'w:biz:catalog/set/collection'],
  [`PATCH /catalog/collection/${missing}`, { name: 'x' }, 'w:biz:catalog/set/collection'],
  [`DELETE /catalog/collection/${missing}`, undefined, 'w:biz:catalog/set/collections'],
];
for (const [call, body, query] of operations)
  test(`business ${call}: a refusal by the platform is passed on with its code`, async () => {
    await scene.platform.sandbox.fault({ kind: 'refuseQuery', number: account.number, query, code: 406 });
    assert.equal((await ask(call, body, 500))['provider_code'], 406);
  });

test('business: an operation that the platform no longer supports gets a 501 with the reason', async () => {
  for (const [call, body, query] of operations.filter(([name]) => name !== 'POST /update/profile')) {
    await scene.platform.sandbox.fault({ kind: 'refuseQuery', number: account.number, query, code: 501 });
    assert.equal((await ask(call, body, 501))['error'], 'the platform does not offer this to linked devices', call);
  }
});

test('business: a wrong token gets a 401, and a session that is not connected gets a 409', async () => {
  const fresh = await scene.create();
  for (const [call, body] of operations) {
    const [method = '', path = ''] = call.split(' ');
    const stranger = await scene.gateway.call(method, `/business${path}`, { token: 'wrong', ...(body && { body }) });
    assert.equal(stranger.status, 401, call);
    assert.equal((await fresh.call(method, `/business${path}`, body)).status, 409, call);
  }
});

test('business: an account without a business can read catalogs, but cannot change its own', async () => {
  const plain = await scene.paired();
  assert.equal((await plain.call('POST', '/business/catalog/list', { jid: contact })).status, 200);
  const refused = await plain.call('POST', '/business/catalog/save', { name: 'x' });
  assert.deepEqual([refused.status, String(refused.body['error']).includes('business accounts')], [501, true]);
  const own: readonly (readonly [call: string, body: Json])[] = [
    ['/catalog/list', { jid: plain.number }],
    ['/catalog/info', { jid: plain.number, id: '1' }],
    ['/update/profile', { description: 'x' }],
  ];
  for (const [path, body] of own) assert.deepEqual([path, (await plain.call('POST', `/business${path}`, body)).status], [path, 501]);
});

test('business: the gateway sends the platform no unknown request', () => assert.deepEqual(scene.platform.sandbox.stats().unknown, {}));
