/** The catalog of an account. A customer views it, asks about a product, and orders. The platform reviews products. */
import { get, post, put } from './api.js';
import { ask, attempt } from './dom.js';

const priceOf = ({ price, salePrice, currency }) => (price === '' ? 'no price' : `${(Number(salePrice || price) / 1000).toFixed(2)} ${currency}`);

const quantity = (product) => ({
  name: product.id,
  label: `${product.name} · ${priceOf(product)}${product.description && ` · ${product.description}`}`,
  type: 'number',
  min: 0,
  max: 99,
  placeholder: '0',
});

/** Returns the messages to send: an order of all products with a quantity, or a question about each of these products. */
const bodiesOf = (owner, { as, text, ...quantities }) => {
  const items = Object.entries(quantities).map(([productId, count]) => ({ productId, quantity: Number(count) })).filter((item) => item.quantity > 0);
  const more = { owner, ...(text && { text }) };
  if (items.length === 0) throw new Error('choose a product: write how many you want');
  return as === 'order' ? [{ type: 'order', items, ...more }] : items.map(({ productId }) => ({ type: 'product', productId, ...more }));
};

/** Shows the catalog of `owner` to a customer. `send` gets the body of each message. */
export const shop = (owner, send) =>
  attempt(async () => {
    const { products } = await get(`/businesses/${owner}?as=customer`);
    if (products.length === 0) throw new Error('customers see no product: products have to be reviewed and shown');
    const values = await ask(
      'Catalog',
      [
        ...products.slice(0, 100).map(quantity),
        { name: 'as', label: 'Send', type: 'select', options: [['order', 'an order'], ['product', 'a question about each product']] },
        { name: 'text', label: 'Message', maxLength: 4096 },
      ],
      'Send',
    );
    if (values) for (const body of bodiesOf(owner, values)) await send(body);
  });

const unreviewed = ({ status }) => status === 'PENDING';

/** Approves products of an account for the platform, and adds a product for the owner. Creates the business if the account has none. */
export const review = (owner) =>
  attempt(async () => {
    const found = await get(`/businesses/${owner}`).catch(() => undefined);
    if (!found) {
      const values = await ask('This account is no business', [{ name: 'description', label: 'What it sells', required: true, maxLength: 512 }], 'Make it one');
      return values && put(`/businesses/${owner}`, values);
    }
    const waiting = found.products.filter(unreviewed);
    const fields = [
      { name: 'approved', label: 'Products that wait for their review', type: 'checkboxes', options: waiting.map(({ id, name }) => [id, name]) },
      { name: 'name', label: 'A new product of the owner', maxLength: 256 },
      { name: 'price', label: 'Its price in thousandths', inputMode: 'numeric' },
      { name: 'currency', label: 'Currency', maxLength: 3, placeholder: 'BRL' },
    ];
    const values = await ask(`Catalog: ${found.products.length} products`, fields, 'Approve and add');
    if (!values) return undefined;
    for (const id of values.approved) await put(`/businesses/${owner}/products/${id}`, { status: 'APPROVED' });
    const { name, price, currency = 'BRL' } = values;
    return name && post(`/businesses/${owner}/products`, { name, status: 'APPROVED', ...(price && { price, currency }) });
  });
