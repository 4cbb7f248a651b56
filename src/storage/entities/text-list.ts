/** A column of texts. */
import { ArrayType } from '@mikro-orm/core';

const quoted = (text: string): string => `"${text.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;

/** Every text is quoted: the library leaves the quotes out where white space, a line break or the word NULL would need them. */
export class TextList extends ArrayType<string> {
  override convertToDatabaseValue(texts: string[] | null): string | null {
    return texts === null ? null : `{${texts.map(quoted).join(',')}}`;
  }
}
