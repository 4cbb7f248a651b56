/** Shapes of entries that the database refused. */
import { Type } from 'typebox';
import { Count, optional, Text } from './common.ts';

export const RefusedQuery = Type.Object({
  instance: optional(Text(64, 'Id of an instance; all when it is left out')),
  limit: optional(Count(1, 1000, 'Entries at most; 100 when it is left out')),
  offset: optional(Count(0, 1_000_000, 'Entries to skip')),
});

export const RefusedParams = Type.Object({
  instance: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the instance' }),
  id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the entry' }),
});

export const RefusedAnswer = Type.Object({
  entries: Type.Array(
    Type.Object({
      instanceId: Type.String(),
      id: Type.String(),
      kind: Type.String({ description: 'What the session reported, such as `message` or `status`' }),
      error: Type.String({ description: 'SQLSTATE of the database, or the name of the error' }),
      tries: Type.Integer(),
      at: Type.Number({ description: 'When it was refused first, in Unix milliseconds' }),
    }),
  ),
  more: Type.Boolean({ description: 'There are entries behind these' }),
});

export const RefusedDone = Type.Object({ message: Type.String() });
