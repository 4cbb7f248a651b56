/** Starts the API reference in the browser, and lets it make calls with the session of the dashboard. */

/* global Scalar */

/** The languages and libraries whose examples are hidden. The page shows examples for curl, fetch, Python (requests) and PHP (curl). */
const otherLanguages = 'c clojure csharp dart fsharp go http java julia kotlin node objc ocaml powershell r ruby rust swift';
const hiddenClients = {
  ...Object.fromEntries(otherLanguages.split(' ').map((language) => [language, true])),
  shell: ['httpie', 'wget'],
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  python: ['python3', 'aiohttp', 'httpx_sync', 'httpx_async'],
  php: ['guzzle', 'laravel'],
};

/** Options that switch off all requests to other servers, and the storage of tokens. */
const alone = {
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  agent: { disabled: true },
  mcp: { disabled: true },
};

/** The instance in whose name calls are made with the session of the dashboard; '' for none. */
let instance = '';

const credentialNames = ['token', 'admintoken'];

/**
 * Sends a call of the reader. The browser adds the cookie of the dashboard's session, which the gateway uses for a call without a token. The header
 * `x-instance` names the instance, as in the dashboard, so the page needs no token.
 * @param {RequestInfo | URL} input
 * @param {RequestInit} [init]
 */
const call = (input, init) => {
  const request = new Request(input, init);
  if (new URL(request.url).origin !== location.origin) return fetch(request);
  const headers = new Headers(request.headers);
  for (const name of credentialNames) if (headers.get(name) === '') headers.delete(name);
  if (instance !== '' && !headers.has('token')) headers.set('x-instance', instance);
  return fetch(new Request(request, { headers, credentials: 'same-origin' }));
};

/** @param {string} text @param {string} address */
const linkTo = (text, address) => Object.assign(document.createElement('a'), { textContent: text, href: address });

/** @param {readonly { id: string, name: string }[]} instances */
const choiceOf = (instances) => {
  const choice = document.createElement('select');
  choice.setAttribute('aria-label', 'Instance');
  choice.append(new Option('no instance', ''), ...instances.map(({ id, name }) => new Option(`${name || id} (${id})`, id)));
  choice.addEventListener('change', () => (instance = choice.value));
  return choice;
};

/** Shows the bar. A signed-in user may try calls without a token. @param {string} dashboard */
const showBar = async (dashboard) => {
  const bar = Object.assign(document.createElement('div'), { className: 'bar' });
  const home = linkTo('Dashboard', dashboard);
  const { signedIn = false } = await (await fetch('../admin/session')).json();
  if (signedIn) {
    const instances = await (await fetch('../instance/all')).json();
    bar.append(home, '· Calls without a token are made with your session, as', choiceOf(Array.isArray(instances) ? instances : []));
  } else bar.append(home, '· Sign in to the dashboard to try calls without a token.');
  document.body.prepend(bar);
  document.body.classList.add('with-bar');
};

const place = /** @type {HTMLElement} */ (document.getElementById('reference'));
const { document: source = '', dashboard } = place.dataset;
Scalar.createApiReference(place, {
  ...alone,
  url: new URL(source, location.href).href,
  hiddenClients,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  documentDownloadType: 'json',
  customFetch: call,
});
// If the gateway does not answer, the bar is not shown, and calls need a token.
if (dashboard !== undefined) showBar(dashboard).catch(() => undefined);
