/** Commands on catalogs that take more than one request: products with their pictures. */
import type { Gateway } from '../views.ts';
import { done } from '../model.ts';
import type { Supervisor } from '../supervisor.ts';
import { perform } from './perform.ts';

export function businessCommands(supervisor: Supervisor): Pick<Gateway, 'saveProduct'> {
  const { portraits } = supervisor.ports;
  return {
    async saveProduct(id, { id: productId, product, picture }) {
      const taken = picture === null ? done(null) : await portraits.take(picture, 'product');
      return taken.ok ? perform(supervisor, id, 'catalog.save', { id: productId, product, jpeg: taken.value }) : taken;
    },
  };
}
