/** Web addresses from clients. */

const web: readonly string[] = ['http', 'https'];

/** Returns true if a text is a URL with one of these schemes. Does not check the host. */
export const isWebAddress = (text: string, schemes = web): boolean =>
  schemes.some((scheme) => text.slice(0, scheme.length + 3).toLowerCase() === `${scheme}://`) && URL.canParse(text);
