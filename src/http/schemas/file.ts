/** Shapes of files. */
import { Type } from 'typebox';

export const FileParams = Type.Object({
  name: Type.String({ maxLength: 100, description: 'The last part of the `fileURL` of a message' }),
});

export const FileBytes = Type.String({ description: 'The bytes of the file', format: 'binary' });
