/** A courier as a child of its instance: an actor around the class, because a child for every post would cost more than the post. */
import { fromCallback } from 'xstate';
import { Courier, type CourierEvent, type CourierInput } from './courier.ts';

/** Said by a courier that met a surprise; it does nothing more, its rows are safe in the outbox. */
export interface CourierCrash {
  readonly type: 'delivery.crashed';
  readonly webhookId: string;
  readonly error: unknown;
}

export const courier = fromCallback<CourierEvent, CourierInput>(({ receive, input, sendBack }) => {
  const work = new Courier(input, (error) =>
    sendBack({ type: 'delivery.crashed', webhookId: input.webhookId, error } satisfies CourierCrash),
  );
  receive((event) => work.tell(event));
  return () => work.stop();
});
