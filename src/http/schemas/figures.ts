/** Shapes of the figures of the last day. */
import { Type } from 'typebox';
import { Count, optional } from './common.ts';

export const FiguresQuery = Type.Object({ hours: optional(Count(1, 24, 'The hours up to now, by default 24')) });

const values = (description: string) =>
  Type.Array(Type.Unsafe<number | null>({ type: ['number', 'null'] }), { description: `${description}; null for a step without figures` });

export const FiguresAnswer = Type.Object({
  from: Type.Number({ description: 'The beginning of the first step, in Unix milliseconds' }),
  step: Type.Integer({ description: 'The length of a step in minutes: 1 for up to 6 hours, else 5' }),
  steps: Type.Integer({ description: 'The length of every list below. The last step is under way' }),
  nodes: Type.Array(
    Type.Object({
      name: Type.String({ description: 'The name of the node; empty for a gateway without a cluster' }),
      seconds: values('The time that the counters of the step cover'),
      received: values('Messages from others'),
      sent: values('Messages of the accounts, from the API and from phones'),
      delivered: values('Posts to receivers that were answered with a 2xx'),
      failed: values('Posts to receivers that were not'),
      reconnects: values('Lost sessions that came back'),
      memoryBytes: values('The highest memory of the process (resident set size)'),
      loopMs: values('The highest 99th percentile of the delay of the event loop, in milliseconds'),
    }),
  ),
});
