/** A list that clients write as one text: its entries without spaces around them, without empty ones. */
export const commaList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
