/** The table of the last steps of each session. */
import { defineEntity, p } from '@mikro-orm/core';

export const StepLogEntity = defineEntity({
  name: 'StepLog',
  tableName: 'step_log',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    /** An array, the oldest step first. */
    steps: p.json(),
  },
});
