/** Shows a sentence of the documentation. Names in the sentence are between backticks. */
import { html } from 'htm/preact';

/** Draws a sentence without its asterisks, and its names as code. The sentences are English in every language of the page. @param {{ text: string }} props */
export const Prose = ({ text }) =>
  html`<span lang="en"
    >${text.split('`').map((part, at) => (at % 2 === 1 ? html`<code key=${at}>${part}</code>` : part.replaceAll(/\*([^*\n]+)\*/g, '$1')))}</span
  >`;
