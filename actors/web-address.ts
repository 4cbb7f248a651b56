/** Addresses of web pages that clients give. */

const web: readonly string[] = ['http', 'https'];

/** Whether a text is an address of one of these schemes. Where it leads is not asked. */
export const isWebAddress = (text: string, schemes = web): boolean =>
  schemes.some((scheme) => text.slice(0, scheme.length + 3).toLowerCase() === `${scheme}://`) && URL.canParse(text);
