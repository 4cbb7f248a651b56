/** Finds the parked rows of a lane, which hold the rows behind them. */
import { ConcurrentIndexes } from './concurrent.ts';

export class HeldLanes extends ConcurrentIndexes {
  protected override readonly indexes = [
    'outbox_held on outbox (webhook_id, instance_id, lane, not_before desc, seq) where not_before > 0',
  ];
}
