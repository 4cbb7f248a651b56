/** Tests routes for businesses and communities: the call to the simulated world, and refusals. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { serve } from './serve.ts';

const { sandbox, call } = await serve({ after });
const shop = '5511900000001';
const group = '120363000000000007@g.us';
const business = `/businesses/${shop}`;
const item = { productId: '1', quantity: 2 };

/** Title, method, path, body, and the expected call to the world (undefined: none). */
const routes: readonly (readonly [string, string, string, unknown, readonly unknown[] | undefined])[] = [
  ['a business is looked at', 'GET', business, undefined, undefined],
  ['a catalog is looked at by a customer', 'GET', `${business}?as=customer`, undefined, undefined],
  ['a profile changes', 'PUT', business, { description: 'Mugs' }, ['changeBusiness', shop, { description: 'Mugs' }]],
  ['a product is added', 'POST', `${business}/products`, { name: 'Mug', price: '1' }, ['putProduct', shop, { name: 'Mug', price: '1' }]],
  ['a product is reviewed', 'PUT', `${business}/products/1`, { status: 'APPROVED' }, ['putProduct', shop, { id: '1', status: 'APPROVED' }]],
  ['a product is deleted', 'DELETE', `${business}/products/1`, undefined, ['dropProduct', shop, '1']],
  [
    'a collection is made',
    'POST',
    `${business}/collections`,
    { name: 'K', products: ['1'] },
    ['putCollection', shop, { name: 'K', products: ['1'] }],
  ],
  [
    'an order is sent',
    'POST',
    '/contacts/5511988880001/messages',
    { type: 'order', to: shop, owner: shop, items: [item] },
    ['send', '5511988880001', shop, { kind: 'order', owner: shop, items: [item] }, {}],
  ],
  [
    'a question about a product is sent',
    'POST',
    '/contacts/5511988880001/messages',
    { type: 'product', to: shop, owner: shop, productId: '1', text: 'Blue?' },
    ['send', '5511988880001', shop, { kind: 'product', owner: shop, productId: '1', text: 'Blue?' }, {}],
  ],
  [
    'groups are put into a community',
    'POST',
    '/communities/120363000000000001@g.us',
    { by: shop, action: 'link', groups: [group] },
    ['editCommunity', '120363000000000001@g.us', shop, { action: 'link', groups: [group] }],
  ],
];
for (const [title, method, path, body, expected] of routes)
  test(`routes: ${title}`, async () => {
    const before = sandbox.calls.length;
    const { status } = await call(method, path, body);
    assert.equal(status, 200);
    assert.deepEqual(sandbox.calls.slice(before), expected === undefined ? [] : [expected]);
  });

test('routes: a community is created', async () => {
  assert.equal((await call('POST', '/communities', { subject: 'N', creator: shop })).status, 200);
  assert.ok(sandbox.calls.some(([name, input]) => name === 'createCommunity' && (input as { readonly subject: string }).subject === 'N'));
});

const wrong: readonly (readonly [string, string, unknown, string])[] = [
  ['POST', `${business}/products`, { price: '1.5' }, 'price must be a price in thousandths of the currency’s unit; empty for none'],
  ['PUT', `${business}/products/1`, { status: 'SOLD' }, 'status must be one of PENDING,APPROVED,REJECTED'],
  [
    'POST',
    '/communities/nonsense',
    { by: shop, action: 'link', groups: [group] },
    'jid must be the jid of a group, such as 120363000000000001@g.us',
  ],
  [
    'POST',
    '/contacts/5511988880001/messages',
    { type: 'order', to: shop, owner: shop, items: [] },
    'items must be a list of 1 to 100 products',
  ],
];
for (const [method, path, body, error] of wrong)
  test(`routes: ${method} ${path} is refused, "${error}"`, async () => {
    const answer = await call(method, path, body);
    assert.deepEqual([answer.status, (answer.body as { readonly error: string }).error], [400, error]);
  });
