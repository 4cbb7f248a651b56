/** Texts. */

export interface TextContent {
  readonly kind: 'text';
  readonly text: string;
  /** null: none; 'auto': fetched from the first link in the text. */
  readonly preview:
    | null
    | 'auto'
    | {
        readonly title: string;
        readonly description: string;
        /** URL, data URL or base64. */ readonly image: string;
        readonly large: boolean;
      };
}
