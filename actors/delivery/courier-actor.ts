/** Runs a courier as a child actor of its instance. The courier is a plain class, because one actor per post would cost more than the post. */
import { fromCallback } from 'xstate';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import { Courier } from './courier.ts';
import type { CourierEvent, CourierInput } from './courier-host.ts';

export interface SupervisedCourierInput extends CourierInput {
  readonly workers: SupervisedWorkers;
}

/**
 * Replaces a crashed courier after the back-off of its supervision. The new courier reads the outbox, which holds every row. Events for the old
 * courier are dropped.
 */
export const courier = fromCallback<CourierEvent, SupervisedCourierInput>(({ receive, input }) => {
  let current: Courier | null = null;
  let crashed = false;
  const replace = (): void => {
    current = new Courier(input, (error) => {
      current = null;
      crashed = true;
      worker.crashed(error);
    });
    if (crashed) current.handle({ type: 'delivery.added', rows: [] });
  };
  const worker = input.workers.supervise({ name: 'courier', fields: { webhook: input.webhookId }, run: replace });
  worker.wake();
  const renew = (): void => {
    if (current === null) return; // The next courier reads the outbox.
    current.stop();
    replace();
    current.handle({ type: 'delivery.added', rows: [] });
  };
  receive((event) => {
    if (event.type === 'delivery.asked') event.answer(current?.view ?? null);
    else if (event.type === 'delivery.replaced') renew();
    else current?.handle(event);
  });
  return () => {
    input.workers.dismiss(worker);
    current?.stop();
  };
});
