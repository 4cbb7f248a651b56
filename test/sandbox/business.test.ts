/** Tests businesses and communities of the simulated platform with the real client library. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import { eventually, openSandbox, pair, type Client, type TestSandbox } from './client.ts';

const ana = '5511999990003';
const bia = '5511988880004';
const jid = (number: string): string => `${number}@s.whatsapp.net`;

let opened: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;

before(async () => {
  ({ sandbox: opened, cleanUp } = await openSandbox());
  client = await pair(opened, { number: ana, name: 'Ana' });
});
after(() => cleanUp());

const own = () => opened.sandbox.business(ana);
const product = { name: 'Mug', description: 'Holds tea', price: 19_900, currency: 'BRL', originCountryCode: undefined };
const picture = (format: 'jpeg' | 'png'): Promise<Buffer> =>
  sharp({ create: { width: 20, height: 20, channels: 3, background: 'teal' } })
    .toFormat(format)
    .toBuffer();

test('business: an account without a business has no profile, and may not change a catalog', async () => {
  assert.equal(await client.sock.getBusinessProfile(jid(ana)), undefined);
  await assert.rejects(client.sock.productCreate({ ...product, images: [] }), /forbidden/);
});

test('business: its profile reaches the library, and the library changes it', async () => {
  await opened.sandbox.changeBusiness(ana, { description: 'Mugs', categories: [{ id: '2223', name: 'Grocery Store' }] });
  const profile = await client.sock.getBusinessProfile(jid(ana));
  assert.deepEqual([profile && profile.description, profile && profile.category], ['Mugs', 'Grocery Store']);
  await client.sock.updateBussinesProfile({ address: 'Rua das Flores, 123', websites: ['https://example.com'] });
  assert.deepEqual(
    [own().profile.address, own().profile.websites, own().profile.description],
    ['Rua das Flores, 123', ['https://example.com'], 'Mugs'],
  );
});

test('catalog: a picture of a product has to be a JPEG', async () => {
  await assert.rejects(client.sock.productCreate({ ...product, images: [await picture('png')] }));
  assert.deepEqual(own().products, []);
  const made = await client.sock.productCreate({ ...product, images: [await picture('jpeg')] });
  const [there] = own().products;
  assert.deepEqual([there?.id, there?.name, there?.price, there?.status], [made.id, 'Mug', '19900', 'PENDING']);
  assert.equal(there?.images.length, 1);
});

test('catalog: it is read in pages, collections with their products, and a product is changed and deleted', async () => {
  for (let n = 0; n < 3; n += 1) await opened.sandbox.putProduct(ana, { name: `Cup ${n}`, status: 'APPROVED' });
  const first = await client.sock.getCatalog({ jid: jid(ana), limit: 2 });
  const second = await client.sock.getCatalog({ jid: jid(ana), limit: 2, cursor: String(first.nextPageCursor) });
  assert.deepEqual(
    [...first.products, ...second.products].map(({ name }) => name),
    ['Cup 2', 'Cup 1', 'Cup 0', 'Mug'],
  );
  assert.equal(second.nextPageCursor, undefined);
  const id = own().products.at(-1)!.id;
  await opened.sandbox.putCollection(ana, { name: 'Kitchen', products: [id] });
  const { collections } = await client.sock.getCollections(jid(ana));
  assert.deepEqual(
    collections.map(({ name, products }) => [name, products.map((one) => one.id)]),
    [['Kitchen', [id]]],
  );
  await client.sock.productUpdate(id, { ...product, name: 'Big mug', images: [] });
  assert.equal(own().products.at(-1)?.name, 'Big mug');
  assert.deepEqual(await client.sock.productDelete([id, 'none']), { deleted: 1 });
  assert.deepEqual(own().collections[0]?.products, []);
});

test('orders: the details go to callers with the token of the message', async () => {
  const { id } = await opened.sandbox.putProduct(ana, { name: 'Bowl', price: '5000', currency: 'BRL', status: 'APPROVED' });
  const { id: messageId } = await opened.sandbox.send(bia, ana, { kind: 'order', owner: ana, items: [{ productId: id, quantity: 2 }] });
  const order = (await client.wait(
    'messages.upsert',
    ({ messages }) => messages.find(({ key }) => key.id === messageId)?.message?.orderMessage,
  ))!;
  const details = await client.sock.getOrderDetails(String(order.orderId), String(order.token));
  assert.deepEqual(details.price, { total: 10_000, currency: 'BRL' });
  assert.deepEqual(
    details.products.map(({ name, quantity, price }) => [name, quantity, price]),
    [['Bowl', 2, 5000]],
  );
  await assert.rejects(client.sock.getOrderDetails(String(order.orderId), 'wrong'), /item-not-found/);
});

test('business: its data survive a restart of the platform', async () => {
  const before = own();
  await opened.restart();
  assert.deepEqual(own(), { ...before, products: before.products, collections: before.collections });
});

test('community: the library creates one, links a group and unlinks it', async () => {
  const { sandbox } = opened;
  const fresh = await pair(opened, { number: '5511999990005', name: 'Carl' });
  await fresh.sock.communityCreate('Neighbours', 'All of us');
  const community = await eventually(() => sandbox.groups().find(({ isCommunity }) => isCommunity), 'the community');
  assert.deepEqual([community.description, community.approval], ['All of us', true]);
  const { id: group } = await fresh.sock.groupCreate('Friends', [jid(bia)]);
  const parent = () => sandbox.groups().find((one) => one.jid === group)?.parent;
  await fresh.sock.communityLinkGroup(group, community.jid);
  assert.equal(parent(), community.jid);
  const { linkedGroups } = await fresh.sock.communityFetchLinkedGroups(community.jid);
  assert.deepEqual(linkedGroups.map(({ subject }: { readonly subject: string }) => subject).toSorted(), [
    'Friends',
    'General',
    'Neighbours',
  ]);
  await fresh.sock.communityUnlinkGroup(group, community.jid);
  assert.equal(parent(), undefined);
});

test('business: the library sent no request that the platform does not know', () => assert.deepEqual(opened.sandbox.stats().unknown, {}));
