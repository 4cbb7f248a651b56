/** English. Names say where a text stands; `{…}` are values. */
export const en = {
  product: 'Dormouse',
  titleOf: '{view} · Dormouse',

  // Time
  ageSeconds: '{n} s',
  ageMinutes: '{n} min',
  ageHours: '{n} h',
  ageDays: '{n} d',

  // States, as the API spells them
  state_connected: 'connected',
  state_connecting: 'connecting',
  state_hibernated: 'hibernated',
  state_disconnected: 'disconnected',
  state_person: 'need a person',

  // Shell
  skip: 'Skip to the content',
  sessions: 'Sessions',
  api: 'API',
  theme: 'Colour scheme: {now}',
  theme_system: 'as the system',
  theme_light: 'light',
  theme_dark: 'dark',
  signOut: 'Sign out',
  notFound: 'There is nothing at this address.',
  backToList: 'Back to the sessions',

  // Parts
  loading: 'Loading …',
  retry: 'Try again',
  failed: 'This could not be loaded.',
  cancel: 'Cancel',
  close: 'Close',
  dismiss: 'Dismiss',

  // Sign-in
  signInTitle: 'Sign in',
  signInLead: 'With the admin token of this server. It was printed at the first start, or is the value of ADMIN_TOKEN.',
  signInToken: 'Admin token',
  signInSubmit: 'Sign in',
  signInWrong: 'This is not the admin token of this server.',
  signInTooMany: 'Too many wrong tokens came from this address. Try again in {n} s.',
  signInExpired: 'The session has ended. Sign in again.',
  signInDemo: 'This is a public demo. Its dashboard is switched off.',

  // A session
  tab_state: 'State',
  tab_webhooks: 'Webhooks',
  tab_console: 'Console',
  tab_settings: 'Settings',
};
