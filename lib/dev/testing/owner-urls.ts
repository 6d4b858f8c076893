/**
 * For each database of this test file, as host, port and name, the URL with which tests connect as
 * the owner of the tables.
 */
const owners = new Map<string, string>();

/** Host, port and database. */
const placeOf = (url: string): string => {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
};

export const rememberOwner = (ownerUrl: string): void => {
  owners.set(placeOf(ownerUrl), ownerUrl);
};

/**
 * The owner's URL for a database of this test file. A URL of another database is returned
 * unchanged.
 */
export const ownerUrlOf = (url: string): string => owners.get(placeOf(url)) ?? url;
