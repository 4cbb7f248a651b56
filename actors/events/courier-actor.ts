/** A courier as a child of its instance: an actor around the class, because a child for every post would cost more than the post. */
import { fromCallback } from 'xstate';
import type { SupervisedWorkers } from '../supervised-workers.ts';
import { Courier } from './courier.ts';
import type { CourierEvent, CourierInput } from './courier-host.ts';

export interface SupervisedCourierInput extends CourierInput {
  readonly workers: SupervisedWorkers;
}

/**
 * A courier that crashed is replaced after the back-off of its supervision. The new one reads the outbox, which holds every row; events for the old
 * one are not kept.
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
    if (current === null) return; // The next one reads the outbox.
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
