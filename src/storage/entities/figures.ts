/** The table of figures by the minute. */
import { defineEntity, p } from '@mikro-orm/core';

/** There is no foreign key, because the figures outlive the row of their node. */
export const FigureEntity = defineEntity({
  name: 'NodeFigure',
  tableName: 'node_figure',
  properties: {
    /** Unix milliseconds divided by 60,000. */
    minute: p.integer().primary(),
    /** The name of the node; '' for a gateway without a cluster. */
    node: p.text().primary(),
    spanMs: p.integer(),
    received: p.integer(),
    sent: p.integer(),
    delivered: p.integer(),
    failed: p.integer(),
    reconnects: p.integer(),
    memoryBytes: p.bigint('number'),
    loopMs: p.integer(),
  },
});
