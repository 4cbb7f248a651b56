/** The display form of a database's address. */

/** Returns the address of a database without its password and without its query parameters. A user and a host that the parameters name are kept. */
export const shownAddress = (address: string): string => {
  const { protocol, username, host, pathname, searchParams } = new URL(address);
  const user = username || searchParams.get('user') || '';
  return `${protocol}//${user === '' ? '' : `${user}@`}${host || searchParams.get('host') || ''}${pathname}`;
};
