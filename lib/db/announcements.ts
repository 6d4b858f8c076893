/** Tells instances what a transaction changed, after its commit and outside of it. */

export interface Announcement {
  /** A channel of PostgreSQL's NOTIFY. */
  readonly channel: string;
  readonly payload: string;
  /** Only the process that announces it is told. */
  readonly isLocal?: boolean;
}

/** The announcements of each open transaction. */
const open = new WeakMap<object, Announcement[]>();

/**
 * Announces something when the transaction commits; nothing when it is rolled back. NOTIFY itself would take one lock of the whole
 * cluster until the commit is on disk. An announcement is lost when the process dies first, so a process that waits for one must also poll.
 *
 * @param transaction the object that `Database.transaction` or `Database.rawTransaction` handed out, or what `sqlOf` made of it; for any other nothing is announced
 */
export const announce = (transaction: object, announcement: Announcement): void => {
  open.get(transaction)?.push(announcement);
};

/** Has the announcements on `connection` made with those of `transaction`. */
export const announceLikewise = (connection: object, transaction: object): void => {
  const announced = open.get(transaction);
  if (announced !== undefined) open.set(connection, announced);
};

/** Collects what is announced on `transaction` into `into`. */
export const collectAnnouncements = (transaction: object, into: Announcement[]): void => {
  open.set(transaction, into);
};
