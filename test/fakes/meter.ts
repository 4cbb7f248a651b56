/** A meter that drops all counts. */
import type { Meter } from '#actors/ports.ts';

const nothing = (): void => undefined;

export const quietMeter: Meter = {
  attempted: nothing,
  closed: nothing,
  reconnected: nothing,
  event: nothing,
  posted: nothing,
  modelAsked: nothing,
  campaigned: nothing,
  leases: nothing,
  unstored: nothing,
  forged: nothing,
  crashed: nothing,
  totals: { received: 0, sent: 0, delivered: 0, failed: 0, reconnects: 0 },
};
