/** The tables of alerts. */
import { defineEntity, p } from '@mikro-orm/core';
import { time } from './instance.ts';

/** One row. */
export const AlertEntity = defineEntity({
  name: 'Alert',
  tableName: 'alert',
  properties: {
    id: p.text().primary(),
    settings: p.json(),
    /** Passwords, tokens and addresses that hold them, sealed. */
    secrets: p.blob(),
    /** JSON, as it was written: a comparison of texts finds out whether it changed. */
    state: p.text().nullable(),
    /** Grows with each change of the state, so that of two nodes one changes it. */
    version: p.integer().default(0),
  },
});

/** There is no foreign key: a gateway without a cluster reports under the empty name. */
export const NodeTroubleEntity = defineEntity({
  name: 'NodeTrouble',
  tableName: 'node_trouble',
  properties: { node: p.text().primary(), at: time(), startedAt: time(), troubles: p.json() },
});
